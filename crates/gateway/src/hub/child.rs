//! Sub-agents: a session that has only some of the gateway's tools and skills, as `initialize`
//! requests in `_meta`. It only removes tools and does not affect policy.

use std::sync::Arc;

use serde::Deserialize;
use toolfold::skill::SKILL_PREFIX;

use super::context::{Context, Lifecycle};
use crate::error::GatewayError;
use crate::object::Object;
use crate::settings::Opened;
use crate::skills::ServedSkills;

/// The member of `_meta`.
pub(super) const META_CHILD: &str = "toolfold/child";

/// The name in `allowed` for all skills; one skill is `skill:NAME`.
const ALL_SKILLS: &str = "activate_skill";

/// The maximum number of allowed names: more than any model can use.
const MAX_ALLOWED: usize = 4_096;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Child {
    /// Names of tools, as clients see them, and of skills.
    allowed: Vec<String>,
}

/// Checks the sub-agent that the parameters of `initialize` request, if they do.
pub(super) fn check_child(params: &Object) -> Result<(), String> {
    let Some(meta) = params.object("_meta").filter(|meta| meta.has_member(META_CHILD)) else { return Ok(()) };
    match meta.read_as::<Child>(META_CHILD) {
        Some(child) if child.allowed.len() <= MAX_ALLOWED => Ok(()),
        Some(_) => Err(format!("`{META_CHILD}` allows more than {MAX_ALLOWED} names")),
        None => Err(format!(
            "`_meta` has an invalid `{META_CHILD}`; expected {{\"allowed\":[…]}} with names of tools, {ALL_SKILLS}, or skill:NAME"
        )),
    }
}

/// The parameters of `initialize` for a server, which does not need the sub-agent's tools.
pub(super) fn without_child(params: &Object) -> Object {
    let mut own = params.clone();
    if let Some(mut meta) = params.object("_meta").filter(|meta| meta.has_member(META_CHILD)) {
        meta.remove_member(META_CHILD);
        if meta.is_empty() {
            own.remove_member("_meta");
        } else {
            own.set("_meta", meta.to_raw());
        }
    }
    own
}

impl Context {
    /// The names that the session's sub-agent may use; `None` if it is not one.
    fn allowed(&self) -> Option<Vec<String>> {
        let Lifecycle::Session { params, .. } = &self.lifecycle else { return None };
        params.object("_meta")?.read_as::<Child>(META_CHILD).map(|child| child.allowed)
    }

    /// A new conversation with only the allowed tools. A stored one already has only these.
    pub(super) fn restricted(&self, mut opened: Opened) -> Result<Opened, GatewayError> {
        let Some(allowed) = self.allowed().filter(|_| !opened.conversation.is_restricted()) else { return Ok(opened) };
        let names: Vec<&str> = allowed.iter().map(String::as_str).collect();
        opened.conversation = opened.conversation.restricted(&names).map_err(|why| why.to_string())?;
        Ok(opened)
    }

    /// The gateway's skills, or those of them that the sub-agent may use.
    pub(super) fn served_skills(&self) -> Option<Arc<ServedSkills>> {
        let own = self.settings.layers.skills()?;
        let Some(allowed) = self.allowed().filter(|allowed| !allowed.iter().any(|name| name == ALL_SKILLS)) else {
            return Some(own);
        };
        let is_allowed = |skill: &str| allowed.iter().any(|name| name.strip_prefix(SKILL_PREFIX) == Some(skill));
        Some(Arc::new(own.only(&is_allowed)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rpc::raw;

    #[test]
    fn servers_do_not_receive_the_tools_of_a_sub_agent() {
        let params = |meta: serde_json::Value| Object::from_params(Some(&raw(&json!({"a": 1, "_meta": meta}))));
        let sent = |meta| without_child(&params(meta)).to_raw().get().to_owned();
        assert_eq!(sent(json!({META_CHILD: {"allowed": ["x"]}})), r#"{"a":1}"#);
        assert_eq!(sent(json!({"other": 2, META_CHILD: {"allowed": []}})), r#"{"a":1,"_meta":{"other":2}}"#);
        assert_eq!(sent(json!({"other": 2})), r#"{"a":1,"_meta":{"other":2}}"#);
        let many = vec!["x"; MAX_ALLOWED + 1];
        assert!(check_child(&params(json!({META_CHILD: {"allowed": many}}))).is_err());
        assert!(check_child(&params(json!({META_CHILD: {"allowed": ["x"]}}))).is_ok());
    }
}
