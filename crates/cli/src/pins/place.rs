//! Where the pins of a gateway are: in files, or in the database of several gateways.

use std::path::Path;
#[cfg(feature = "postgres")]
use std::path::PathBuf;

use super::super::output::Failure;
use super::super::postgres;
use super::store::{PinFile, PinFiles};
use toolfold_gateway::pins::ServerPins;
#[cfg(feature = "postgres")]
use toolfold_gateway::postgres::PostgresPins;

/// The pins of a gateway's tenant.
pub(super) enum PinPlace {
    Files(PinFiles),
    #[cfg(feature = "postgres")]
    Shared(PostgresPins),
}

impl PinPlace {
    /// The pins in a database.
    #[cfg(feature = "postgres")]
    pub(super) fn shared(address: &str) -> Result<Self, Failure> {
        postgres::open_pins(address).map(Self::Shared)
    }

    #[cfg(not(feature = "postgres"))]
    pub(super) fn shared(address: &str) -> Result<Self, Failure> {
        Err(postgres::absent(address))
    }

    /// The pins of every server, with the reason for each that cannot be used.
    pub(super) fn all(&self) -> Result<Vec<Result<PinFile, String>>, String> {
        match self {
            Self::Files(files) => files.all(),
            #[cfg(feature = "postgres")]
            Self::Shared(shared) => {
                let of = |own: toolfold_gateway::postgres::StoredPins| PinFile {
                    path: PathBuf::from(own.key),
                    server: own.server,
                    identity: own.identity,
                    pins: own.pins,
                };
                Ok(shared.all()?.into_iter().map(|own| own.map(of)).collect())
            }
        }
    }

    /// Changes the pins of a server while no other process changes them.
    pub(super) fn change(&self, path: &Path, change: &dyn Fn(&mut ServerPins)) -> Result<(), String> {
        match self {
            Self::Files(files) => files.change_file(path, change),
            #[cfg(feature = "postgres")]
            Self::Shared(shared) => Ok(shared.change_stored(&path.to_string_lossy(), change)?),
        }
    }
}
