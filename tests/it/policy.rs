//! Layer 3 from outside: the corpus of calls, properties, the differential test against bash.
mod cases;
mod corpus;
#[cfg(unix)]
mod differential;
#[cfg(all(unix, feature = "cli"))]
mod disk;
mod excel;
mod floor;
#[cfg(feature = "store")]
mod full;
mod globs;
mod hosts;
mod links;
mod paths;
mod properties;
mod rows;
#[cfg(feature = "store")]
mod store;
mod unpack;
