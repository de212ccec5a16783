//! The connection of one viewer: one thread receives its commands, another sends it what is new.

use crate::command::{Command, LONGEST};
use crate::frame::Encoder;
use crate::hub::{Cursor, Hub, Next};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

/// Sent before every frame.
const COMING: &str = r#"{"type":"coming"}"#;

/// Reads from the stream and discards writes: the protocol's own answers must not be written while the other thread
/// may be in the middle of a message. Browsers send no pings, and after their close message the stream is closed.
struct Listening<'a>(&'a TcpStream);

impl Read for Listening<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        Read::read(&mut self.0, into)
    }
}

impl Write for Listening<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Serves a viewer until it or the hub ends.
pub fn serve(stream: &TcpStream, hub: &Arc<Hub>) {
    let viewer = hub.enter();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            send(stream, hub, viewer);
            // Ends the thread that listens.
            let _ = stream.shutdown(Shutdown::Both);
        });
        listen(stream, hub, viewer);
        hub.leave(viewer);
        let _ = stream.shutdown(Shutdown::Both);
    });
}

/// Reads commands until the viewer leaves or sends something that is not a command.
fn listen(stream: &TcpStream, hub: &Hub, viewer: u64) {
    let _ = stream.set_read_timeout(None);
    let limits = WebSocketConfig::default()
        .max_message_size(Some(LONGEST))
        .max_frame_size(Some(LONGEST))
        .read_buffer_size(LONGEST);
    let mut socket = WebSocket::from_raw_socket(Listening(stream), Role::Server, Some(limits));
    loop {
        let command = match socket.read() {
            Ok(Message::Text(text)) => Command::parse(&text),
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => continue,
            Ok(Message::Binary(_) | Message::Close(_)) | Err(_) => return,
        };
        match command {
            Ok(command) => hub.hear(viewer, command),
            Err(_) => return,
        }
    }
}

/// Sends the viewer what is new, as soon as it is ready.
fn send(stream: &TcpStream, hub: &Hub, viewer: u64) {
    let limits = WebSocketConfig::default().write_buffer_size(0);
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, Some(limits));
    let (mut cursor, mut encoder) = (Cursor::default(), Encoder::default());
    loop {
        let message = match hub.next(viewer, &mut cursor) {
            Next::Text(text) => Message::text(text),
            Next::Frame(frame, want) => Message::binary(frame.message(&want)),
            Next::Moment(moments, number, want) => match moments.frame(number, &want, &mut encoder) {
                Ok(frame) => Message::binary(frame.message(&want)),
                Err(why) => {
                    hub.refuse(viewer, why);
                    continue;
                }
            },
            Next::End => return,
        };
        // The short text arrives at once. The page measures the time until the frame is complete, and requests fewer
        // points if that takes long.
        if message.is_binary() && socket.send(Message::text(COMING)).is_err() {
            return;
        }
        if socket.send(message).is_err() {
            return;
        }
    }
}
