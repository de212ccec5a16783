//! `farfield view`, and the page of `farfield run --live`.
//!
//! A case is run and shown, a folder is shown and followed while it grows, a file is shown.

use crate::args::{LiveArgs, ViewArgs};
use crate::failure::Failure;
use crate::print;
use crate::run::progress::Watcher;
use crate::run::{list, prepare, report, stop_on_signal};
use farfield_live::recording::{Recording, show_file};
use farfield_live::{Access, Hub, Live, Manner, Server};
use farfield_sim::run::{Control, Observer, Outcome, Run};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The port that is tried first.
const PORT: u16 = 7878;

/// `farfield view`.
pub fn run(args: &ViewArgs) -> Result<String, Failure> {
    let Some(what) = &args.run.case else {
        return Ok(list());
    };
    let path = Path::new(what);
    if path.is_dir() || (path.is_file() && !what.ends_with(".toml")) {
        look_at(path, &args.run.watch.page)
    } else {
        watch_case(what, args)
    }
}

/// Runs a case and shows it until Ctrl-C, also after its end.
fn watch_case(name: &str, args: &ViewArgs) -> Result<String, Failure> {
    let watch = &args.run.watch;
    let run = prepare(name, &args.run)?;
    let (case, folder) = (run.case().clone(), run.folder().path().to_owned());
    let mut watcher = Watcher::new(watch.quiet);
    watcher.start(&run);
    let control = Control {
        stop: stop_on_signal()?,
        most_steps: watch.steps,
    };
    let page = Page::open(&watch.page)?;
    let outcome = page.watch(run, &control, &mut watcher, page.manner(true))?;
    watcher.end();
    if outcome.finished {
        print::progress("finished; the page shows the last state until Ctrl-C");
        wait_for(&control.stop);
    }
    report(&case, &folder, &outcome, watch.json)
}

/// Shows a folder or a file until Ctrl-C.
fn look_at(path: &Path, args: &LiveArgs) -> Result<String, Failure> {
    let stop = stop_on_signal()?;
    if path.is_dir() {
        let recording = Arc::new(Recording::open(path)?);
        let page = Page::open(args)?;
        recording.follow(&page.hub, &stop);
    } else {
        let hub = Arc::new(Hub::default());
        show_file(path, &hub)?;
        let _page = Page::of(hub, args)?;
        wait_for(&stop);
    }
    Ok(String::new())
}

fn wait_for(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A page that is served until this is dropped.
pub struct Page {
    hub: Arc<Hub>,
    sync: bool,
    _server: Server,
}

impl Page {
    /// Serves a page, prints its address, and opens a browser.
    pub fn open(args: &LiveArgs) -> Result<Self, Failure> {
        Self::of(Arc::new(Hub::default()), args)
    }

    fn of(hub: Arc<Hub>, args: &LiveArgs) -> Result<Self, Failure> {
        let (ip, access) = match args.listen {
            Some(ip) => (ip, Access::with_token()?),
            None => (IpAddr::V4(Ipv4Addr::LOCALHOST), Access::default()),
        };
        let start = |port| Server::start(SocketAddr::new(ip, port), access.clone(), hub.clone());
        let server = match args.port {
            Some(port) => start(port)?,
            None => start(PORT).or_else(|_| start(0))?,
        };
        let url = server.url();
        print::progress(&format!("watch it at {url}"));
        if !args.no_open {
            open_browser(&url);
        }
        Ok(Self {
            hub,
            sync: args.sync,
            _server: server,
        })
    }

    /// How to show a run; `stay` keeps its last state on the page after its end.
    pub fn manner(&self, stay: bool) -> Manner {
        Manner { sync: self.sync, stay }
    }

    /// Runs a simulation and shows it on the page.
    pub fn watch(
        &self,
        run: Run,
        control: &Control,
        other: &mut dyn Observer,
        manner: Manner,
    ) -> Result<Outcome, Failure> {
        let mut live = Live::new(self.hub.clone(), manner, other);
        Ok(run.go(control, &mut live)?)
    }
}

/// Opens the address in a browser if this machine has a display.
fn open_browser(url: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else if ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some())
    {
        "xdg-open"
    } else {
        return;
    };
    let mut command = Command::new(program);
    // Without a browser, the user can open the printed address.
    let started = command
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Ok(mut child) = started {
        std::thread::spawn(move || child.wait());
    }
}

impl From<farfield_live::Error> for Failure {
    fn from(error: farfield_live::Error) -> Self {
        Failure::data(error)
    }
}
