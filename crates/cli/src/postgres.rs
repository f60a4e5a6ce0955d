//! State in PostgreSQL, from the command line (feature `postgres`).

use std::sync::Arc;

use super::output::Failure;
use toolfold::store::AuditedStore;
#[cfg(feature = "postgres")]
use toolfold_gateway::postgres::{Address, PostgresPins, PostgresState, PostgresStore};
use toolfold_gateway::state::StateStore;

/// The environment variable with the password, if the address contains none. The name is that of
/// PostgreSQL's own programs.
pub(super) const PASSWORD: &str = "PGPASSWORD";

/// Whether a text is the address of a database rather than a path: of any, so that a misspelt
/// address is no path. One letter is a drive of Windows.
pub(super) fn is_address(text: &str) -> bool {
    let (scheme, _) = text.split_once("://").unwrap_or_default();
    scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// Why no database can be opened under an address, whatever this build supports.
fn unsupported(text: &str) -> Option<Failure> {
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        return None;
    }
    let why = format!("{}: not the address of a database that toolfold supports", without_password(text));
    Some(Failure::usage(why).help("give postgres://USER@HOST/DATABASE, or the path of a file"))
}

/// The address of a tenant's rows.
pub(super) fn of_tenant(address: &str, tenant: &str) -> String {
    let join = if address.contains('?') { '&' } else { '?' };
    format!("{address}{join}tenant={tenant}")
}

/// An address as it is printed: without the password.
pub(super) fn without_password(text: &str) -> String {
    let parts = text.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?)));
    match parts {
        Some((scheme, (user, place))) if is_address(text) => {
            format!("{scheme}://{}@{place}", user.split(':').next().unwrap_or_default())
        }
        _ => text.to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::{of_tenant, without_password};

    #[test]
    fn a_printed_address_has_no_password() {
        for (text, printed) in [
            ("postgres://app:s3c@ret@db:5432/t?tenant=a", "postgres://app@db:5432/t?tenant=a"),
            ("postgres://app@db/t", "postgres://app@db/t"),
            ("mysql://app:s3cret@db/t", "mysql://app@db/t"),
            ("a:b@c.sqlite", "a:b@c.sqlite"),
        ] {
            assert_eq!(without_password(text), printed);
        }
        assert_eq!(of_tenant("postgres://a@b/c", "ada"), "postgres://a@b/c?tenant=ada");
        assert_eq!(of_tenant("postgres://a@b/c?x=1", "ada"), "postgres://a@b/c?x=1&tenant=ada");
    }
}
