//! How tools were used: calls read from logs and transcripts of any wire.
