//! Headless Chromium, driven by its DevTools protocol.

use super::page::Page;
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

/// If this variable is set, the tests fail without Chromium instead of being skipped.
const REQUIRED: &str = "FARFIELD_REQUIRE_BROWSER";

/// One browser at a time: they draw with the CPU.
static TURN: Mutex<()> = Mutex::new(());

/// The time Chromium may take for any request. On a busy machine it takes seconds.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Chromium did not answer a request within [`PATIENCE`]. Thrown, and caught by [`in_window`].
pub struct Hang(String);

impl Hang {
    /// Unwinds to [`in_window`] without printing the message of a panic.
    pub fn throw(doing: impl fmt::Display) -> ! {
        resume_unwind(Box::new(Self(doing.to_string())))
    }
}

/// Runs a test in a browser with a small window, because drawing is done in software.
pub fn in_browser(test: impl Fn(&Browser)) {
    in_window([400, 300], test);
}

/// Runs a test in a browser with a window of this size; skips it if Chromium is not installed.
///
/// If the browser hangs, it is killed and the test is repeated in a new one. A second hang fails the test.
pub fn in_window(size: [u32; 2], test: impl Fn(&Browser)) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let attempt = || {
        let attempt = catch_unwind(AssertUnwindSafe(|| Browser::start(size).map(|browser| test(&browser))));
        attempt.map_err(|cause| match cause.downcast::<Hang>() {
            Ok(hang) => hang.0,
            Err(other) => resume_unwind(other),
        })
    };
    let outcome = attempt().or_else(|doing| {
        // Written directly, because the captured output of a test is not shown if it passes.
        let words = format!("Chromium hangs: {doing}. It was killed; the test is repeated with a new one.\n");
        let _ = std::io::stderr().write_all(words.as_bytes());
        attempt()
    });
    match outcome {
        Ok(Some(())) => {}
        Ok(None) => {
            assert!(
                std::env::var_os(REQUIRED).is_none(),
                "{REQUIRED} is set, but Chromium is not installed"
            );
            eprintln!("skipped: Chromium is not installed");
        }
        Err(doing) => panic!("Chromium hangs a second time: {doing}"),
    }
}

/// A browser, killed when dropped.
pub struct Browser {
    child: Child,
    window: [u32; 2],
    address: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts Chromium; `None` if it is not installed.
    fn start(window: [u32; 2]) -> Option<Self> {
        let profile = tempfile::tempdir().unwrap();
        let [width, height] = window;
        let start = |name: &&str| {
            let mut command = Command::new(name);
            command.args(["--headless=new", "--no-sandbox", "--hide-scrollbars", "--no-first-run"]);
            // SwiftShader only for WebGL. Its threads hand over work by yielding, so that on a busy machine each
            // piece of work waits. Debian's default is to draw the whole page with it, and pages then stand still for
            // minutes.
            command.args(["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]);
            command.args(["--disable-gpu-compositing", "--disable-gpu-rasterization"]);
            command.args([
                "--disable-renderer-backgrounding",
                "--disable-backgrounding-occluded-windows",
            ]);
            command.args([
                "--disable-background-networking",
                "--disable-dev-shm-usage",
                "--mute-audio",
            ]);
            command.arg(format!("--window-size={width},{height}"));
            command.arg(format!("--user-data-dir={}", profile.path().display()));
            command.args(["--remote-debugging-port=0", "about:blank"]);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().ok()
        };
        let mut child = ["chromium", "chromium-browser", "google-chrome"]
            .iter()
            .find_map(start)?;
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut browser = Self {
            child,
            window,
            address: String::new(),
            _profile: profile,
        };
        let (found, address) = mpsc::channel();
        std::thread::spawn(move || {
            // Chromium keeps writing, and would block if the pipe were not read.
            for line in lines.map_while(Result::ok) {
                if let Some(address) = line.strip_prefix("DevTools listening on ") {
                    let _ = found.send(address.to_owned());
                }
            }
        });
        browser.address = match address.recv_timeout(PATIENCE) {
            Ok(address) => address,
            Err(mpsc::RecvTimeoutError::Timeout) => Hang::throw("it did not print its DevTools address"),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                panic!("Chromium exited at once: {:?}", browser.child.wait())
            }
        };
        Some(browser)
    }

    /// Opens a new tab.
    pub fn open(&self, url: &str) -> Page {
        Page::open(&self.address, self.window, url)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
