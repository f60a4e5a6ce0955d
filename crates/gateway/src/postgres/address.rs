//! The address of a database, and the tenant whose rows are used.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::error::GatewayError;

/// The query parameter that names a tenant. PostgreSQL does not know it.
const TENANT: &str = "tenant";

/// PostgreSQL's port, which is not printed.
const PORT: u16 = 5432;

/// The maximum length of a tenant's name, in bytes: as long as the command line allows.
const MAX_TENANT: usize = 32;

/// The address of a database, such as `postgres://toolfold_app@db.example/toolfold`.
///
/// Without `sslmode`, connections to other machines require TLS with a certificate that this
/// machine trusts, and connections to this machine are not encrypted.
#[derive(Clone)]
pub struct Address {
    pub(super) config: Config,
    pub(super) tenant: Arc<str>,
    /// What identifies the database in this process: the address without the tenant.
    pub(super) key: String,
}

impl Address {
    /// Parses an address. The parameter `tenant` names the tenant, 1 to 32 lower-case letters,
    /// digits, `-` and `_`; without it, the rows are those of a gateway without tenants. `password`
    /// is used if the address contains none.
    ///
    /// # Errors
    /// [`GatewayError`] if it is not an address. The reason never contains the password.
    pub fn parse(text: &str, password: Option<&str>) -> Result<Self, GatewayError> {
        let (rest, tenant) = without_tenant(text)?;
        let mut config: Config = rest.parse().map_err(|why: tokio_postgres::Error| {
            let why = std::error::Error::source(&why).map_or_else(|| why.to_string(), ToString::to_string);
            GatewayError::new(format!("the address of the database is invalid: {why}"))
        })?;
        if config.get_user().is_none() {
            return Err("the address of the database names no user: write postgres://USER@HOST/DATABASE".into());
        }
        if config.get_hosts().is_empty() {
            return Err("the address of the database names no host: write postgres://USER@HOST/DATABASE".into());
        }
        if let Some(password) = password
            && config.get_password().is_none()
        {
            config.password(password);
        }
        if !rest.contains("sslmode=") {
            let local = config.get_hosts().iter().all(is_local);
            config.ssl_mode(if local { SslMode::Disable } else { SslMode::Require });
        }
        Ok(Self { config, tenant: tenant.into(), key: rest })
    }

    /// The same database, with the rows of a tenant; empty for those of a gateway without tenants.
    #[must_use]
    pub fn of_tenant(&self, tenant: &str) -> Self {
        Self { tenant: tenant.into(), ..self.clone() }
    }

    /// The tenant; empty for a gateway without tenants.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.tenant
    }
}

/// Without the password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "postgres://{}@", self.config.get_user().unwrap_or_default())?;
        // One port is that of all hosts.
        let ports = self.config.get_ports();
        for (at, host) in self.config.get_hosts().iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match host {
                Host::Tcp(name) => write!(f, "{comma}{name}")?,
                #[cfg(unix)]
                Host::Unix(path) => write!(f, "{comma}{}", path.display())?,
            }
            if let Some(port) = ports.get(at).or(ports.first()).filter(|port| **port != PORT) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())?;
        if self.tenant.is_empty() { Ok(()) } else { write!(f, "?{TENANT}={}", self.tenant) }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|own| own.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

fn without_tenant(text: &str) -> Result<(String, String), GatewayError> {
    let Some((base, query)) = text.split_once('?') else { return Ok((text.to_owned(), String::new())) };
    let (mut tenant, mut kept) = (String::new(), Vec::new());
    for part in query.split('&') {
        match part.split_once('=') {
            Some((TENANT, name)) => name.clone_into(&mut tenant),
            _ => kept.push(part),
        }
    }
    let is_valid = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    if tenant.len() > MAX_TENANT || !tenant.bytes().all(is_valid) {
        return Err("the address of the database names an invalid tenant: use 1 to 32 lower-case letters, digits, \
                    `-` and `_`"
            .into());
    }
    let rest = if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) };
    Ok((rest, tenant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_tenant_and_decides_about_tls() {
        let read = |text: &str| Address::parse(text, Some("s3cret")).unwrap();
        let far = read("postgres://app@db.example/toolfold?connect_timeout=3&tenant=ada");
        assert_eq!((far.tenant(), far.key.as_str()), ("ada", "postgres://app@db.example/toolfold?connect_timeout=3"));
        assert_eq!(far.config.get_ssl_mode(), SslMode::Require);
        assert_eq!(far.config.get_password(), Some(b"s3cret".as_slice()));
        assert_eq!(far.to_string(), "postgres://app@db.example/toolfold?tenant=ada");
        for local in ["postgres://a@localhost/t", "postgres://a@127.0.0.1/t", "postgres://a@%2Frun%2Fpg/t"] {
            assert_eq!(read(local).config.get_ssl_mode(), SslMode::Disable, "{local}");
        }
        let mixed = read("postgres://a@localhost,db.example:6543/t");
        assert_eq!(mixed.to_string(), "postgres://a@localhost,db.example:6543/t");
        assert_eq!(mixed.config.get_ssl_mode(), SslMode::Require, "one of two hosts is another machine");
        let own = read("postgres://a:pw@db.example/t?sslmode=disable");
        assert_eq!(own.config.get_ssl_mode(), SslMode::Disable);
        assert_eq!(own.config.get_password(), Some(b"pw".as_slice()), "the address's own password");
        assert!(!format!("{own} {own:?}").contains("pw"));
    }

    #[test]
    fn an_invalid_address_is_refused_without_its_password() {
        for (text, part) in [
            ("postgres://db.example/t", "names no user"),
            ("postgres://a@/t", "names no host"),
            ("postgres://a:hidden@db.example/t?tenant=Ada", "invalid tenant"),
            ("postgres://a:hidden@db.example/t?tenant=a%20b", "invalid tenant"),
            ("postgres://a:hidden@db.example/t?colour=red", "is invalid"),
            ("postgres://a:hidden@db.example:port/t", "is invalid"),
        ] {
            let why = Address::parse(text, None).unwrap_err().to_string();
            assert!(why.contains(part) && !why.contains("hidden"), "{text}: {why}");
        }
    }
}
