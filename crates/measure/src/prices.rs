//! What tokens cost: dated price lists, read from TOML.
