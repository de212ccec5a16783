//! Chromium without a screen: started, driven by its DevTools protocol, ended.

use super::page::Page;
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

/// With this set, a machine without Chromium fails the tests instead of leaving them out.
const REQUIRED: &str = "FARFIELD_REQUIRE_BROWSER";

/// One browser at a time: they draw on the cores.
static TURN: Mutex<()> = Mutex::new(());

/// How long Chromium may take for anything it is asked for. On a busy machine it takes seconds.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Chromium has not answered within [`PATIENCE`]; what was asked for. Thrown, and caught by [`in_window`].
pub struct Hang(String);

impl Hang {
    /// Unwinds to [`in_window`], without the words of a panic.
    pub fn throw(doing: impl fmt::Display) -> ! {
        resume_unwind(Box::new(Self(doing.to_string())))
    }
}

/// Does a test in a browser with a small window, as software draws it.
pub fn in_browser(test: impl Fn(&Browser)) {
    in_window([400, 300], test);
}

/// Does a test in a browser with a window of this size; leaves it out where there is no Chromium.
///
/// A browser that hangs is ended, and the test is done once more in a fresh one. A second hang fails it.
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
        // Past the test's own output, which is not shown if it passes.
        let words = format!("Chromium hangs: {doing}. It was ended; once more with a fresh one.\n");
        let _ = std::io::stderr().write_all(words.as_bytes());
        attempt()
    });
    match outcome {
        Ok(Some(())) => {}
        Ok(None) => {
            assert!(
                std::env::var_os(REQUIRED).is_none(),
                "{REQUIRED} is set, but there is no Chromium"
            );
            eprintln!("left out: there is no Chromium");
        }
        Err(doing) => panic!("Chromium hangs a second time: {doing}"),
    }
}

/// A browser; ends when dropped.
pub struct Browser {
    child: Child,
    window: [u32; 2],
    address: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// `None` where there is no Chromium.
    fn start(window: [u32; 2]) -> Option<Self> {
        let profile = tempfile::tempdir().unwrap();
        let [width, height] = window;
        let start = |name: &&str| {
            let mut command = Command::new(name);
            command.args(["--headless=new", "--no-sandbox", "--hide-scrollbars", "--no-first-run"]);
            // WebGL by SwiftShader, and nothing else: its threads pass work on by yielding, so on a busy machine each
            // piece waits for its turn. Debian has the whole page drawn by it; then pages stood still for minutes.
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
            // It goes on talking, and would wait for someone to listen.
            for line in lines.map_while(Result::ok) {
                if let Some(address) = line.strip_prefix("DevTools listening on ") {
                    let _ = found.send(address.to_owned());
                }
            }
        });
        browser.address = match address.recv_timeout(PATIENCE) {
            Ok(address) => address,
            Err(mpsc::RecvTimeoutError::Timeout) => Hang::throw("it does not say where it listens"),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                panic!("Chromium has ended at once: {:?}", browser.child.wait())
            }
        };
        Some(browser)
    }

    /// A new tab.
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
