//! TLS of outgoing connections: rustls with ring.

use std::sync::Once;

/// Sets the provider of cryptography for this process, once. One that the host has set stays.
pub(crate) fn ready() {
    static READY: Once = Once::new();
    READY.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
}
