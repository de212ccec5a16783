//! Chromium without a screen, driven by its DevTools protocol.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// With this set, a machine without Chromium fails the tests instead of leaving them out.
const REQUIRED: &str = "FARFIELD_REQUIRE_BROWSER";

/// One browser at a time: they draw on the cores.
static TURN: Mutex<()> = Mutex::new(());

/// A browser; ends when dropped.
pub struct Browser {
    _turn: MutexGuard<'static, ()>,
    child: Child,
    window: (u32, u32),
    address: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// With a small window, as software draws it; `None` where there is no Chromium.
    pub fn start() -> Option<Self> {
        Self::start_with_window(400, 300)
    }

    /// With a window of this size.
    pub fn start_with_window(width: u32, height: u32) -> Option<Self> {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let profile = tempfile::tempdir().unwrap();
        let started = names.iter().find_map(|name| {
            Command::new(name)
                .args([
                    "--headless=new",
                    "--no-sandbox",
                    "--use-angle=swiftshader",
                    "--enable-unsafe-swiftshader",
                ])
                .args(["--remote-debugging-port=0", "--hide-scrollbars", "--no-first-run"])
                .arg(format!("--window-size={width},{height}"))
                .args([
                    "--disable-background-networking",
                    "--disable-dev-shm-usage",
                    "--mute-audio",
                    "about:blank",
                ])
                .args([
                    "--disable-renderer-backgrounding",
                    "--disable-backgrounding-occluded-windows",
                ])
                .arg(format!("--user-data-dir={}", profile.path().display()))
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .ok()
        });
        let Some(mut child) = started else {
            assert!(
                std::env::var_os(REQUIRED).is_none(),
                "{REQUIRED} is set, but there is no Chromium"
            );
            eprintln!("left out: there is no Chromium");
            return None;
        };
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines
            .find_map(|line| Some(line.ok()?.strip_prefix("DevTools listening on ")?.to_owned()))
            .expect("Chromium says where it listens");
        // It goes on talking, and would wait for someone to listen.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self {
            _turn: turn,
            child,
            window: (width, height),
            address,
            _profile: profile,
        })
    }

    /// A new tab.
    pub fn open(&self, url: &str) -> Page {
        let (socket, _) = tungstenite::connect(&self.address).unwrap();
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(Duration::from_secs(600))).unwrap();
        }
        let mut page = Page {
            socket,
            session: String::new(),
            calls: 0,
            complaints: Vec::new(),
        };
        let target = page.call(
            "Target.createTarget",
            json!({ "url": "about:blank", "newWindow": true }),
        )["targetId"]
            .clone();
        let attached = page.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        page.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Runtime", "Log", "Page"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        // Keys reach it although other windows are open.
        page.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        let (width, height) = self.window;
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        page.call("Emulation.setDeviceMetricsOverride", size);
        page.call("Page.navigate", json!({ "url": url }));
        page
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A tab.
pub struct Page {
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    session: String,
    calls: u64,
    /// Errors on the console, and exceptions.
    pub complaints: Vec<String>,
}

impl Page {
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        self.socket.send(Message::text(message.to_string())).unwrap();
        loop {
            let Message::Text(text) = self.socket.read().unwrap_or_else(|error| panic!("{method}: {error}")) else {
                continue;
            };
            let answer: Value = serde_json::from_str(&text).unwrap();
            if answer["id"] == self.calls {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.overhear(&answer);
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

    /// The value of an expression; promises are waited for.
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
        // As long as it takes on a busy machine; a page that never comes there is stuck.
        while begin.elapsed() < Duration::from_secs(600) {
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

    /// Turns the mouse's wheel, downwards where positive.
    pub fn turn_wheel(&mut self, at: [f64; 2], by: f64) {
        let event = json!({ "type": "mouseWheel", "x": at[0], "y": at[1], "deltaX": 0, "deltaY": by });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Clicks twice.
    pub fn double_click(&mut self, at: [f64; 2]) {
        for count in 1..=2 {
            for kind in ["mousePressed", "mouseReleased"] {
                let event = json!({ "type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": count });
                self.call("Input.dispatchMouseEvent", event);
            }
        }
    }

    /// Moves fingers: each goes from its first place to its second.
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

    /// Has files that the page saves put into a folder.
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

    /// Closes the tab, so that it draws no more.
    pub fn close(mut self) {
        self.call("Page.close", json!({}));
    }

    /// What is on the screen, as a PNG file.
    pub fn screenshot(&mut self, path: &Path) {
        let data = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        std::fs::write(path, base64(data["data"].as_str().unwrap())).unwrap();
    }
}

/// The bytes of a text in base 64.
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
