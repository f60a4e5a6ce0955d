//! `toolfold gateway login` and `logout`: a person's login at a server.

use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::clock::time;
use super::super::output::{BOLD, Failure, GOOD, Outcome, emit, emit_json, say_all, warn};
use super::targets::TargetArgs;
use super::vault;
use crate::configuration::units::period_ms;
use crate::similar::did_you_mean;
use toolfold::diagnostic::{Loaded, visible};
use toolfold_gateway::link::auth::{Auth, LoggedIn};

const LOGIN_HELP: &str = "\
Prints the address of the login, opens it in the browser, and waits for the redirect to a local
port. The tokens are stored in the user's state folder, readable by their owner only; the gateway
renews them. With `grant = \"client_credentials\"`, no browser is needed.

Examples:
  toolfold gateway login github
  toolfold gateway login github --servers mcp.json --config toolfold.toml
  toolfold gateway login --url https://mcp.example.com/mcp
  toolfold gateway login github --no-browser --timeout 10m

Settings: [gateway.server.NAME.auth] in toolfold.toml: client_id, client_secret, private_key,
client_metadata_url, issuer, scopes, grant, redirect_port.

Exit codes: 0 logged in, 1 the login failed or an input is invalid, 2 usage.";

const LOGOUT_HELP: &str = "\
Removes the tokens of a server, and the client that was registered for it. The authorization server
is not notified.

Examples:
  toolfold gateway logout github
  toolfold gateway logout --url https://mcp.example.com/mcp --json

Exit codes: 0 logged out, 1 an input is invalid, 2 usage.";

#[derive(Debug, Args)]
struct ServerArgs {
    /// The server's name in the list; optional if there is only one
    #[arg(value_name = "SERVER")]
    server: Option<String>,

    /// The servers: a file with `mcpServers` [default: `servers` of [gateway]]
    #[arg(long, value_name = "FILE")]
    servers: Option<String>,

    /// One server by its URL (streamable HTTP)
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Configuration file [default: as for every command]
    #[arg(long, value_name = "FILE")]
    config: Option<String>,

    /// As JSON
    #[arg(long)]
    json: bool,
}

/// A line of `toolfold gateway login --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum LoginLine<'a> {
    /// The first line: where to log in.
    Open {
        /// The address to open in a browser.
        open: &'a str,
    },
    /// The last line: what was granted.
    Done {
        /// The server.
        server: &'a str,
        /// The authorization server that issued the tokens.
        issuer: &'a str,
        /// The resource that they are for.
        resource: &'a str,
        /// The granted scopes.
        scopes: &'a [String],
        /// When the access token expires, in UTC, if known.
        until: Option<String>,
        /// Whether the gateway can renew the token without a user.
        renewable: bool,
    },
}

/// What `toolfold gateway logout --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LogoutAnswer<'a> {
    /// The server.
    server: &'a str,
    /// Whether there was a login.
    was_logged_in: bool,
}

#[derive(Debug, Args)]
#[command(after_help = LOGIN_HELP)]
pub(super) struct LoginArgs {
    #[command(flatten)]
    of: ServerArgs,

    /// Print the address, and do not open a browser
    #[arg(long)]
    no_browser: bool,

    /// Maximum time to wait for the login
    #[arg(long, value_name = "TIME", value_parser = period_ms, default_value = "5m")]
    timeout: i64,
}

#[derive(Debug, Args)]
#[command(after_help = LOGOUT_HELP)]
pub(super) struct LogoutArgs {
    #[command(flatten)]
    of: ServerArgs,
}

pub(super) fn log_in(args: &LoginArgs) -> Outcome {
    let (name, auth) = args.of.auth()?;
    let limit = Duration::from_millis(u64::try_from(args.timeout).unwrap_or(0));
    let mut show = |address: &str| {
        // If the reader has closed the pipe, the login continues: the browser may be open.
        let _ = if args.of.json {
            emit_json(&LoginLine::Open { open: address })
        } else {
            emit(&format!("Open this address to log in to {BOLD}{}{BOLD:#}:\n\n  {address}\n\n", visible(&name)))
        };
        if !args.no_browser && !open_browser(address) {
            warn("cannot open a browser: open the address yourself");
        }
    };
    let done = auth.log_in(limit, &mut show).map_err(|why| {
        let why = why.to_string();
        Failure::wrong(format!("server `{}`: {}", visible(&name), visible(&why)))
    })?;
    if args.of.json {
        emit_json(&LoginLine::Done {
            server: &name,
            issuer: &done.issuer,
            resource: &done.resource,
            scopes: &done.scopes,
            until: done.until_ms.map(time),
            renewable: done.can_renew,
        })?;
    } else {
        emit(&login_summary(&name, &done))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn log_out(args: &LogoutArgs) -> Outcome {
    let (name, auth) = args.of.auth()?;
    let was_there = auth.log_out().map_err(Failure::wrong)?;
    if args.of.json {
        emit_json(&LogoutAnswer { server: &name, was_logged_in: was_there })?;
    } else {
        let name = visible(&name);
        let line = if was_there { "is logged out" } else { "was not logged in" };
        emit(&format!("{name} {line}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn login_summary(name: &str, done: &LoggedIn) -> String {
    let mut out = format!("{GOOD}logged in{GOOD:#} to {} by {}\n", visible(name), visible(&done.issuer));
    if !done.scopes.is_empty() {
        out.push_str(&format!("  scopes: {}\n", visible(&done.scopes.join(" "))));
    }
    match (done.until_ms, done.can_renew) {
        (_, true) => out.push_str("  the gateway renews it\n"),
        (Some(until), false) => out.push_str(&format!("  until {}; then log in again\n", time(until))),
        (None, false) => {}
    }
    out
}

impl ServerArgs {
    fn auth(&self) -> Result<(String, Arc<Auth>), Failure> {
        let targets = TargetArgs::naming(self.servers.clone(), self.url.clone(), self.config.clone());
        let Loaded { value: servers, diagnostics } = targets.usable_servers(&targets.config(&[])?)?;
        let found = match &self.server {
            Some(name) => servers.iter().find(|own| own.name == *name),
            None if servers.len() == 1 => servers.first(),
            None => None,
        };
        let Some(server) = found else {
            // The errors of the list may explain why it is missing.
            say_all(&diagnostics);
            let names: Vec<&str> = servers.iter().map(|own| own.name.as_str()).collect();
            let Some(name) = &self.server else {
                let names = names.join(", ");
                return Err(
                    Failure::usage("name the server to log in to").help(format!("there are {}", visible(&names)))
                );
            };
            let help = did_you_mean(name, names).unwrap_or_else(|| "use a name from the list of servers".to_owned());
            return Err(Failure::wrong(format!("there is no server `{}`", visible(name))).help(help));
        };
        let auth = vault::auth(server).cloned().ok_or_else(|| {
            let why = format!("server `{}` is a program: it logs in on its own", visible(&server.name));
            Failure::wrong(why).help("see its own documentation")
        })?;
        Ok((server.name.clone(), auth))
    }
}

/// Opens an address in the user's browser. Returns whether a program was started.
fn open_browser(address: &str) -> bool {
    // No shell is involved: an address may contain characters with a special meaning.
    let (program, args): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(args).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    std::thread::spawn(move || child.wait());
    true
}
