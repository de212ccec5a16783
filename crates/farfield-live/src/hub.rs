//! Where a run, or a recording, and its viewers meet. Nothing is queued for viewers: the hub holds the newest of everything, and each viewer
//! takes what it has not had yet when it is ready for it.

use crate::command::Command;
use crate::frame::{Frame, Want};
use crate::recording::Moments;
use crate::rows::{Place, Rows};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Orders that wait for the end of a step at most.
const MOST_TASKS: usize = 64;
/// The shortest time between two messages about the state of a run to a viewer that gets no frame.
const PAUSE: Duration = Duration::from_millis(50);
/// In a run that waits for its viewers, one that said nothing for so long is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where a run and its viewers meet.
#[derive(Default)]
pub struct Hub {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What does not change, or seldom: title, columns, what may be changed.
    about: Value,
    about_version: u64,
    /// What changes at every step.
    status: Value,
    status_version: u64,
    rows: Rows,
    frame: Option<Arc<Frame>>,
    frames: u64,
    /// Counts the states of the run.
    moment: u64,
    /// The state that the newest frame shows.
    frame_of: u64,
    /// After a run, or instead of one.
    moments: Option<Arc<dyn Moments>>,
    moments_version: u64,
    viewers: BTreeMap<u64, Viewer>,
    next_viewer: u64,
    orders: Orders,
    is_closed: bool,
}

/// What the viewers want of the run.
#[derive(Debug, Default)]
struct Orders {
    paused: bool,
    /// Steps to do while paused.
    steps: u64,
    /// Steps a second at most; 0 for no limit.
    rate: f64,
    tasks: VecDeque<(u64, Command)>,
}

#[derive(Debug)]
struct Viewer {
    want: Option<Want>,
    /// Frames it can take now.
    credit: u32,
    /// The last frame it was given.
    given: u64,
    /// The moment of a recording it wants to see.
    moment: usize,
    /// Whether what it has been given of a recording is still what it wants.
    is_fresh: bool,
    heard: Instant,
    /// What the run did not do, and why.
    refused: Option<String>,
}

/// What a viewer is to be sent next.
pub enum Next {
    /// A text message.
    Text(String),
    /// A frame and what is wanted of it.
    Frame(Arc<Frame>, Want),
    /// A moment of a recording.
    Moment(Arc<dyn Moments>, usize, Want),
    /// Nothing any more.
    End,
}

/// How far a viewer has read.
#[derive(Debug, Default)]
pub struct Cursor {
    about: u64,
    status: u64,
    status_sent: Option<Instant>,
    moments: u64,
    rows: Place,
}

/// What the run is to do now.
#[derive(Debug, PartialEq)]
pub enum Order {
    /// The next step.
    Step,
    /// Something for a viewer.
    Do(u64, Command),
    /// Look again: a viewer wants a frame.
    Show,
    /// Wait, at most so long.
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

    // What a run or a recording tells.

    /// Title, columns and the like.
    pub fn set_about(&self, about: Value) {
        self.change(|state| {
            if state.about != about {
                state.about = about;
                state.about_version += 1;
            }
        });
    }

    /// The run is in another state, with a row of diagnostics if it was measured: frames of before are old.
    pub fn set_moment(&self, row: Option<Vec<f64>>) {
        self.change(|state| {
            state.moment += 1;
            if let Some(row) = row {
                state.rows.push(row);
            }
        });
    }

    /// What changes from step to step.
    pub fn set_status(&self, status: Value) {
        self.change(|state| {
            state.status = status;
            state.status_version += 1;
        });
    }

    /// All rows of diagnostics, instead of those known.
    pub fn set_rows(&self, rows: impl Iterator<Item = Vec<f64>>) {
        self.change(|state| state.rows.replace(rows));
    }

    /// The newest frame; the one before is let go.
    pub fn set_frame(&self, mut frame: Frame) {
        self.change(|state| {
            state.frames += 1;
            frame.number = state.frames;
            state.frame_of = state.moment;
            state.frame = Some(Arc::new(frame));
        });
    }

    /// From now on moments are shown that viewers choose.
    pub fn set_moments(&self, moments: Arc<dyn Moments>) {
        self.change(|state| {
            state.moments = Some(moments);
            state.moments_version += 1;
            state.viewers.values_mut().for_each(|viewer| viewer.is_fresh = false);
        });
    }

    /// The moments that are shown have become more.
    pub fn moments_changed(&self) {
        self.change(|state| state.moments_version += 1);
    }

    /// Sends everyone away.
    pub fn close(&self) {
        self.change(|state| state.is_closed = true);
    }

    /// Whether everyone was sent away.
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// How many viewers there are.
    pub fn viewers(&self) -> usize {
        self.lock().viewers.len()
    }

    /// What viewers who wait for a frame want, each wish once; none if nobody waits.
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

    /// What the run is to do, `since` the last step began; with `sync` it waits for viewers that are not ready.
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

    /// Waits until something changes, at most so long.
    pub fn wait(&self, most: Duration) {
        let state = self.lock();
        drop(self.changed.wait_timeout(state, most));
    }

    /// Whether the run is held, and its speed limit.
    pub fn pace(&self) -> (bool, f64) {
        let orders = &self.lock().orders;
        (orders.paused, orders.rate)
    }

    /// Tells a viewer what was not done.
    pub fn refuse(&self, viewer: u64, why: String) {
        self.change(|state| {
            if let Some(viewer) = state.viewers.get_mut(&viewer) {
                viewer.refused = Some(why);
            }
        });
    }

    // What viewers say.

    /// A new viewer's number.
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

    /// A viewer is gone.
    pub fn leave(&self, viewer: u64) {
        self.change(|state| state.viewers.remove(&viewer));
    }

    /// A viewer said something.
    pub fn hear(&self, viewer: u64, command: Command) {
        self.change(|state| state.hear(viewer, command));
    }

    /// What a viewer is to be sent next; waits until there is something.
    pub fn next(&self, viewer: u64, cursor: &mut Cursor) -> Next {
        let mut state = self.lock();
        loop {
            if let Some(next) = state.next(viewer, cursor) {
                return next;
            }
            // Woken by changes, and now and then for the state of a run that goes on without frames.
            state = match self.changed.wait_timeout(state, PAUSE) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}

impl State {
    /// Whether a viewer waits and the newest frame shows an earlier state, or not what it wants.
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
                // All viewers see it.
                self.status_version += 1;
            }
            Command::Change { .. } | Command::Drop { .. } if self.moments.is_some() => {
                viewer.refused = Some("this is a recording: nothing can change".to_owned());
            }
            Command::Change { .. } | Command::Drop { .. } if self.orders.tasks.len() >= MOST_TASKS => {
                viewer.refused = Some("too many wishes at once".to_owned());
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

/// A text message: an object with its type.
fn text(kind: &str, mut value: Value) -> Option<Next> {
    if let Value::Object(fields) = &mut value {
        fields.insert("type".to_owned(), kind.into());
    } else {
        value = json!({ "type": kind });
    }
    Some(Next::Text(value.to_string()))
}
