//! A viewer that draws nothing: takes frames for some seconds and says how many came, for measurements without a browser.
//!
//! ```sh
//! farfield view leapfrog --set size=paper --set time.end=10 --no-open --port 7900 &
//! cargo run --release -p farfield-live --example count_frames -- 7900 20
//! ```

use serde_json::{Value, json};
use std::time::{Duration, Instant};
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
    // As the page does: one frame travels while another is looked at.
    for _ in 0..2 {
        socket.send(say(json!({ "do": "ready" })))?;
    }
    let (mut begin, mut frames, mut bytes, mut status) = (None, 0_u64, 0_usize, Value::Null);
    let mut first = 0;
    loop {
        match socket.read()? {
            Message::Binary(message) => {
                socket.send(say(json!({ "do": "ready" })))?;
                let length = u32::from_le_bytes(message[4..8].try_into()?) as usize;
                let header: Value = serde_json::from_slice(&message[8..8 + length])?;
                let step = header["step"].as_u64().unwrap_or(0);
                let points = header["parts"][0]["count"].as_u64().unwrap_or(0);
                let Some(begin) = begin else {
                    // Counting starts with the first frame.
                    (begin, first) = (Some(Instant::now()), step);
                    continue;
                };
                (frames, bytes) = (frames + 1, bytes + message.len());
                let elapsed: Duration = Instant::elapsed(&begin);
                if elapsed.as_secs_f64() >= seconds {
                    let rate = frames as f64 / elapsed.as_secs_f64();
                    println!(
                        "{}",
                        json!({
                            "frames_per_second": rate,
                            "steps_per_second": (step - first) as f64 / elapsed.as_secs_f64(),
                            "points": points,
                            "megabytes_per_second": 1e-6 * bytes as f64 / elapsed.as_secs_f64(),
                            "run": status["seconds"],
                        })
                    );
                    return Ok(());
                }
            }
            Message::Text(text) => {
                let message: Value = serde_json::from_str(&text)?;
                if message["type"] == "status" {
                    status = message;
                }
            }
            _ => {}
        }
    }
}
