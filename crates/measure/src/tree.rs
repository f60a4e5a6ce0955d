//! `tree`: where the tokens of a tool list are.
