//! Counts of bytes and messages.

use crate::communicator::Message;

/// Bytes and messages that a rank exchanged with other ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exchanged {
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
}

impl Exchanged {
    /// Adds outgoing messages, and incoming messages given by sender and length.
    pub fn count(&mut self, outgoing: &[Message], expected: &[(usize, usize)]) {
        self.bytes_sent += outgoing.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        self.messages_sent += outgoing.len() as u64;
        self.bytes_received += expected.iter().map(|(_, bytes)| *bytes as u64).sum::<u64>();
        self.messages_received += expected.len() as u64;
    }
}
