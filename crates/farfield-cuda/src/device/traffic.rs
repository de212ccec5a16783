//! The traffic between the host and a device.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of bytes copied so far.
#[derive(Debug, Default)]
pub struct Transfers {
    sent: AtomicU64,
    fetched: AtomicU64,
}

impl Transfers {
    /// Bytes from the host to the device.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Bytes from the device to the host.
    pub fn fetched(&self) -> u64 {
        self.fetched.load(Ordering::Relaxed)
    }

    pub(super) fn add_sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn add_fetched(&self, bytes: usize) {
        self.fetched.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
