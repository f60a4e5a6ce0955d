//! TLS of outgoing connections: rustls with ring.

use std::sync::Once;

/// Sets the process's cryptography provider, unless the host has set one.
pub(crate) fn ready() {
    static READY: Once = Once::new();
    READY.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
}
