//! A client that lists the tools once and disconnects.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;

use crate::client::{Client, Sink, ToHub};
use crate::hub::Hub;
use crate::rpc::{Answer, Id, Message, Notification, Request, raw};
use crate::settings::Settings;
use crate::version::WITH_SESSIONS;

/// Time limit for the end of the hub.
const END: Duration = Duration::from_secs(5);

/// Starts a hub, lists the tools, and ends the hub. [`Settings::watch`] receives the results.
pub(super) async fn list_once(settings: Settings, id: String) {
    // The handshake and the list have the server's timeout each.
    let longest = settings.servers.iter().map(|own| own.start_timeout).max().unwrap_or_default() * 2 + END;
    let (hub, ended) = Hub::start_hub(settings, id);
    drop(tokio::time::timeout(longest, converse(&hub, "toolfold-doctor")).await);
    drop(hub.send(ToHub::Drain).await);
    drop(hub);
    drop(tokio::time::timeout(END, ended).await);
}

pub(super) async fn converse(hub: &mpsc::Sender<ToHub>, name: &str) {
    let (to, mut answers) = mpsc::unbounded_channel();
    let client = Client::new(0, Arc::new(Answers(to)));
    let info = json!({"name": name, "version": env!("CARGO_PKG_VERSION")});
    let hello = json!({"protocolVersion": WITH_SESSIONS[0], "capabilities": {}, "clientInfo": info});
    let said = |message| hub.send(ToHub::Message(client.clone(), message));
    let request = |id, method, params| Message::Request(Request::new(Id::number(id), method, params));
    drop(said(request(1, "initialize", Some(raw(&hello)))).await);
    if !matches!(answers.recv().await, Some(Ok(_))) {
        return;
    }
    drop(said(Message::Notification(Notification::new("notifications/initialized", None))).await);
    drop(said(request(2, "tools/list", None)).await);
    drop(answers.recv().await);
}

struct Answers(mpsc::UnboundedSender<Answer>);

impl Sink for Answers {
    fn send(&self, message: Message, _of: Option<&Id>) {
        if let Message::Response(_, answer) = message {
            drop(self.0.send(answer));
        }
    }
}
