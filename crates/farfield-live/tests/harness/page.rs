//! A tab of a browser: evaluates expressions, and sends keys, mouse and touch events.

use super::browser::{Hang, PATIENCE};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

type Socket = WebSocket<TcpStream>;

/// The time a condition may take to become true. Long enough for a busy machine; beyond it the page is stuck.
const STUCK: Duration = Duration::from_secs(300);

/// A tab of a browser.
pub struct Page {
    socket: Socket,
    session: String,
    calls: u64,
    /// Errors on the console and exceptions so far.
    complaints: Vec<String>,
}

impl Page {
    /// Opens a tab of the browser whose DevTools address is `devtools`.
    pub fn open(devtools: &str, [width, height]: [u32; 2], url: &str) -> Self {
        let mut page = Self {
            socket: connect(devtools),
            session: String::new(),
            calls: 0,
            complaints: Vec::new(),
        };
        let blank = json!({ "url": "about:blank", "newWindow": true });
        let target = page.call("Target.createTarget", blank)["targetId"].clone();
        let attached = page.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        page.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Runtime", "Log", "Page"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        // So that keys reach it although other windows are open.
        page.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        page.call("Emulation.setDeviceMetricsOverride", size);
        page.call("Page.navigate", json!({ "url": url }));
        page
    }

    /// Sends a command and returns its result.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        let end = Instant::now() + PATIENCE;
        self.socket.send(Message::text(message.to_string())).unwrap();
        loop {
            let answer = self.read(end, &message);
            if answer["id"] == self.calls {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.overhear(&answer);
        }
    }

    /// The next message, which must come before `end`; `asked` is the command that waits for its answer.
    fn read(&mut self, end: Instant, asked: &Value) -> Value {
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let asked: String = asked.to_string().chars().take(300).collect();
                Hang::throw(format!("no answer in {} s to {asked}", PATIENCE.as_secs()));
            }
            self.socket.get_ref().set_read_timeout(Some(left)).unwrap();
            match self.socket.read() {
                Ok(Message::Text(text)) => return serde_json::from_str(&text).unwrap(),
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if is_late(&error) => {}
                Err(error) => panic!("{error}: {asked}"),
            }
        }
    }

    fn overhear(&mut self, event: &Value) {
        let parameters = &event["params"];
        let complaint = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => Some(parameters["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") if parameters["type"] == "error" => Some(parameters["args"].to_string()),
            Some("Log.entryAdded") if parameters["entry"]["level"] == "error" => {
                Some(parameters["entry"]["text"].to_string())
            }
            _ => None,
        };
        self.complaints.extend(complaint);
    }

    /// Evaluates an expression; waits for a promise to resolve.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn wait_for(&mut self, expression: &str) {
        let begin = Instant::now();
        while begin.elapsed() < STUCK {
            if self.value(&format!("Boolean({expression})")) == true {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let state = self.value("document.body.innerText");
        panic!(
            "never true: {expression}; the page says {state}; complaints: {:?}",
            self.complaints
        );
    }

    /// Fails if there was an error on the console, or an exception.
    pub fn expect_no_complaints(&self) {
        assert!(self.complaints.is_empty(), "{:?}", self.complaints);
    }

    /// Waits until the page shows a frame.
    pub fn wait_for_frame(&mut self) {
        self.wait_for("globalThis.farfield && farfield.state.frame && farfield.state.drawings > 0");
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        self.call(
            "Input.dispatchKeyEvent",
            json!({ "type": "keyDown", "key": key, "text": text }),
        );
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
    }

    /// Turns the mouse wheel; downwards if `by` is positive.
    pub fn turn_wheel(&mut self, at: [f64; 2], by: f64) {
        let event = json!({ "type": "mouseWheel", "x": at[0], "y": at[1], "deltaX": 0, "deltaY": by });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Double-clicks.
    pub fn double_click(&mut self, at: [f64; 2]) {
        for count in 1..=2 {
            for kind in ["mousePressed", "mouseReleased"] {
                let event = json!({ "type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": count });
                self.call("Input.dispatchMouseEvent", event);
            }
        }
    }

    /// Moves fingers, each from its first position to its second.
    pub fn touch(&mut self, fingers: &[[[f64; 2]; 2]]) {
        let points = |share: f64| -> Vec<Value> {
            let place = |[from, to]: &[[f64; 2]; 2]| [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]));
            let point = |(id, [x, y]): (usize, [f64; 2])| json!({ "id": id, "x": x, "y": y });
            fingers.iter().map(place).enumerate().map(point).collect()
        };
        let event = |kind: &str, points: Vec<Value>| json!({ "type": kind, "touchPoints": points });
        self.call("Input.dispatchTouchEvent", event("touchStart", points(0.0)));
        for k in 1..=4 {
            self.call(
                "Input.dispatchTouchEvent",
                event("touchMove", points(f64::from(k) / 4.0)),
            );
        }
        self.call("Input.dispatchTouchEvent", event("touchEnd", Vec::new()));
    }

    /// Sets the folder for files that the page saves.
    pub fn save_into(&mut self, folder: &Path) {
        let parameters = json!({ "behavior": "allow", "downloadPath": folder.display().to_string() });
        self.call("Page.setDownloadBehavior", parameters);
    }

    /// Drags the mouse.
    pub fn drag(&mut self, from: [f64; 2], to: [f64; 2]) {
        let event = |kind: &str, at: [f64; 2], buttons: u8| json!({ "type": kind, "x": at[0], "y": at[1], "button": "left", "buttons": buttons, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", event("mousePressed", from, 1));
        for k in 1..=4 {
            let share = f64::from(k) / 4.0;
            let at = [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]));
            self.call("Input.dispatchMouseEvent", event("mouseMoved", at, 1));
        }
        self.call("Input.dispatchMouseEvent", event("mouseReleased", to, 0));
    }

    /// Closes the tab, so that it stops drawing.
    pub fn close(mut self) {
        self.call("Page.close", json!({}));
    }

    /// Saves a screenshot as a PNG file.
    pub fn screenshot(&mut self, path: &Path) {
        let data = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        std::fs::write(path, base64(data["data"].as_str().unwrap())).unwrap();
    }
}

/// Connects to the DevTools of a browser.
fn connect(devtools: &str) -> Socket {
    let place = devtools.strip_prefix("ws://").and_then(|rest| rest.split('/').next());
    let stream = TcpStream::connect(place.expect("a DevTools address that starts with ws://")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    match tungstenite::client(devtools, stream) {
        Ok((socket, _)) => socket,
        Err(error) => Hang::throw(format!("no handshake at {devtools}: {error}")),
    }
}

fn is_late(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Decodes base64.
pub fn base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for four in text.as_bytes().chunks(4) {
        let digits: Vec<u8> = four.iter().copied().filter(|byte| *byte != b'=').map(value).collect();
        let number = digits.iter().fold(0_u32, |sum, digit| sum << 6 | u32::from(*digit)) << (6 * (4 - digits.len()));
        bytes.extend(&number.to_be_bytes()[1..digits.len()]);
    }
    bytes
}
