//! The tree of a command line: what the reader makes of it, and the walk visits.

use std::cell::OnceCell;
use std::rc::Rc;

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

/// The commands of a pipe.
pub(crate) type Pipeline = Vec<Node>;

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
    Assignment(Assignment),
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

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text {
    /// The word without its quotes, where it has no expansion.
    pub(crate) value: String,
    pub(crate) source: String,
    /// Whether the shell makes other words of it: a pattern over file names, or `~` in front.
    pub(crate) open: bool,
    /// Whether it has an expansion, or braces that may be one.
    pub(crate) expands: bool,
    /// Whether any part was quoted or escaped: such a word is never a keyword.
    pub(crate) quoted: bool,
    /// For `NAME=value` with an unquoted name.
    pub(crate) assigns: Option<Split>,
    pub(crate) pieces: Vec<Piece>,
    /// The words of `NAME=(…)`.
    pub(crate) items: Option<Vec<Text>>,
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
        !self.quoted && !self.open && !self.expands && self.value == keyword
    }

    /// Whether the value of an assignment begins at its end.
    pub(super) fn ends_before_a_value(&self) -> bool {
        matches!(&self.assigns, Some(split) if split.value == self.value.len())
    }

    /// The value of the word, where that is certain.
    pub(crate) fn known(&self) -> Option<&str> {
        if self.open || self.expands { None } else { Some(&self.value) }
    }

    /// The word as rows hold it.
    pub(super) fn word(&self) -> Word {
        match self.known() {
            Some(value) => Word { text: self.source.clone(), ..Word::known(value) },
            None => Word::unknown(&self.source, false),
        }
    }

    /// Appends text that the shell leaves as it is.
    pub(super) fn push(&mut self, text: &str, quoted: bool) {
        self.value.push_str(text);
        let from = self.assigns.map_or(0, |split| split.pieces);
        match self.pieces.get_mut(from..).and_then(<[Piece]>::last_mut) {
            Some(Piece { kind: Kind::Literal(last), quoted: own }) if *own == quoted => last.push_str(text),
            _ => self.pieces.push(Piece { kind: Kind::Literal(text.to_owned()), quoted }),
        }
    }

    /// Appends what the shell replaces.
    pub(super) fn expand(&mut self, kind: Kind, quoted: bool) {
        self.expands = true;
        self.pieces.push(Piece { kind, quoted });
    }

    /// The assignment that the word is.
    pub(super) fn assignment(&self) -> Option<Assignment> {
        let split = self.assigns?;
        let left = self.source.get(..split.source)?.strip_suffix('=')?;
        let appends = left.ends_with('+');
        let left = left.strip_suffix('+').unwrap_or(left);
        let (name, index) = match left.split_once('[') {
            Some((name, index)) => (name, Some(index.strip_suffix(']').unwrap_or(index).to_owned())),
            None => (left, None),
        };
        let value = Text {
            value: self.value.get(split.value..).unwrap_or_default().to_owned(),
            source: self.source.get(split.source..).unwrap_or_default().to_owned(),
            pieces: self.pieces.get(split.pieces..).unwrap_or_default().to_vec(),
            assigns: None,
            ..self.clone()
        };
        Some(Assignment { name: name.to_owned(), index, appends, value })
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
