//! Scripts of skills that are tools: the gateway itself runs a permitted call, in a thread of its
//! own, and answers it when the script has ended.

use std::sync::Arc;

use super::call::noted;
use super::reply;
use super::upstream::Upstream;
use super::view::View;
use crate::client::{Client, ToHub};
use crate::rpc::Id;
use crate::settings::Script;
use crate::watch::Observed;
use toolfold::conversation::{CallId, Forward};

/// Maximum number of scripts that run at once in one conversation; each may use the memory of the
/// setting `skill_scripts.memory`.
const MAX_SCRIPTS: usize = 4;

/// A call whose script runs.
pub(super) struct RunningScript {
    pub(super) client: Client,
    pub(super) id: Id,
    call: CallId,
    name: String,
    /// A line to insert before the result.
    note: Option<String>,
    script: Arc<dyn Script>,
}

impl View {
    /// Starts the script of a permitted call. Returns `false` if its tool runs none.
    pub(super) fn starts_script(
        &mut self,
        upstream: &mut Upstream,
        client: &Client,
        id: &Id,
        forward: &Forward,
    ) -> bool {
        let tool =
            self.shown.as_ref().and_then(|view| view.conversation.engine().catalog().get(forward.target.as_str()));
        let Some(tool) = tool.filter(|tool| tool.skill_run().is_some()) else { return false };
        let layers = &upstream.context.settings.layers;
        let Some(script) = layers.script(&upstream.context.id, tool, &forward.arguments) else {
            self.not_run(upstream, client, id, forward, "scripts of skills are off");
            return true;
        };
        if upstream.requests.scripts.len() >= MAX_SCRIPTS {
            let why = format!("{MAX_SCRIPTS} scripts are running; try again when one has ended");
            self.not_run(upstream, client, id, forward, &why);
            return true;
        }
        // What the audit trail and the state contain must be stored before the script starts.
        self.save(upstream);
        let number = upstream.requests.next_id();
        let (hub, own) = (self.openings.hub(), script.clone());
        let runs = move || {
            let (content, ok) = own.run();
            // A hub that has ended has stopped the script.
            if let Some(hub) = hub.upgrade() {
                drop(hub.blocking_send(ToHub::Ran { number, content, ok }));
            }
        };
        if let Err(why) = std::thread::Builder::new().name("script".to_owned()).spawn(runs) {
            self.not_run(upstream, client, id, forward, &format!("no thread can be started: {why}"));
            return true;
        }
        upstream.requests.running.entry((client.key, id.clone())).or_default().push(number);
        let (client, id, call) = (client.clone(), id.clone(), forward.id.clone());
        let (name, note) = (forward.name.clone(), forward.notes.note.clone());
        upstream.requests.scripts.insert(number, RunningScript { client, id, call, name, note, script });
        true
    }

    /// Stops a script whose request was cancelled.
    pub(super) fn stop_script(&mut self, running: &RunningScript) {
        running.script.stop();
        if let Some(view) = &mut self.shown {
            view.conversation.report_result(&running.call, false);
        }
    }

    /// Answers the call whose script has ended. One that was cancelled has no answer.
    pub(super) fn script_ended(&mut self, upstream: &mut Upstream, number: u64, content: &str, ok: bool) {
        let Some(RunningScript { client, id, call, name, note, .. }) = upstream.requests.scripts.remove(&number) else {
            return;
        };
        upstream.requests.no_longer_running(&client, &id, number);
        if let Some(view) = &mut self.shown {
            view.conversation.report_result(&call, ok);
            view.conversation.forget_log();
        }
        upstream.context.tell(&Observed::Answered { name: &name, kind: "ran" });
        let result = upstream.context.text_result(content, !ok);
        let result = match note {
            Some(note) => noted(&result, &note),
            None => result,
        };
        self.save(upstream);
        reply(&client, &id, Ok(result));
    }
}
