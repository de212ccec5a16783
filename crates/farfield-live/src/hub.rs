//! The hub between a run, or a recording, and its viewers. Nothing is queued for viewers: the hub holds only the
//! newest data, and each viewer takes what is new to it when it is ready.

use crate::command::Command;
use crate::frame::{Frame, Want};
use crate::recording::Moments;
use crate::rows::{Place, Rows};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most commands that may wait for the end of a step.
const MOST_TASKS: usize = 64;
/// The shortest time between two status messages to a viewer, and the longest wait of a run before it checks again.
const PAUSE: Duration = Duration::from_millis(50);
/// A run that waits for its viewers ignores a viewer that has been silent for this long.
const PATIENCE: Duration = Duration::from_secs(10);

/// The hub between a run and its viewers.
#[derive(Default)]
pub struct Hub {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The description, which rarely changes: title, columns, changeable keys.
    about: Value,
    about_version: u64,
    /// The status, which changes at every step.
    status: Value,
    status_version: u64,
    rows: Rows,
    frame: Option<Arc<Frame>>,
    frames: u64,
    /// The number of states of the run so far.
    moment: u64,
    /// The number of the state that the newest frame shows.
    frame_of: u64,
    /// Recorded moments, after a run or instead of one.
    moments: Option<Arc<dyn Moments>>,
    moments_version: u64,
    viewers: BTreeMap<u64, Viewer>,
    next_viewer: u64,
    orders: Orders,
    is_closed: bool,
}

/// The orders of viewers to the run.
#[derive(Debug, Default)]
struct Orders {
    paused: bool,
    /// Steps to do while paused.
    steps: u64,
    /// The most steps per second; 0 for no limit.
    rate: f64,
    tasks: VecDeque<(u64, Command)>,
}

#[derive(Debug)]
struct Viewer {
    want: Option<Want>,
    /// The number of frames it can take now.
    credit: u32,
    /// The number of the last frame sent to it.
    given: u64,
    /// The requested moment of a recording.
    moment: usize,
    /// Whether the requested moment of the recording has been sent.
    is_fresh: bool,
    heard: Instant,
    /// Why its last command was refused, until it is told.
    refused: Option<String>,
}

/// The next message for a viewer.
pub enum Next {
    /// A text message.
    Text(String),
    /// A frame, and the contents that the viewer wants.
    Frame(Arc<Frame>, Want),
    /// A moment of a recording, and the contents that the viewer wants.
    Moment(Arc<dyn Moments>, usize, Want),
    /// The connection ends.
    End,
}

/// The versions of everything that a viewer has received.
#[derive(Debug, Default)]
pub struct Cursor {
    about: u64,
    status: u64,
    status_sent: Option<Instant>,
    moments: u64,
    rows: Place,
}

/// The next action of the run.
#[derive(Debug, PartialEq)]
pub enum Order {
    /// Do the next step.
    Step,
    /// Execute a command of a viewer.
    Do(u64, Command),
    /// Write a frame: a viewer waits for one.
    Show,
    /// Wait, at most for this time, and ask again.
    Wait(Duration),
}

impl Hub {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    // Called by a run or a recording.

    /// Sets the description: title, columns, names of values.
    pub fn set_about(&self, about: Value) {
        self.change(|state| {
            if state.about != about {
                state.about = about;
                state.about_version += 1;
            }
        });
    }

    /// Announces a new state of the run, with a row of diagnostics if it was measured. Earlier frames are out of date.
    pub fn set_moment(&self, row: Option<Vec<f64>>) {
        self.change(|state| {
            state.moment += 1;
            if let Some(row) = row {
                state.rows.push(row);
            }
        });
    }

    /// Sets the status, which changes at every step.
    pub fn set_status(&self, status: Value) {
        self.change(|state| {
            state.status = status;
            state.status_version += 1;
        });
    }

    /// Replaces all rows of diagnostics.
    pub fn set_rows(&self, rows: impl Iterator<Item = Vec<f64>>) {
        self.change(|state| state.rows.replace(rows));
    }

    /// Sets the newest frame and drops the previous one.
    pub fn set_frame(&self, mut frame: Frame) {
        self.change(|state| {
            state.frames += 1;
            frame.number = state.frames;
            state.frame_of = state.moment;
            state.frame = Some(Arc::new(frame));
        });
    }

    /// Shows recorded moments from now on; each viewer chooses one.
    pub fn set_moments(&self, moments: Arc<dyn Moments>) {
        self.change(|state| {
            state.moments = Some(moments);
            state.moments_version += 1;
            state.viewers.values_mut().for_each(|viewer| viewer.is_fresh = false);
        });
    }

    /// Announces that the list of recorded moments has changed.
    pub fn moments_changed(&self) {
        self.change(|state| state.moments_version += 1);
    }

    /// Ends all connections.
    pub fn close(&self) {
        self.change(|state| state.is_closed = true);
    }

    /// Whether [`Hub::close`] was called.
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// The number of viewers.
    pub fn viewers(&self) -> usize {
        self.lock().viewers.len()
    }

    /// The contents that viewers want in the next frame, each request once; empty if no viewer waits for a frame.
    pub fn wants(&self) -> Vec<Want> {
        let state = self.lock();
        if !state.viewers.values().any(|viewer| viewer.credit > 0) {
            return Vec::new();
        }
        let mut wants: Vec<Want> = state
            .viewers
            .values()
            .filter_map(|viewer| viewer.want.clone())
            .collect();
        wants.sort();
        wants.dedup_by(|a, b| a.is_alike(b));
        wants
    }

    /// The next action of the run. `since` is when the last step began; with `sync` the run waits for viewers that
    /// are not ready.
    pub fn order(&self, since: Instant, sync: bool) -> Order {
        let mut state = self.lock();
        if let Some((viewer, command)) = state.orders.tasks.pop_front() {
            return Order::Do(viewer, command);
        }
        if state.wants_another_frame() {
            return Order::Show;
        }
        let late = state
            .viewers
            .values()
            .any(|viewer| viewer.want.is_some() && viewer.given < state.frames && viewer.heard.elapsed() < PATIENCE);
        if sync && late {
            return Order::Wait(PAUSE);
        }
        if state.orders.paused {
            if state.orders.steps == 0 {
                return Order::Wait(PAUSE);
            }
            state.orders.steps -= 1;
            return Order::Step;
        }
        let pause = if state.orders.rate > 0.0 {
            1.0 / state.orders.rate
        } else {
            0.0
        };
        match Duration::from_secs_f64(pause).checked_sub(since.elapsed()) {
            Some(left) if !left.is_zero() => Order::Wait(left.min(PAUSE)),
            _ => Order::Step,
        }
    }

    /// Waits until something changes, at most for `most`.
    pub fn wait(&self, most: Duration) {
        let state = self.lock();
        drop(self.changed.wait_timeout(state, most));
    }

    /// Whether the run is paused, and its speed limit.
    pub fn pace(&self) -> (bool, f64) {
        let orders = &self.lock().orders;
        (orders.paused, orders.rate)
    }

    /// Tells a viewer why its command was refused.
    pub fn refuse(&self, viewer: u64, why: String) {
        self.change(|state| {
            if let Some(viewer) = state.viewers.get_mut(&viewer) {
                viewer.refused = Some(why);
            }
        });
    }

    // Called by connections of viewers.

    /// Adds a viewer and returns its number.
    pub fn enter(&self) -> u64 {
        self.change(|state| {
            state.next_viewer += 1;
            let viewer = Viewer {
                want: None,
                credit: 0,
                given: 0,
                moment: usize::MAX,
                is_fresh: false,
                heard: Instant::now(),
                refused: None,
            };
            state.viewers.insert(state.next_viewer, viewer);
            state.next_viewer
        })
    }

    /// Removes a viewer.
    pub fn leave(&self, viewer: u64) {
        self.change(|state| state.viewers.remove(&viewer));
    }

    /// Handles a command of a viewer.
    pub fn hear(&self, viewer: u64, command: Command) {
        self.change(|state| state.hear(viewer, command));
    }

    /// The next message for a viewer; waits until there is one.
    pub fn next(&self, viewer: u64, cursor: &mut Cursor) -> Next {
        let mut state = self.lock();
        loop {
            if let Some(next) = state.next(viewer, cursor) {
                return next;
            }
            // Woken by changes, and regularly for status messages that were not due before.
            state = match self.changed.wait_timeout(state, PAUSE) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}

impl State {
    /// Whether a viewer waits for a frame and the newest frame is out of date or lacks the contents it wants.
    fn wants_another_frame(&self) -> bool {
        let is_old = self.frame_of != self.moment;
        let is_served = |want: &Want| self.frame.as_ref().is_some_and(|frame| !is_old && frame.serves(want));
        let mut waiting = self.viewers.values().filter(|viewer| viewer.credit > 0);
        waiting.any(|viewer| viewer.want.as_ref().is_some_and(|want| !is_served(want)))
    }

    fn hear(&mut self, number: u64, command: Command) {
        let Some(viewer) = self.viewers.get_mut(&number) else {
            return;
        };
        viewer.heard = Instant::now();
        match command {
            Command::Want { .. } => {
                let want = command.want();
                if viewer.want != want {
                    (viewer.want, viewer.given, viewer.is_fresh) = (want, 0, false);
                }
            }
            Command::Ready {} => viewer.credit = (viewer.credit + 1).min(2),
            Command::Show { moment } => {
                if viewer.moment != moment {
                    (viewer.moment, viewer.is_fresh) = (moment, false);
                }
            }
            Command::Pause {} => (self.orders.paused, self.orders.steps) = (true, 0),
            Command::Go {} => self.orders.paused = false,
            Command::Step { count } => {
                self.orders.paused = true;
                self.orders.steps += count;
            }
            Command::Limit { rate } => {
                self.orders.rate = rate;
                // All viewers are told the new limit.
                self.status_version += 1;
            }
            Command::Change { .. } | Command::Drop { .. } if self.moments.is_some() => {
                viewer.refused = Some("a recording cannot be changed".to_owned());
            }
            Command::Change { .. } | Command::Drop { .. } if self.orders.tasks.len() >= MOST_TASKS => {
                viewer.refused = Some("too many commands at once".to_owned());
            }
            Command::Change { .. } | Command::Drop { .. } => self.orders.tasks.push_back((number, command)),
        }
    }

    fn next(&mut self, number: u64, cursor: &mut Cursor) -> Option<Next> {
        let closed = self.is_closed;
        let Some(viewer) = self.viewers.get_mut(&number).filter(|_| !closed) else {
            return Some(Next::End);
        };
        if cursor.about != self.about_version {
            cursor.about = self.about_version;
            return text("about", self.about.clone());
        }
        if let Some(why) = viewer.refused.take() {
            return text("refused", json!({ "why": why }));
        }
        if cursor.moments != self.moments_version {
            cursor.moments = self.moments_version;
            let list = self.moments.as_ref().map(|moments| moments.list()).unwrap_or_default();
            return text("moments", json!({ "moments": list }));
        }
        let is_due = cursor.status_sent.is_none_or(|sent| sent.elapsed() >= PAUSE);
        if is_due && cursor.status != self.status_version {
            cursor.status = self.status_version;
            cursor.status_sent = Some(Instant::now());
            return text("status", self.status_for_viewers());
        }
        if is_due && let Some((restart, rows)) = self.rows.since(&mut cursor.rows) {
            return text("rows", json!({ "restart": restart, "rows": rows }));
        }
        let viewer = self.viewers.get_mut(&number)?;
        let want = viewer.want.clone().filter(|_| viewer.credit > 0)?;
        if let Some(moments) = &self.moments {
            if viewer.is_fresh {
                return None;
            }
            (viewer.is_fresh, viewer.credit) = (true, viewer.credit - 1);
            return Some(Next::Moment(moments.clone(), viewer.moment, want));
        }
        let frame = self.frame.as_ref()?;
        if viewer.given == frame.number || !frame.serves(&want) {
            return None;
        }
        (viewer.given, viewer.credit) = (frame.number, viewer.credit - 1);
        Some(Next::Frame(frame.clone(), want))
    }

    fn status_for_viewers(&self) -> Value {
        let mut status = self.status.clone();
        if let Value::Object(fields) = &mut status {
            fields.insert("paused".to_owned(), self.orders.paused.into());
            fields.insert("rate".to_owned(), self.orders.rate.into());
            fields.insert("viewers".to_owned(), self.viewers.len().into());
        }
        status
    }
}

/// A text message: a JSON object with its type.
fn text(kind: &str, mut value: Value) -> Option<Next> {
    if let Value::Object(fields) = &mut value {
        fields.insert("type".to_owned(), kind.into());
    } else {
        value = json!({ "type": kind });
    }
    Some(Next::Text(value.to_string()))
}
