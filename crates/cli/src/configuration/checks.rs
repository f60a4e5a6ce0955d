//! What values of settings may be: each check takes the text, and says why it is refused.

use std::str::FromStr;

use super::units;
use toolfold::name::nearest;
use toolfold_gateway::clients::McpClient;

/// A value that a setting does not take. Its `Display` is the reason, in lower case and without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnusableValue(String);

impl super::Key {
    /// Whether a value is one of this setting's.
    ///
    /// # Errors
    /// [`UnusableValue`] if not.
    pub fn check(&self, value: &str) -> Result<(), UnusableValue> {
        (self.check)(value).map_err(UnusableValue)
    }
}

/// The words of a command, split at white space and taken out of quotes as a shell does it. No shell is run, so that `$NAME`,
/// `*` and `|` are what they are.
///
/// # Errors
/// Why there are none: a quote that does not end, or nothing at all.
pub(crate) fn command_words(command: &str) -> Result<Vec<String>, String> {
    let words = shlex::split(command).ok_or_else(|| "a quote in the command does not end".to_owned())?;
    if words.is_empty() { Err("the command is empty".to_owned()) } else { Ok(words) }
}

pub(super) fn any(_: &str) -> Result<(), String> {
    Ok(())
}

pub(super) fn parsed<T: FromStr<Err: ToString>>(value: &str) -> Result<(), String> {
    if value.is_empty() { Ok(()) } else { value.parse::<T>().map(drop).map_err(|why| why.to_string()) }
}

pub(super) fn words(value: &str) -> Result<(), String> {
    if value.is_empty() { Ok(()) } else { command_words(value).map(drop) }
}

pub(super) fn whole(value: &str) -> Result<(), String> {
    value.parse::<usize>().map(drop).map_err(|_| format!("`{value}` is not a whole number"))
}

pub(super) fn sized(value: &str) -> Result<(), String> {
    units::size(value).map(drop)
}

pub(super) fn period(value: &str) -> Result<(), String> {
    units::period_ms(value).map(drop).map_err(|help| format!("`{value}` is not a period: {help}"))
}

pub(super) fn share(value: &str) -> Result<(), String> {
    match value.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(()),
        _ => Err(format!("`{value}` is not a number between 0 and 1")),
    }
}

pub(super) fn switch(value: &str) -> Result<(), String> {
    if matches!(value, "on" | "off") { Ok(()) } else { Err(format!("`{value}` is neither on nor off")) }
}

pub(super) fn client(value: &str) -> Result<(), String> {
    if McpClient::named(value).is_some() {
        return Ok(());
    }
    let names = || McpClient::all().iter().map(|own| own.name.as_str());
    let near = nearest(value, names(), 1).first().map(|near| format!("; did you mean `{near}`?"));
    Err(format!("`{value}` is none of {}{}", names().collect::<Vec<_>>().join(", "), near.unwrap_or_default()))
}

pub(super) fn policy_mode(value: &str) -> Result<(), String> {
    if matches!(value, "off" | "audit" | "enforce") {
        Ok(())
    } else {
        Err(format!("`{value}` is none of off, audit and enforce"))
    }
}

#[cfg(test)]
mod tests {
    use super::command_words;

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        for (command, words) in [
            ("npx -y server", Some(vec!["npx", "-y", "server"])),
            ("a 'b c' \"d e\" f\\ g", Some(vec!["a", "b c", "d e", "f g"])),
            ("a '' $HOME *", Some(vec!["a", "", "$HOME", "*"])),
            ("a --x='1 2'", Some(vec!["a", "--x=1 2"])),
            ("a 'b", None),
            ("  ", None),
        ] {
            let words = words.map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(command_words(command).ok(), words, "{command}");
        }
    }
}
