//! A viewer without a browser, for measurements: receives frames for some seconds, or until the program ends, and
//! prints how many came.
//!
//! ```sh
//! farfield view leapfrog --set size=paper --set time.end=10 --no-open --port 7900 &
//! cargo run --release -p farfield-live --example count_frames -- 7900 20
//! ```

use serde_json::{Value, json};
use std::time::Instant;
use tungstenite::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let port: u16 = arguments.next().as_deref().unwrap_or("7878").parse()?;
    let seconds: f64 = arguments.next().as_deref().unwrap_or("10").parse()?;
    let value = arguments.next().unwrap_or_default();
    let (mut socket, _) = tungstenite::connect(format!("ws://127.0.0.1:{port}/socket"))?;
    let say = |message: Value| Message::text(message.to_string());
    socket.send(say(json!({
        "do": "want", "points": 1u64 << 32, "value": value, "elements": false, "volume": "", "voxels": 0
    })))?;
    // As the page does: one frame is in transit while another is drawn.
    for _ in 0..2 {
        socket.send(say(json!({ "do": "ready" })))?;
    }
    let mut count = Count::default();
    // The connection ends when the program ends.
    while let Ok(message) = socket.read() {
        match message {
            Message::Binary(message) => {
                count.take(&message)?;
                if count.elapsed() >= seconds || socket.send(say(json!({ "do": "ready" }))).is_err() {
                    break;
                }
            }
            Message::Text(text) => {
                let message: Value = serde_json::from_str(&text)?;
                if message["type"] == "status" {
                    count.status = message;
                }
            }
            _ => {}
        }
    }
    println!("{}", count.report());
    Ok(())
}

/// Counts of everything after the first frame.
#[derive(Default)]
struct Count {
    /// The arrival times and steps of the first and the last frame.
    first: Option<(Instant, u64)>,
    last: Option<(Instant, u64)>,
    frames: u64,
    bytes: usize,
    points: u64,
    status: Value,
}

impl Count {
    fn take(&mut self, message: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
        let length = u32::from_le_bytes(message[4..8].try_into()?) as usize;
        let header: Value = serde_json::from_slice(&message[8..8 + length])?;
        let now = (Instant::now(), header["step"].as_u64().unwrap_or(0));
        self.points = header["parts"][0]["count"].as_u64().unwrap_or(0);
        if self.first.is_none() {
            self.first = Some(now);
        } else {
            self.frames += 1;
            self.bytes += message.len();
        }
        self.last = Some(now);
        Ok(())
    }

    fn elapsed(&self) -> f64 {
        let span = self.first.zip(self.last);
        span.map_or(0.0, |(first, last)| (last.0 - first.0).as_secs_f64())
    }

    fn report(&self) -> Value {
        let steps = self.first.zip(self.last).map_or(0, |(first, last)| last.1 - first.1);
        let elapsed = self.elapsed();
        json!({
            "frames": self.frames,
            "frames_per_second": self.frames as f64 / elapsed,
            "steps_per_second": steps as f64 / elapsed,
            "points": self.points,
            "megabytes_per_second": 1e-6 * self.bytes as f64 / elapsed,
            "run": self.status["seconds"],
        })
    }
}
