//! Parses true calls in the format of BFCL, which are Python expressions:
//! `f('a', b=[1, 2.5, True, None], c={'k': "v"})`.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Map, Value, json};

#[derive(Debug, PartialEq)]
pub(super) struct Written {
    pub(super) name: String,
    pub(super) positional: Vec<Value>,
    pub(super) named: Vec<(String, Value)>,
}

struct Reader<'t>(Peekable<Chars<'t>>);

/// Parses one call with literal arguments. Errors have their position.
pub(super) fn read_call(text: &str) -> Result<Written, String> {
    let mut reader = Reader(text.chars().peekable());
    reader.python_call().map_err(|why| {
        let rest: String = reader.0.collect();
        format!("{text}: {why} before `{rest}`")
    })
}

impl Reader<'_> {
    fn python_call(&mut self) -> Result<Written, String> {
        let name = self.python_word();
        self.expect('(')?;
        let (mut positional, mut named) = (Vec::new(), Vec::new());
        while !self.eat(')') {
            if self.peek().is_some_and(|c| c.is_alphabetic() || c == '_') {
                let word = self.python_word();
                if self.eat('=') {
                    named.push((word, self.python_value()?));
                } else {
                    positional.push(constant(&word)?);
                }
            } else if named.is_empty() {
                positional.push(self.python_value()?);
            } else {
                return Err("positional argument after a named one".to_owned());
            }
            self.separator(')')?;
        }
        if self.peek().is_some() { Err("unexpected text".to_owned()) } else { Ok(Written { name, positional, named }) }
    }

    fn python_value(&mut self) -> Result<Value, String> {
        match self.peek() {
            Some('\'' | '"') => {
                let mut text = String::new();
                while let Some(quote @ ('\'' | '"')) = self.peek() {
                    self.string(quote, &mut text)?;
                }
                Ok(Value::String(text))
            }
            Some('[') => self.sequence('[', ']'),
            Some('(') => self.sequence('(', ')'),
            Some('{') => self.dict(),
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.python_number(),
            _ => constant(&self.python_word()),
        }
    }

    fn sequence(&mut self, open: char, close: char) -> Result<Value, String> {
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(self.python_value()?);
            self.separator(close)?;
        }
        Ok(Value::Array(items))
    }

    fn dict(&mut self) -> Result<Value, String> {
        self.expect('{')?;
        let mut entries = Map::new();
        while !self.eat('}') {
            let Value::String(key) = self.python_value()? else { return Err("key that is not a string".to_owned()) };
            self.expect(':')?;
            entries.insert(key, self.python_value()?);
            self.separator('}')?;
        }
        Ok(Value::Object(entries))
    }

    fn string(&mut self, quote: char, text: &mut String) -> Result<(), String> {
        self.expect(quote)?;
        loop {
            match self.0.next() {
                None => return Err("unterminated string".to_owned()),
                Some(c) if c == quote => return Ok(()),
                Some('\\') => self.escape(text)?,
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), String> {
        let c = self.0.next().ok_or("unterminated escape")?;
        let plain = match c {
            'n' => "\n".to_owned(),
            't' => "\t".to_owned(),
            'r' => "\r".to_owned(),
            '\\' | '\'' | '"' => c.to_string(),
            '\n' => String::new(),
            'x' | 'u' => self.hex(if c == 'x' { 2 } else { 4 })?.to_string(),
            // Python leaves an unknown escape unchanged.
            other => format!("\\{other}"),
        };
        text.push_str(&plain);
        Ok(())
    }

    fn hex(&mut self, digits: usize) -> Result<char, String> {
        let hex: String = self.0.by_ref().take(digits).collect();
        let code = u32::from_str_radix(&hex, 16).map_err(|why| format!("{hex}: {why}"))?;
        char::from_u32(code).ok_or_else(|| format!("{hex}: not a character"))
    }

    fn python_number(&mut self) -> Result<Value, String> {
        let mut text = String::new();
        while let Some(c) = self.0.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_')) {
            text.extend(Some(c).filter(|c| *c != '_'));
        }
        let whole = text.parse::<i64>().map(|number| json!(number));
        whole.or_else(|_| text.parse::<f64>().map(|number| json!(number))).map_err(|why| format!("{text}: {why}"))
    }

    fn python_word(&mut self) -> String {
        self.peek();
        let mut word = String::new();
        while let Some(c) = self.0.next_if(|c| c.is_alphanumeric() || *c == '_') {
            word.push(c);
        }
        word
    }

    /// The next character that is not white space.
    fn peek(&mut self) -> Option<char> {
        while self.0.next_if(|c| c.is_whitespace()).is_some() {}
        self.0.peek().copied()
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.peek() == Some(wanted) && self.0.next().is_some()
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.eat(wanted) { Ok(()) } else { Err(format!("expected `{wanted}`")) }
    }

    /// A comma, or nothing before the end.
    fn separator(&mut self, close: char) -> Result<(), String> {
        if self.eat(',') || self.peek() == Some(close) { Ok(()) } else { Err(format!("expected `,` or `{close}`")) }
    }
}

fn constant(word: &str) -> Result<Value, String> {
    match word {
        "True" => Ok(json!(true)),
        "False" => Ok(json!(false)),
        "None" => Ok(Value::Null),
        other => Err(format!("`{other}` is not a literal")),
    }
}

#[test]
fn python_literals_are_read_as_json() {
    let read = |text: &str| read_call(&format!("f({text})")).unwrap().positional;
    for (text, value) in [
        ("'a'", json!("a")),
        (r#""it's""#, json!("it's")),
        (r"'it\'s \n \\ \x41 \u00e9 \d'", json!("it's \n \\ A \u{e9} \\d")),
        ("'a' \"b\"", json!("ab")),
        ("-3", json!(-3)),
        ("1_000", json!(1000)),
        ("5.0", json!(5.0)),
        ("-1e3", json!(-1000.0)),
        ("True", json!(true)),
        ("[1, 'x', None,]", json!([1, "x", null])),
        ("(1, 2)", json!([1, 2])),
        ("{'a': {\"b\": [False]}}", json!({"a": {"b": [false]}})),
    ] {
        assert_eq!(read(text), [value], "{text}");
    }
}

#[test]
fn positional_and_named_arguments_of_python_calls_are_read() {
    let call = read_call("book( 'x', 2 , to='a)b,c=d',when = None )").unwrap();
    assert_eq!(call.name, "book");
    assert_eq!(call.positional, [json!("x"), json!(2)]);
    assert_eq!(call.named, [("to".to_owned(), json!("a)b,c=d")), ("when".to_owned(), Value::Null)]);
    assert_eq!(read_call("ls()").unwrap(), Written { name: "ls".to_owned(), positional: vec![], named: vec![] });
    for bad in ["f", "f(", "f(a)", "f('a", "f(1 2)", "f(a=1, 2)", "f() g()", "f(g(1))", "f({1: 2})", r"f('\xzz')"] {
        assert!(read_call(bad).is_err(), "{bad}");
    }
}
