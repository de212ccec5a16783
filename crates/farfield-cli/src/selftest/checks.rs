//! Checks in a row, done by several threads at once: nearly all of their time goes into compiling kernels, and plans of
//! several threads on one device are themselves worth a check.

use super::Error;
use farfield::cuda::Device;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

/// One check and its outcome.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// What was checked.
    pub what: String,
    /// The precision.
    pub precision: &'static str,
    /// The points.
    pub points: String,
    /// Parameters.
    pub parameters: String,
    /// What was measured: a relative error, or a number of differences.
    pub measured: f64,
    /// What is allowed.
    pub allowed: f64,
}

impl Row {
    /// Whether the check passed; NaN never does.
    pub fn passed(&self) -> bool {
        self.measured <= self.allowed
    }
}

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Small sums, for memory checkers.
    Quick,
    /// Everything.
    Full,
}

impl Extent {
    /// Points of most sums in space.
    pub(super) fn points(self) -> usize {
        match self {
            Extent::Quick => 1500,
            Extent::Full => 20_000,
        }
    }
}

/// Threads that check at once, where there are as many cores.
const MOST_THREADS: usize = 8;

type Check<'a> = Box<dyn FnOnce(&Arc<Device>) -> Result<Row, Error> + Send + 'a>;

/// Checks to be done.
#[derive(Default)]
pub struct Checks<'a> {
    list: Vec<Check<'a>>,
}

impl<'a> Checks<'a> {
    /// Adds one.
    pub fn add(&mut self, check: impl FnOnce(&Arc<Device>) -> Result<Row, Error> + Send + 'a) {
        self.list.push(Box::new(check));
    }

    /// Does all checks and reports them in their order. A memory checker sees them one by one. A check that ends in an error
    /// is a row that does not pass.
    ///
    /// # Errors
    /// The first one of a check, after all of them.
    pub fn run(self, device: &Arc<Device>, extent: Extent, report: &mut dyn FnMut(&Row)) -> Result<(), Error> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = match extent {
            Extent::Quick => 1,
            Extent::Full => cores.min(MOST_THREADS),
        };
        let checks: Vec<Mutex<Option<Check>>> = self.list.into_iter().map(|check| Mutex::new(Some(check))).collect();
        let next = AtomicUsize::new(0);
        let (sender, results) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let (checks, next, sender) = (&checks, &next, sender.clone());
                scope.spawn(move || {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(check) = checks.get(at).and_then(take) else {
                            break;
                        };
                        // Someone listens until the last sender is gone.
                        let _ = sender.send((at, check(device)));
                    }
                });
            }
            drop(sender);
            report_in_order(results, report)
        })
    }
}

fn take<'a>(check: &Mutex<Option<Check<'a>>>) -> Option<Check<'a>> {
    check.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Reports each row once all before it have come. An error is a row too, and the first of them is returned after all.
fn report_in_order(
    results: mpsc::Receiver<(usize, Result<Row, Error>)>,
    report: &mut dyn FnMut(&Row),
) -> Result<(), Error> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    let mut outcome = Ok(());
    for (at, result) in results {
        early.insert(at, result);
        while let Some(result) = early.remove(&next) {
            next += 1;
            match result {
                Ok(row) => report(&row),
                Err(error) => {
                    report(&row_of(&error));
                    outcome = outcome.and(Err(error));
                }
            }
        }
    }
    outcome
}

/// A row that never passes.
fn row_of(error: &Error) -> Row {
    Row {
        what: error.to_string(),
        precision: "",
        points: String::new(),
        parameters: String::new(),
        measured: f64::NAN,
        allowed: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(what: usize) -> Row {
        Row {
            what: what.to_string(),
            precision: "f64",
            points: String::new(),
            parameters: String::new(),
            measured: 0.0,
            allowed: 0.0,
        }
    }

    fn reported(results: Vec<(usize, Result<Row, Error>)>) -> (Vec<String>, Result<(), Error>) {
        let (sender, receiver) = mpsc::channel();
        results.into_iter().for_each(|result| sender.send(result).unwrap());
        drop(sender);
        let mut names = Vec::new();
        let outcome = report_in_order(receiver, &mut |row| names.push(row.what.clone()));
        (names, outcome)
    }

    #[test]
    fn rows_are_reported_in_order_however_they_come() {
        let results = [2, 0, 3, 1].map(|k| (k, Ok(row(k))));
        let (names, outcome) = reported(results.into());
        assert_eq!(names, ["0", "1", "2", "3"]);
        assert!(outcome.is_ok());
    }

    #[test]
    fn an_error_is_a_row_that_does_not_pass_and_the_outcome() {
        let lost = || Error::from("the device is gone");
        let (names, outcome) = reported(vec![(0, Ok(row(0))), (1, Err(lost())), (2, Ok(row(2)))]);
        assert_eq!(names, ["0", "the device is gone", "2"]);
        assert_eq!(outcome.unwrap_err().to_string(), "the device is gone");
        assert!(!row_of(&lost()).passed());
    }
}
