//! The pins of a tenant's servers in a database.

use std::sync::Arc;

use super::address::Address;
use super::database::{Database, wait_for};
use super::failure::Failure;
use super::session::{Purpose, Session, get};
use crate::capture::file_name;
use crate::error::GatewayError;
use crate::pins::{PinStore, ServerPins};
use crate::settings::ServerSettings;

/// The number of attempts to change pins while other processes change them.
const TRIES: u32 = 20;

/// A store of pins in a database.
#[derive(Debug, Clone)]
pub struct PostgresPins {
    database: Arc<Database>,
    tenant: Arc<str>,
}

/// The pins of one server, as they are stored.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoredPins {
    /// What identifies them in the store.
    pub key: String,
    /// The server's name.
    pub server: String,
    /// What identifies the server besides its name.
    pub identity: String,
    /// The pins.
    pub pins: ServerPins,
}

impl PostgresPins {
    /// Opens the pins of the address's tenant.
    ///
    /// # Errors
    /// As for [`Database::open`].
    pub fn open(address: &Address) -> Result<Self, GatewayError> {
        Ok(Self { database: Database::open(address)?, tenant: address.tenant.clone() })
    }

    /// The pins of every server, in the order of their keys, with the reason for each that cannot
    /// be used.
    ///
    /// # Errors
    /// [`GatewayError`] if the database cannot be read.
    pub fn all(&self) -> Result<Vec<Result<StoredPins, String>>, GatewayError> {
        let (database, tenant) = (self.database.clone(), self.tenant.clone());
        let rows = wait_for(async move {
            let session = Session::begin(&database, &tenant, Purpose::Read).await?;
            let sql = "SELECT server, body FROM toolfold.pin WHERE tenant = $1 ORDER BY server";
            let mut rows: Vec<(String, String)> = Vec::new();
            for row in session.rows(sql, &[&&*tenant]).await? {
                rows.push((get(&row, 0)?, get(&row, 1)?));
            }
            session.end().await;
            Ok(rows)
        });
        let rows = rows.and_then(|rows: Result<_, Failure>| rows).map_err(|why| GatewayError::new(why.to_string()))?;
        Ok(rows.into_iter().map(|(key, body)| parse(key, &body)).collect())
    }

    /// Changes the pins with a key while no other process changes them. `change` runs again if one
    /// does.
    ///
    /// # Errors
    /// [`GatewayError`] if they do not exist, are damaged, or cannot be read or written.
    pub fn change_stored(&self, key: &str, change: &dyn Fn(&mut ServerPins)) -> Result<(), GatewayError> {
        for _ in 0..TRIES {
            let (version, body) = self.read(key)?.ok_or_else(|| GatewayError::new("they no longer exist"))?;
            let StoredPins { server, identity, mut pins, .. } = parse(key.to_owned(), &body)?;
            change(&mut pins);
            if self.write(key, version, pins.to_text(&server, &identity))? {
                return Ok(());
            }
        }
        Err(contended())
    }

    fn read(&self, key: &str) -> Result<Option<(i64, String)>, GatewayError> {
        let (database, tenant, key) = (self.database.clone(), self.tenant.clone(), key.to_owned());
        let read = wait_for(async move {
            let session = Session::begin(&database, &tenant, Purpose::Read).await?;
            let sql = "SELECT version, body FROM toolfold.pin WHERE tenant = $1 AND server = $2";
            let row = session.row(sql, &[&&*tenant, &key]).await?;
            session.end().await;
            row.map(|row| Ok((get(&row, 0)?, get(&row, 1)?))).transpose()
        });
        read.and_then(|read: Result<_, Failure>| read).map_err(|why| GatewayError::new(why.to_string()))
    }

    /// Writes over a version; 0 if there are no pins. `false` if another process has changed them.
    fn write(&self, key: &str, from: i64, text: String) -> Result<bool, GatewayError> {
        let (database, tenant, key) = (self.database.clone(), self.tenant.clone(), key.to_owned());
        let written = wait_for(async move {
            let session = Session::begin(&database, &tenant, Purpose::Write).await?;
            let sql = if from == 0 {
                "INSERT INTO toolfold.pin (tenant, server, version, body) VALUES ($1, $2, $3::bigint + 1, $4)
                 ON CONFLICT (tenant, server) DO NOTHING"
            } else {
                "UPDATE toolfold.pin SET version = $3::bigint + 1, body = $4 WHERE tenant = $1 AND server = $2 AND version = $3"
            };
            let written = session.execute(sql, &[&&*tenant, &key, &from, &text]).await?;
            session.commit().await?;
            Ok(written > 0)
        });
        written.and_then(|own: Result<_, Failure>| own).map_err(|why| GatewayError::new(why.to_string()))
    }
}

fn contended() -> GatewayError {
    "other processes keep changing the pins of this server".into()
}

fn parse(key: String, body: &str) -> Result<StoredPins, String> {
    match ServerPins::parse_stored(body) {
        Ok((server, identity, pins)) if file_name(&server, &identity) == key => {
            Ok(StoredPins { key, server, identity, pins })
        }
        Ok(_) => Err(format!("{key}: they belong to another server")),
        Err(why) => Err(format!("{key}: {why}")),
    }
}

impl PinStore for PostgresPins {
    fn read_pins(&self, server: &ServerSettings) -> Result<Option<ServerPins>, GatewayError> {
        let key = file_name(&server.name, &server.identity);
        match self.read(&key)? {
            Some((_, body)) => Ok(Some(parse(key, &body)?.pins)),
            None => Ok(None),
        }
    }

    fn change_pins(
        &self,
        server: &ServerSettings,
        change: &mut dyn FnMut(&mut ServerPins),
    ) -> Result<(), GatewayError> {
        let key = file_name(&server.name, &server.identity);
        for _ in 0..TRIES {
            let read = self.read(&key)?;
            let version = read.as_ref().map_or(0, |(version, _)| *version);
            let before = read.map(|(_, body)| parse(key.clone(), &body)).transpose()?.map(|own| own.pins);
            let mut pins = before.clone().unwrap_or_default();
            change(&mut pins);
            // Most starts change nothing, and write nothing.
            if before.as_ref() == Some(&pins)
                || self.write(&key, version, pins.to_text(&server.name, &server.identity))?
            {
                return Ok(());
            }
        }
        Err(contended())
    }
}
