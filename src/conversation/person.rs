//! Skills that a person starts by name.

use super::event::Event;
use super::reload::renew_for;
use super::{CallError, Conversation};
use crate::skill::{ActivateRequest, Activation, ActiveSet, ActiveSkill, Answer, Caller};

impl Conversation {
    /// Activates a skill that a person named, such as by `/commit fix the typo`, also one that the
    /// model may not activate. The host sends [`Activation::text`] as a message of the user; the
    /// skill is active from now on.
    ///
    /// Policy decides: what it asks about needs no approval, because a person starts it; what it
    /// denies is not activated. The activation is in the log and in the audit trail.
    ///
    /// # Errors
    /// [`CallError::NotActivated`] with the reason: the name is unknown, the skill is hidden from
    /// users, policy denies it, or its audit record cannot be written.
    pub fn activate_by_person(&mut self, name: &str, arguments: Option<&str>) -> Result<Box<Activation>, CallError> {
        renew_for(self, &ActivateRequest::new(name));
        let engine = self.engine.clone();
        let layer = engine.skills().ok_or_else(|| CallError::NotActivated("no skills are available".to_owned()))?;
        let mut request = ActivateRequest::new(name);
        (request.approved, request.arguments) = (true, arguments.map(str::to_owned));
        if let (Some(policy), Some(skill)) = (engine.policy(), layer.judged(&request, Caller::User)) {
            policy.start_by_person(&skill, self.id()).map_err(CallError::NotActivated)?;
        }
        // The text is complete each time: whether the model still sees an earlier one is unknown.
        let none = ActiveSet::default();
        let activation = match layer.answer(&request, &none, self.id(), Caller::User) {
            Ok(Answer::Activated(activation)) => activation,
            Ok(_) => {
                return Err(CallError::NotActivated(format!("`{name}` is a file of a skill: pass the skill's name")));
            }
            Err(why) => return Err(CallError::NotActivated(why.to_string())),
        };
        let (name, skill) = (activation.name.clone(), ActiveSkill::from(&*activation));
        self.record_event(Event::Activated { by: None, caller: Caller::User, name, skill });
        Ok(activation)
    }
}
