//! What was sent and received, counted.

use crate::communicator::Message;

/// What a rank sent to others and received from them, without what it kept for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
}

impl Traffic {
    /// Adds messages to other ranks, and the senders and lengths of theirs.
    pub fn count(&mut self, outgoing: &[Message], expected: &[(usize, usize)]) {
        self.bytes_sent += outgoing.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        self.messages_sent += outgoing.len() as u64;
        self.bytes_received += expected.iter().map(|(_, bytes)| *bytes as u64).sum::<u64>();
        self.messages_received += expected.len() as u64;
    }
}
