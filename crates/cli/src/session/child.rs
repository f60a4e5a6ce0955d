//! Conversations of sub-agents.

use super::answer::{Answer, ChildAnswer};
use super::dialogue::Dialogue;
use super::part::Problem;
use super::request::ChildAsked;

const NAMES: &str = "names of tools of this conversation, as the model or the host knows them";

impl Dialogue {
    /// Branches off a conversation that has only the allowed tools, as a snapshot: another session
    /// with the same options restores it.
    pub(super) fn child(&mut self, asked: &ChildAsked) -> Result<Answer, Problem> {
        let allowed: Vec<&str> = asked.allowed.iter().map(String::as_str).collect();
        let child = self.conversation.child(&allowed).map_err(|why| Problem::new(why).help(NAMES))?;
        let (id, snapshot) = (child.id().to_owned(), Box::new(child.snapshot()));
        Ok(Answer::Child(ChildAnswer { child: id, snapshot }))
    }
}
