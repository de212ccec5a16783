//! A viewer without a browser: sends the messages of a page, and decodes frames.

use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tungstenite::{Message, WebSocket};

/// A received frame.
#[derive(Debug, Clone)]
pub struct Frame {
    pub header: Value,
    pub bytes: Vec<u8>,
}

impl Frame {
    pub fn step(&self) -> u64 {
        self.header["step"].as_u64().unwrap()
    }

    pub fn count(&self) -> usize {
        self.header["parts"][0]["count"].as_u64().unwrap() as usize
    }

    /// The points of the first part, decoded from 16 bits.
    pub fn points(&self) -> Vec<[f64; 3]> {
        let part = &self.header["parts"][0];
        let number = |key: &str, axis: usize| part[key][axis].as_f64().unwrap();
        let record = part["record"].as_u64().unwrap() as usize;
        let points = self.bytes.chunks_exact(record).take(self.count());
        points
            .map(|bytes| {
                std::array::from_fn(|axis| {
                    let share = f64::from(u16::from_le_bytes([bytes[2 * axis], bytes[2 * axis + 1]])) / 65535.0;
                    number("low", axis) + share * (number("high", axis) - number("low", axis))
                })
            })
            .collect()
    }
}

/// A received message.
pub enum Heard {
    Text(Value),
    Frame(Frame),
}

/// A viewer without a browser.
pub struct Viewer {
    pub socket: WebSocket<TcpStream>,
}

impl Viewer {
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(600))).unwrap();
        let (socket, _) = tungstenite::client(format!("ws://{address}/socket"), stream).unwrap();
        Self { socket }
    }

    pub fn say(&mut self, message: Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    /// Requests at most `points` points, coloured by `value`.
    pub fn want(&mut self, points: usize, value: &str) {
        self.say(
            json!({ "do": "want", "points": points, "value": value, "elements": false, "volume": "", "voxels": 0 }),
        );
    }

    pub fn ready(&mut self) {
        self.say(json!({ "do": "ready" }));
    }

    pub fn hear(&mut self) -> Result<Heard, tungstenite::Error> {
        loop {
            match self.socket.read()? {
                Message::Text(text) => return Ok(Heard::Text(serde_json::from_str(&text).unwrap())),
                Message::Binary(bytes) => {
                    assert_eq!(&bytes[..4], b"FFL1");
                    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
                    return Ok(Heard::Frame(Frame {
                        header: serde_json::from_slice(&bytes[8..8 + length]).unwrap(),
                        bytes: bytes[8 + length..].to_vec(),
                    }));
                }
                _ => {}
            }
        }
    }

    /// The next frame; other messages are dropped.
    pub fn frame(&mut self) -> Frame {
        loop {
            if let Heard::Frame(frame) = self.hear().unwrap() {
                return frame;
            }
        }
    }

    /// The next text message of a type; other messages are dropped.
    pub fn text(&mut self, kind: &str) -> Value {
        loop {
            match self.hear().unwrap() {
                Heard::Text(text) if text["type"] == kind => return text,
                _ => {}
            }
        }
    }
}
