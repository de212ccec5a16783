//! Shows the progress of a run on standard error.

use crate::layout::width_of_progress;
use crate::print;
use farfield_sim::run::{Observer, Progress, Run};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Shows a run: one line that is overwritten on a terminal, otherwise a line from time to time.
pub struct Watcher {
    quiet: bool,
    terminal: bool,
    last: Option<Instant>,
    shown: bool,
}

impl Watcher {
    /// An observer that prints nothing if `quiet`.
    pub fn new(quiet: bool) -> Self {
        Self {
            quiet,
            terminal: std::io::stderr().is_terminal(),
            last: None,
            shown: false,
        }
    }

    /// Describes the run that is about to start. Called by all ranks together.
    pub fn start(&self, run: &Run) {
        let about = run.describe();
        if self.quiet {
            return;
        }
        let title = &run.case().title;
        if !title.is_empty() {
            print::progress(title);
        }
        print::progress(&about);
        let (step, time) = run.start();
        let from = if step > 0 {
            format!(", from step {step}, time {time:.6}")
        } else {
            String::new()
        };
        print::progress(&format!(
            "to time {} in {}{from}; files go to {}",
            run.case().time.end,
            run.case().time.scheme.name(),
            run.folder().path().display()
        ));
    }

    /// Ends the line.
    pub fn end(&mut self) {
        if self.shown && self.terminal {
            print::progress("");
        }
    }
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        let pause = Duration::from_millis(if self.terminal { 100 } else { 5000 });
        let at_end = progress.time >= progress.end;
        if self.quiet || (!at_end && self.last.is_some_and(|last| last.elapsed() < pause)) {
            return;
        }
        self.last = Some(Instant::now());
        self.shown = true;
        let share = (progress.time / progress.end).clamp(0.0, 1.0);
        let line = format!(
            "{:3.0} %  step {}  time {:.4}  dt {:.3e} ({})  {:.3} s/step  {} left",
            100.0 * share,
            progress.step,
            progress.time,
            progress.dt,
            progress.limit,
            progress.seconds_per_step,
            duration(progress.seconds_left)
        );
        if self.terminal {
            let mut out = std::io::stderr().lock();
            let _ = write!(out, "\r\x1b[2K{}", on_one_line(share, &line, width_of_progress()));
            let _ = out.flush();
        } else {
            print::progress(&line);
        }
    }

    fn remark(&mut self, remark: &str) {
        if self.quiet {
            return;
        }
        let clear = if self.terminal && self.shown { "\r\x1b[2K" } else { "" };
        print::progress(&format!("{clear}{remark}"));
    }
}

/// A bar and the line, shortened to the width of the terminal: a longer line could not be overwritten.
fn on_one_line(share: f64, line: &str, width: Option<usize>) -> String {
    let room = width.map_or(usize::MAX, |width| width - 1);
    let bar = room.saturating_sub(line.len() + 1).min(24);
    // A bar of a few characters shows nothing.
    let bar = if bar < 8 { 0 } else { bar };
    let done = (share * bar as f64).round() as usize;
    let mut text: String = (0..bar).map(|k| if k < done { '#' } else { '.' }).collect();
    if bar > 0 {
        text.push(' ');
    }
    text.push_str(line);
    text.chars().take(room).collect()
}

/// `2 h 05 min`, `3 min 20 s`, `12 s`.
fn duration(seconds: f64) -> String {
    let whole = seconds.min(1e9).round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::{duration, on_one_line};

    #[test]
    fn progress_stays_on_one_line() {
        let line = "50 %  step 10  time 1.0000  dt 1.000e-1 (fixed)  0.552 s/step  5 s left";
        for width in 20..130 {
            let shown = on_one_line(0.5, line, Some(width));
            assert!(shown.len() < width && shown.contains("50 %"), "{width}: {shown}");
        }
        assert!(on_one_line(0.5, line, None).starts_with("############............ 50 %"));
        assert!(on_one_line(0.5, line, Some(120)).starts_with("############............ 50 %"));
    }

    #[test]
    fn durations_read_well() {
        for (seconds, text) in [
            (0.2, "0 s"),
            (59.0, "59 s"),
            (200.0, "3 min 20 s"),
            (7500.0, "2 h 05 min"),
        ] {
            assert_eq!(duration(seconds), text);
        }
    }
}
