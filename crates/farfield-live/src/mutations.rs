//! Damaged messages from viewers may be refused but must not cause a panic.

use crate::command::Command;
use crate::http;
use farfield_damage::{feed_bytes, feed_text};

const ROUNDS: u64 = 1000;

#[test]
fn damaged_requests_do_not_panic() {
    let seeds = [
        b"GET /?token=abc HTTP/1.1\r\nHost: localhost:7878\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
          Sec-WebSocket-Key: dGhlIHNhbXBsZQ==\r\nOrigin: http://localhost:7878\r\n\r\n"
            .to_vec(),
        b"GET /page.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_vec(),
    ];
    feed_bytes("requests", ROUNDS, &seeds, |bytes| {
        http::parse(bytes).is_ok_and(|request| request.is_some())
    });
}

#[test]
fn damaged_commands_do_not_panic() {
    let seeds = [
        r#"{"do":"ready"}"#,
        r#"{"do":"step","count":3}"#,
        r#"{"do":"want","points":1000,"value":"speed","elements":true,"volume":"","voxels":0}"#,
        r#"{"do":"change","key":"time.step","value":"0.01"}"#,
        r#"{"do":"drop","at":[0.0,1.0,2.0],"radius":0.5,"count":100}"#,
        r#"{"do":"limit","rate":5.0}"#,
    ];
    feed_text("commands", ROUNDS, &seeds, |text| Command::parse(text).is_ok());
}
