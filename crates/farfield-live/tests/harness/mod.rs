//! Helpers that the tests share: short runs with a live page, a viewer without a browser, and a browser.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod browser;
pub mod page;
pub mod viewer;

use farfield_live::recording::{Recording, show_file};
use farfield_live::{Access, Hub, Live, Manner, Server};
use farfield_sim::case::{BuiltIn, Override, read};
use farfield_sim::run::{Control, Outcome, Run, Silent};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Prepares a run of a built-in case with changes.
pub fn run(name: &str, changes: &[&str], folder: &Path) -> Run {
    let changes: Vec<Override> = changes.iter().map(|text| Override::parse(text).unwrap()).collect();
    let case = read(BuiltIn::find(name).unwrap().text, name, &changes).unwrap();
    Run::new(case, folder, farfield::tuning::MachineProfile::default()).unwrap()
}

/// Two rings with few elements and 2000 tracers. Only diagnostics and checkpoints are written.
pub const RINGS: [&str; 6] = [
    "vortex.around=24",
    "vortex.layers=0",
    "tracers.count=2000",
    "output.views=[]",
    "output.vtk=false",
    "output.npz=false",
];

/// A server on a free port.
pub fn server(hub: &Arc<Hub>) -> Server {
    Server::start(loopback(0), Access::default(), hub.clone()).unwrap()
}

/// A loopback address with this port.
pub fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

/// A run on its own thread, shown through a hub.
pub struct Shown {
    pub hub: Arc<Hub>,
    pub control: Control,
    thread: Option<JoinHandle<Outcome>>,
}

impl Shown {
    pub fn start(run: Run, manner: Manner) -> Self {
        Self::start_with(run, manner, Control::default())
    }

    pub fn start_with(run: Run, manner: Manner, control: Control) -> Self {
        let hub = Arc::new(Hub::default());
        let thread = {
            let (hub, control) = (hub.clone(), control.clone());
            std::thread::spawn(move || run.go(&control, &mut Live::new(hub, manner, &mut Silent)).unwrap())
        };
        Self {
            hub,
            control,
            thread: Some(thread),
        }
    }

    /// Waits for the end of the run.
    pub fn end(mut self) -> Outcome {
        self.thread.take().unwrap().join().unwrap()
    }

    /// Stops the run and waits for its end.
    pub fn stop(self) -> Outcome {
        self.control.stop.store(true, Ordering::Relaxed);
        self.end()
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.control.stop.store(true, Ordering::Relaxed);
        // The folder may be removed only after the run has ended; its outcome does not matter.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Shows a file.
pub fn shown_file(path: &Path) -> Server {
    let hub = Arc::new(Hub::default());
    show_file(path, &hub).unwrap();
    server(&hub)
}

/// The folder of a run that is shown and watched for new files until this is dropped.
pub struct Followed {
    pub server: Server,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Followed {
    pub fn start(folder: &Path) -> Self {
        let (hub, stop) = (Arc::new(Hub::default()), Arc::new(AtomicBool::new(false)));
        let recording = Arc::new(Recording::open(folder).unwrap());
        let server = server(&hub);
        let thread = {
            let stop = stop.clone();
            std::thread::spawn(move || recording.follow(&hub, &stop))
        };
        Self {
            server,
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
