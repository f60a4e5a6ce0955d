//! An experiment: two arms, chosen by the conversation's id.

use sha2::{Digest, Sha256};

use crate::profile::Arm;

/// Chooses one of two arms for a conversation by its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Variant names with their arms: the control first, the treatment second.
    pub arms: [(String, Arm); 2],
    /// The share of conversations that get the treatment, from 0 to 1.
    pub ratio: f64,
}

impl Experiment {
    /// The variant of a conversation. Stable, because it depends only on the id.
    #[must_use]
    pub(crate) fn variant(&self, conversation: &str) -> (&str, Arm) {
        let digest = Sha256::digest(conversation.as_bytes());
        let head = digest.iter().take(4).fold(0_u32, |sum, byte| (sum << 8) | u32::from(*byte));
        let [control, treatment] = &self.arms;
        let (name, arm) = if f64::from(head) < self.ratio * 4_294_967_296.0 { treatment } else { control };
        (name, *arm)
    }
}
