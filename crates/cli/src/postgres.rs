//! State in PostgreSQL, from the command line (feature `postgres`).

mod address;

use std::sync::Arc;

pub(super) use self::address::{is_address, of_tenant, without_password};
use super::output::Failure;
use toolfold::store::AuditedStore;
#[cfg(feature = "postgres")]
use toolfold_gateway::postgres::{Address, PostgresPins, PostgresState, PostgresStore};
use toolfold_gateway::state::StateStore;

/// The environment variable with the password, if the address contains none. The name is that of
/// PostgreSQL's own programs.
pub(super) const PASSWORD: &str = "PGPASSWORD";

/// Why no database can be opened under an address, whatever this build supports.
fn unsupported(text: &str) -> Option<Failure> {
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        return None;
    }
    let why = format!("{}: not the address of a database that toolfold supports", without_password(text));
    Some(Failure::usage(why).help("give postgres://USER@HOST/DATABASE, or the path of a file"))
}

#[cfg(feature = "postgres")]
fn opened<T>(
    text: &str,
    open: impl FnOnce(&Address) -> Result<T, toolfold_gateway::error::GatewayError>,
) -> Result<T, Failure> {
    if let Some(why) = unsupported(text) {
        return Err(why);
    }
    let password = super::disk::variable(PASSWORD);
    let address = Address::parse(text, password.as_deref()).map_err(Failure::usage)?;
    open(&address).map_err(Failure::unmeasured)
}

#[cfg(feature = "postgres")]
pub(super) fn open_store(text: &str) -> Result<Arc<dyn AuditedStore>, Failure> {
    Ok(Arc::new(opened(text, PostgresStore::open)?))
}

#[cfg(feature = "postgres")]
pub(super) fn open_state(text: &str) -> Result<Arc<dyn StateStore>, Failure> {
    Ok(Arc::new(opened(text, PostgresState::open)?))
}

#[cfg(feature = "postgres")]
pub(super) fn open_pins(text: &str) -> Result<PostgresPins, Failure> {
    opened(text, PostgresPins::open)
}

#[cfg(feature = "postgres")]
pub(super) fn migrate(text: &str, app: &str) -> Result<usize, Failure> {
    opened(text, |address| toolfold_gateway::postgres::migrate(address, app))
}

#[cfg(not(feature = "postgres"))]
pub(super) fn absent(text: &str) -> Failure {
    unsupported(text).unwrap_or_else(|| {
        Failure::usage("this build of toolfold does not support PostgreSQL")
            .help("build it with `cargo build -p toolfold-cli --features postgres`, or name a file")
    })
}

#[cfg(not(feature = "postgres"))]
pub(super) fn open_store(text: &str) -> Result<Arc<dyn AuditedStore>, Failure> {
    Err(absent(text))
}

#[cfg(not(feature = "postgres"))]
pub(super) fn open_state(text: &str) -> Result<Arc<dyn StateStore>, Failure> {
    Err(absent(text))
}

#[cfg(not(feature = "postgres"))]
pub(super) fn open_pins(text: &str) -> Result<toolfold_gateway::pins::MemoryPins, Failure> {
    Err(absent(text))
}

#[cfg(not(feature = "postgres"))]
pub(super) fn migrate(text: &str, _: &str) -> Result<usize, Failure> {
    Err(absent(text))
}
