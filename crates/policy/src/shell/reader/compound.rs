//! Groups, branches and loops; functions, `case`, `[[ … ]]` and arithmetic, which the strict
//! grammar does not have.

use super::lexer::Token;
use super::tree::{Compound, List, Node, Part, Text};
use super::{MAX_DEPTH, Reader, Refused, is_name};

/// What is said of a keyword outside the strict grammar.
const KEYWORD: Refused = "a misplaced or unsupported keyword";

impl Reader<'_> {
    pub(super) fn command(&mut self) -> Result<Node, Refused> {
        if self.takes("(")? {
            if self.lexer.rest().starts_with('(')
                && let Some(text) = self.lexer.arithmetic(1).map(str::to_owned)
            {
                return self.nested(|_| Ok(Compound::Arithmetic(text)));
            }
            return self.nested(|reader| Ok(Compound::Subshell(reader.body(&[])?.0)));
        }
        let keywords = ["{", "if", "for", "while", "until", "case", "select", "function", "[[", "coproc"];
        match self.takes_keyword(&keywords)? {
            None => self.simple(),
            Some("{") => self.nested(|reader| Ok(Compound::Group(reader.body(&["}"])?.0))),
            Some("if") => self.nested(Self::branches),
            Some("for") => self.nested(Self::for_each),
            Some("while" | "until") => self.nested(|reader| {
                let (condition, _) = reader.body(&["do"])?;
                Ok(Compound::Loop(condition, reader.body(&["done"])?.0))
            }),
            Some(other) => {
                self.lexer.refuse(KEYWORD);
                match other {
                    "case" => self.nested(Self::cases),
                    "select" => self.nested(Self::for_each),
                    "coproc" => self.coprocess(),
                    "[[" => self.test(),
                    _ => {
                        let Token::Word(name) = self.next()? else { return Err("a function without a name") };
                        self.function(name.source.to_string())
                    }
                }
            }
        }
    }

    /// A compound command one level deeper, with the redirections behind it.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Result<Compound, Refused>) -> Result<Node, Refused> {
        self.lexer.deeper()?;
        if self.lexer.depth > MAX_DEPTH {
            self.lexer.refuse("groups, branches or loops more than 16 deep");
        }
        let compound = read(self)?;
        self.lexer.depth -= 1;
        let redirects = self.redirects()?;
        Ok(Node::Compound(compound, redirects))
    }

    /// The redirections behind a compound command.
    fn redirects(&mut self) -> Result<Vec<super::Redirect>, Refused> {
        let mut redirects = Vec::new();
        loop {
            match self.peek()? {
                Token::Redirect { .. } => {
                    if let Token::Redirect { redirect, .. } = self.next()? {
                        redirects.push(self.checked(redirect));
                    }
                }
                Token::Word(_) | Token::Process(_) | Token::Descriptor(_) => {
                    return Err("words after a group, a branch or a loop");
                }
                Token::Op(_) | Token::End => return Ok(redirects),
            }
        }
    }

    fn branches(&mut self) -> Result<Compound, Refused> {
        let mut arms = Vec::new();
        loop {
            let (condition, _) = self.body(&["then"])?;
            let (then, end) = self.body(&["elif", "else", "fi"])?;
            arms.push((condition, then));
            match end {
                "elif" => {}
                "else" => {
                    let (otherwise, _) = self.body(&["fi"])?;
                    return Ok(Compound::If { arms, otherwise: Some(otherwise) });
                }
                _ => return Ok(Compound::If { arms, otherwise: None }),
            }
        }
    }

    fn for_each(&mut self) -> Result<Compound, Refused> {
        // After a keyword no token was read ahead.
        self.lexer.blanks();
        if self.lexer.rest().starts_with("((") {
            self.lexer.refuse("`((`");
            let text = self.lexer.arithmetic(2).map(str::to_owned).ok_or("`((`")?;
            while self.takes(";")? || self.takes("\n")? {}
            return Ok(Compound::Count(text, self.loop_body()?));
        }
        let name = match self.next()? {
            Token::Word(name) if !name.quoted && is_name(&name.value) => name.value.to_string(),
            _ => return Err("a loop variable that is not a name"),
        };
        let mut values = Vec::new();
        if self.starts_with_in()? {
            loop {
                match self.next()? {
                    Token::Word(word) => values.push(word),
                    Token::Op(";" | "\n") => break,
                    _ => return Err("a list of words that does not end with `;`"),
                }
            }
            self.lines()?;
        } else {
            self.lexer.refuse("a branch, a loop or a group without its next keyword");
            while self.takes(";")? || self.takes("\n")? {}
        }
        Ok(Compound::For { name, values, body: self.loop_body()? })
    }

    fn starts_with_in(&mut self) -> Result<bool, Refused> {
        if self.takes_keyword(&["in"])?.is_some() {
            return Ok(true);
        }
        if matches!(self.peek()?, Token::Op("\n")) {
            self.lexer.refuse("a branch, a loop or a group without its next keyword");
            self.lines()?;
        }
        Ok(self.takes_keyword(&["in"])?.is_some())
    }

    fn loop_body(&mut self) -> Result<List, Refused> {
        self.expect(&["do"])?;
        Ok(self.body(&["done"])?.0)
    }

    fn cases(&mut self) -> Result<Compound, Refused> {
        let Token::Word(word) = self.next()? else { return Err(KEYWORD) };
        self.lines()?;
        self.expect(&["in"])?;
        let mut arms = Vec::new();
        loop {
            self.lines()?;
            if self.takes_keyword(&["esac"])?.is_some() {
                return Ok(Compound::Case { word, arms });
            }
            self.takes("(")?;
            let patterns = self.patterns()?;
            let list = self.list(&["esac"])?;
            arms.push((patterns, list));
            if !(self.takes(";;")? || self.takes(";&")? || self.takes(";;&")?) {
                self.expect(&["esac"])?;
                return Ok(Compound::Case { word, arms });
            }
        }
    }

    /// The patterns of a branch, up to its `)`.
    fn patterns(&mut self) -> Result<Vec<Text>, Refused> {
        let mut patterns = Vec::new();
        loop {
            match self.next()? {
                Token::Word(word) => patterns.push(word),
                Token::Op("|") => {}
                Token::Op(")") if !patterns.is_empty() => return Ok(patterns),
                _ => return Err(KEYWORD),
            }
        }
    }

    /// `[[ … ]]`, behind its beginning. Its operators are words among the others.
    fn test(&mut self) -> Result<Node, Refused> {
        let mut parts = Vec::new();
        loop {
            self.lexer.until(|c| !c.is_whitespace());
            let rest = self.lexer.rest();
            if let Some(behind) = rest.strip_prefix("]]")
                && (behind.is_empty() || behind.starts_with([' ', '\t', '\n', ';', '|', '&', '<', '>', ')', '}']))
            {
                self.lexer.takes("]]");
                return Ok(Node::Test(parts, self.redirects()?));
            }
            if rest.is_empty() || !self.lexer.marks.is_empty() {
                return Err(KEYWORD);
            }
            if rest.starts_with("<(") || rest.starts_with(">(") {
                parts.push(Part::Process(self.lexer.process()?));
            } else if !self.lexer.takes("\\\n") {
                parts.push(Part::Word(self.lexer.word(true)?));
            }
        }
    }

    fn coprocess(&mut self) -> Result<Node, Refused> {
        // `coproc NAME { …; }`: the name is one only before a compound command.
        if matches!(self.peek()?, Token::Word(word) if is_name(&word.value)) {
            let rest = self.lexer.rest().trim_start_matches([' ', '\t']);
            let compound = ["{ ", "{\n", "(", "if ", "for ", "while ", "until ", "case "];
            if compound.iter().any(|start| rest.starts_with(start)) && !rest.starts_with("()") {
                self.ahead = None;
            }
        }
        Ok(Node::Compound(Compound::Coprocess(self.inner_command()?), Vec::new()))
    }

    fn inner_command(&mut self) -> Result<Box<Node>, Refused> {
        self.lexer.deeper()?;
        let command = self.command()?;
        self.lexer.depth -= 1;
        Ok(Box::new(command))
    }

    /// A function, behind its name.
    pub(super) fn function(&mut self, name: String) -> Result<Node, Refused> {
        if self.takes("(")? && !self.takes(")")? {
            return Err("parentheses within a command");
        }
        self.lines()?;
        Ok(Node::Function { name, body: self.inner_command()? })
    }
}
