//! `toolfold gateway`: the three layers between an MCP client and its servers.

mod console;
pub(super) mod doctor;
mod init;
mod layers;
mod lists;
mod log;
pub(super) mod login;
mod migrate;
mod probe;
mod profiles;
mod records;
mod results;
mod serve;
mod sizes;
mod targets;
mod telemetry;
mod tenants;
mod text;
mod vault;

use clap::{Args, Subcommand};

use self::doctor::DoctorArgs;
use self::init::InitArgs;
use self::login::{LoginArgs, LogoutArgs};
use self::migrate::MigrateArgs;
use self::serve::ServeArgs;
pub(super) use self::vault::write_private;
use super::output::Outcome;

const AFTER_HELP: &str = "\
The file has the format of MCP clients: {\"mcpServers\": {\"name\": {\"command\": \"…\"}}}.
Secrets come from the environment: \"${NAME}\". Settings: [gateway] in toolfold.toml.

Examples:
  toolfold gateway init --client cursor          import the servers of a client
  toolfold gateway doctor                        state and cost of every server, denied tools
  toolfold gateway login github                  log in to a server, in a browser
  toolfold gateway --servers mcp.json
  toolfold gateway --servers mcp.json --client claude-code --policy policy.toml
  toolfold gateway -- npx -y @modelcontextprotocol/server-everything
  toolfold gateway --url http://127.0.0.1:3000/mcp
  toolfold gateway --servers mcp.json --toolsets files,search --read-only
  toolfold gateway --servers mcp.json --max-result 10000
  toolfold gateway --servers mcp.json --http 127.0.0.1:3900 --console

Exit codes: 0 the client disconnected, 1 an input is invalid, 2 usage, 3 no usable store.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub(super) struct GatewayArgs {
    #[command(subcommand)]
    command: Option<GatewayCommand>,

    #[command(flatten)]
    serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
enum GatewayCommand {
    /// Import the servers of a client, with secrets moved to variables.
    Init(InitArgs),
    /// Start every server once, and report failures, costs and rejected tools.
    Doctor(Box<DoctorArgs>),
    /// Log in to a server that requires it (OAuth), in a browser.
    Login(LoginArgs),
    /// Remove the login of a server.
    Logout(LogoutArgs),
    /// Create or update the tables of several gateways in PostgreSQL.
    #[command(after_help = "\
Example:
  PGPASSWORD=… toolfold gateway migrate --state postgres://toolfold_owner@db.example/toolfold

Run it before the first start and before each new version. Exit codes: 0 ok, 2 usage, 3 the database
cannot be used.")]
    Migrate(MigrateArgs),
}

pub(super) fn run_gateway(args: &GatewayArgs) -> Outcome {
    match &args.command {
        None => serve::serve(&args.serve),
        Some(GatewayCommand::Init(args)) => init::run_init(args),
        Some(GatewayCommand::Doctor(args)) => doctor::run_doctor(args),
        Some(GatewayCommand::Login(args)) => login::log_in(args),
        Some(GatewayCommand::Logout(args)) => login::log_out(args),
        Some(GatewayCommand::Migrate(args)) => migrate::run_migrate(args),
    }
}
