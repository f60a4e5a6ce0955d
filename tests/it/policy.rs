//! Layer 3 from outside: the corpus of calls, properties, the differential test against bash.
mod cases;
mod corpus;
#[cfg(unix)]
mod differential;
mod excel;
#[cfg(feature = "store")]
mod full;
mod properties;
mod rows;
#[cfg(feature = "store")]
mod store;
