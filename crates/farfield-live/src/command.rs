//! The commands of viewers: text messages in JSON.

use crate::frame::Want;
use serde::Deserialize;

/// The longest message that is read.
pub const LONGEST: usize = 4096;
/// The most tracers in one command.
const MOST_TRACERS: usize = 100_000;
/// The most steps in one command.
const MOST_STEPS: u64 = 1_000_000;
/// The most grid points that can be requested.
const MOST_VOXELS: usize = 1 << 24;

/// A command of a viewer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Command {
    /// Sets the contents of frames from now on.
    Want {
        /// The most points of each cloud.
        points: usize,
        /// The value that colours points.
        value: String,
        /// Whether to include elements.
        elements: bool,
        /// The name of the field on a grid.
        volume: String,
        /// The most points of that grid.
        voxels: usize,
    },
    /// The last frame is drawn: send the next one.
    Ready {},
    /// Pause before the next step.
    Pause {},
    /// Continue.
    Go {},
    /// Do `count` steps, then pause.
    Step {
        /// The number of steps.
        count: u64,
    },
    /// Limit the speed.
    Limit {
        /// The most steps per second; 0 for no limit.
        rate: f64,
    },
    /// Change the case.
    Change {
        /// The key.
        key: String,
        /// The value, as in a case file.
        value: String,
    },
    /// Drop tracers.
    Drop {
        /// The centre of the ball that they fill.
        at: [f64; 3],
        /// The radius of the ball.
        radius: f64,
        /// The number of tracers.
        count: usize,
    },
    /// Show a moment of a recording.
    Show {
        /// The index of the moment, from 0.
        moment: usize,
    },
}

impl Command {
    /// Parses and validates a message.
    ///
    /// # Errors
    /// A message about the mistake. The connection is then closed.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("the message has {} bytes, more than {LONGEST}", text.len()));
        }
        let command: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        command.check()?;
        Ok(command)
    }

    fn check(&self) -> Result<(), String> {
        let is_name =
            |text: &str| text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || "_.-+".contains(c));
        let fine = match self {
            Command::Want {
                value, volume, voxels, ..
            } => is_name(value) && is_name(volume) && *voxels <= MOST_VOXELS,
            Command::Step { count } => (1..=MOST_STEPS).contains(count),
            Command::Limit { rate } => rate.is_finite() && (0.0..=1e6).contains(rate),
            Command::Change { key, value } => is_name(key) && is_name(value),
            Command::Drop { at, radius, count } => {
                let length = |x: f64| x.is_finite() && x.abs() < 1e100;
                at.iter().all(|x| length(*x)) && length(*radius) && *radius > 0.0 && (1..=MOST_TRACERS).contains(count)
            }
            Command::Ready {} | Command::Pause {} | Command::Go {} | Command::Show { .. } => true,
        };
        if fine {
            Ok(())
        } else {
            Err(format!("{self:?}: a value is out of range"))
        }
    }

    /// The requested contents of frames, if this is `Want`.
    pub fn want(&self) -> Option<Want> {
        match self {
            Command::Want {
                points,
                value,
                elements,
                volume,
                voxels,
            } => Some(Want {
                points: *points,
                value: value.clone(),
                elements: *elements,
                volume: volume.clone(),
                voxels: *voxels,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_accepted() {
        for text in [
            r#"{"do":"want","points":10,"value":"speed","elements":false,"volume":"","voxels":0}"#,
            r#"{"do":"ready"}"#,
            r#"{"do":"pause"}"#,
            r#"{"do":"go"}"#,
            r#"{"do":"step","count":1}"#,
            r#"{"do":"limit","rate":20}"#,
            r#"{"do":"change","key":"time.step","value":"0.01"}"#,
            r#"{"do":"drop","at":[0,1,2],"radius":0.1,"count":100}"#,
            r#"{"do":"show","moment":3}"#,
        ] {
            assert!(Command::parse(text).is_ok(), "{text}: {:?}", Command::parse(text));
        }
    }

    #[test]
    fn invalid_commands_are_refused() {
        let long = format!(r#"{{"do":"change","key":"{}","value":"1"}}"#, "k".repeat(70));
        for text in [
            "",
            "{",
            "null",
            r#"{"do":"exit"}"#,
            r#"{"do":"pause","more":1}"#,
            r#"{"do":"step","count":0}"#,
            r#"{"do":"step","count":-1}"#,
            r#"{"do":"limit","rate":1e999}"#,
            r#"{"do":"limit","rate":-1}"#,
            r#"{"do":"change","key":"time.step","value":"1\nseed=2"}"#,
            r#"{"do":"change","key":"a b","value":"1"}"#,
            r#"{"do":"drop","at":[0,1],"radius":0.1,"count":100}"#,
            r#"{"do":"drop","at":[0,1,2],"radius":0.1,"count":100000000}"#,
            r#"{"do":"drop","at":[0,1,2],"radius":0,"count":1}"#,
            &long,
            &" ".repeat(LONGEST + 1),
        ] {
            assert!(Command::parse(text).is_err(), "{text}");
        }
    }
}
