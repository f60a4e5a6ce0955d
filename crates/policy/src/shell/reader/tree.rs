//! The tree of a command line: what the reader makes of it, and the walk visits.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::argv::Word;

/// Commands, each with whether it runs in the background.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct List(pub(in crate::shell) Vec<(AndOr, bool)>);

/// `a && b || c`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AndOr {
    pub(crate) first: Pipeline,
    /// The later ones, each with whether it follows `||`.
    pub(crate) rest: Vec<(bool, Pipeline)>,
}

/// The commands of a pipe; mostly one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pipeline {
    pub(crate) first: Node,
    pub(crate) rest: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Simple(Vec<Part>),
    Compound(Compound, Vec<Redirect>),
    Function {
        name: String,
        body: Box<Node>,
    },
    /// `[[ … ]]`: its words, operators among them.
    Test(Vec<Part>, Vec<Redirect>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Assignment(Box<Assignment>),
    Word(Text),
    Redirect(Redirect),
    /// `{NAME}` before a redirection, which is set to the number of the descriptor.
    Descriptor(String),
    Process(Process),
}

/// `<(…)`, or `>(…)`, which reads what is written to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) list: List,
    pub(crate) reads: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Compound {
    Group(List),
    Subshell(List),
    If {
        /// The conditions, each with what runs where it holds.
        arms: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    For {
        name: String,
        values: Vec<Text>,
        body: List,
    },
    /// `for ((…;…;…))`.
    Count(String, List),
    /// `while` and `until`.
    Loop(List, List),
    Case {
        word: Text,
        /// The patterns of each branch, and its commands.
        arms: Vec<(Vec<Text>, List)>,
    },
    /// `((…))`.
    Arithmetic(String),
    Coprocess(Box<Node>),
}

/// `NAME=value`, `NAME[index]=value`, `NAME+=value`, `NAME=(value …)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) index: Option<String>,
    pub(crate) appends: bool,
    pub(crate) value: Text,
}

/// A redirection. `input`: of the standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirect {
    pub(crate) input: bool,
    pub(crate) target: Target,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// Another descriptor.
    Descriptor,
    Read(Text),
    Write(Text),
    /// `<>`.
    ReadWrite(Text),
    /// `<&word` and `>&word`, where the word is not a number.
    CopyInput(Text),
    CopyOutput(Text),
    /// A here-document; its text is read at the end of the line.
    Document(Rc<OnceCell<Document>>),
    /// `<<<`.
    Text(Text),
    Process(Process),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) text: String,
    /// Whether the shell expands it: its mark is not quoted.
    pub(crate) expands: bool,
}

/// A word that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text {
    /// The word without its quotes, where it has no expansion.
    pub(crate) value: Arc<str>,
    pub(crate) source: Arc<str>,
    /// Whether the shell makes other words of it: a pattern over file names, or `~` in front.
    pub(crate) open: bool,
    /// Whether it has an expansion, or braces that may be one.
    pub(crate) expands: bool,
    /// Whether any part was quoted or escaped: such a word is never a keyword.
    pub(crate) quoted: bool,
    /// What few words have.
    more: Option<Box<More>>,
}

/// What few words have: an assignment, an expansion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct More {
    assigns: Option<Split>,
    pieces: Vec<Piece>,
    items: Option<Vec<Text>>,
}

/// A word that is being read.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) value: String,
    pub(super) open: bool,
    pub(super) expands: bool,
    pub(super) quoted: bool,
    /// For `NAME=value` with an unquoted name.
    pub(super) assigns: Option<Split>,
    pub(super) pieces: Vec<Piece>,
    /// Where the text at the end of the value begins that is in no piece yet, and whether it is
    /// quoted.
    pub(super) run: Option<(usize, bool)>,
    /// The words of `NAME=(…)`.
    pub(super) items: Option<Vec<Text>>,
}

/// Where the value of an assignment begins: in the value of the word, in its source and in its
/// pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    pub(super) value: usize,
    pub(super) source: usize,
    pub(super) pieces: usize,
}

impl Text {
    pub(super) fn is(&self, keyword: &str) -> bool {
        !self.quoted && !self.open && !self.expands && *self.value == *keyword
    }

    /// What it is made of, where its value is not certain.
    pub(crate) fn pieces(&self) -> &[Piece] {
        if let Some(more) = &self.more { &more.pieces } else { &[] }
    }

    /// The words of `NAME=(…)`.
    pub(crate) fn items(&self) -> Option<&[Self]> {
        self.more.as_ref()?.items.as_deref()
    }

    /// The value of the word, where that is certain.
    pub(crate) fn known(&self) -> Option<&str> {
        if self.open || self.expands { None } else { Some(&self.value) }
    }

    /// The word as rows hold it.
    pub(in crate::shell) fn word(&self) -> Word {
        match self.known() {
            Some(_) => Word::written(Arc::clone(&self.value), Arc::clone(&self.source)),
            None => Word::unknown(Arc::clone(&self.source), false),
        }
    }

    /// The assignment that the word is.
    pub(super) fn assignment(&self) -> Option<Assignment> {
        let more = self.more.as_ref()?;
        let split = more.assigns?;
        let left = self.source.get(..split.source)?.strip_suffix('=')?;
        let appends = left.ends_with('+');
        let left = left.strip_suffix('+').unwrap_or(left);
        let (name, index) = match left.split_once('[') {
            Some((name, index)) => (name, Some(index.strip_suffix(']').unwrap_or(index).to_owned())),
            None => (left, None),
        };
        let pieces = more.pieces.get(split.pieces..).unwrap_or_default().to_vec();
        let value = Text {
            value: self.value.get(split.value..).unwrap_or_default().into(),
            source: self.source.get(split.source..).unwrap_or_default().into(),
            more: Some(Box::new(More { pieces, items: more.items.clone(), assigns: None })),
            ..*self
        };
        Some(Assignment { name: name.to_owned(), index, appends, value })
    }
}

impl Draft {
    /// Appends text that the shell leaves as it is.
    pub(super) fn push(&mut self, text: &str, quoted: bool) {
        if !matches!(self.run, Some((_, own)) if own == quoted) {
            self.cut();
            self.run = Some((self.value.len(), quoted));
        }
        self.value.push_str(text);
    }

    /// Makes a piece of the text at the end.
    fn cut(&mut self) {
        if let Some((from, quoted)) = self.run.take() {
            let text = self.value.get(from..).unwrap_or_default().to_owned();
            self.pieces.push(Piece { kind: Kind::Literal(text), quoted });
        }
    }

    /// Appends what the shell replaces.
    pub(super) fn expand(&mut self, kind: Kind, quoted: bool) {
        self.expands = true;
        self.cut();
        self.pieces.push(Piece { kind, quoted });
    }

    /// Appends `~`, which the shell replaces by a home folder, with the name behind it.
    pub(super) fn tilde(&mut self, user: &str) {
        self.cut();
        self.pieces.push(Piece { kind: Kind::Tilde(user.is_empty()), quoted: false });
        self.value.push('~');
        self.value.push_str(user);
    }

    /// Notes that the value of an assignment begins here, and where that is in its source.
    pub(super) fn assigned(&mut self, source: usize) {
        self.cut();
        self.assigns = Some(Split { value: self.value.len(), source, pieces: self.pieces.len() });
    }

    /// Whether the value of an assignment begins at its end.
    pub(super) fn ends_before_a_value(&self) -> bool {
        matches!(&self.assigns, Some(split) if split.value == self.value.len())
    }

    /// The word, as it is written.
    pub(super) fn finish(&mut self, source: &str) -> Text {
        let is_known = !self.open && !self.expands;
        if !is_known {
            self.cut();
        }
        let source = Arc::from(source);
        let value = match self.value.as_str() {
            // All empty ones are one.
            "" => Arc::default(),
            value if *source == *value => Arc::clone(&source),
            value => Arc::from(value),
        };
        let (assigns, items) = (self.assigns, self.items.take());
        let more = if is_known && assigns.is_none() && items.is_none() {
            None
        } else {
            Some(Box::new(More { assigns, items, pieces: std::mem::take(&mut self.pieces) }))
        };
        Text { value, source, open: self.open, expands: self.expands, quoted: self.quoted, more }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    /// Whether it is in quotes: it is not split, and no pattern.
    pub(crate) quoted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Literal(String),
    /// `~`, and whether it is the home folder of this user.
    Tilde(bool),
    Parameter(Box<Parameter>),
    /// `$(…)`, as written and as read.
    Substitution(String, List),
    Arithmetic(String),
    /// What is known only when it runs: its kind, as a stable word, and the text.
    Unsure(&'static str, String),
    /// What cannot be read.
    Unread(String),
}

/// `$name`, `${name…}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) index: Option<String>,
    /// `${!name}`.
    pub(crate) indirect: bool,
    pub(crate) operator: Operator,
    /// What is behind the operator.
    pub(crate) rest: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Operator {
    #[default]
    Plain,
    Length,
    /// `-`
    Default,
    /// `=`
    Assign,
    /// `+` and `?`
    Alternative,
    /// `${name:offset:length}`
    Substring,
    /// Prefixes, suffixes, replacements, letters in capitals.
    Pattern,
    /// `@`
    Transform,
    /// `${!prefix*}` and `${!name[@]}`.
    Names,
}
