//! Failures and their exit codes.

use crate::print;
use std::process::ExitCode;

/// The reason why the program stops early.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for something impossible: exit code 2.
    Usage(String),
    /// The data or the machine do not allow the work: exit code 1.
    Data(String),
    /// The work was done, but a measured error exceeds the tolerance: the report goes to standard output, exit code 3.
    Exceeded(String),
    /// A signal stopped a run after a step and a checkpoint: the report goes to standard output, exit code 4.
    Interrupted(String),
}

impl Failure {
    /// A failure of the data, with the message of `message`.
    pub fn data(message: impl ToString) -> Self {
        Failure::Data(message.to_string())
    }

    /// Prints the failure, and returns its exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::Usage(message) => {
                print::progress(&format!("error: {message}\n\nFor more information, try '--help'."));
                ExitCode::from(2)
            }
            Failure::Data(message) => {
                print::progress(&format!("error: {message}"));
                ExitCode::from(1)
            }
            Failure::Exceeded(text) => match print::result(&text) {
                Ok(()) => {
                    print::progress("error: the tolerance is exceeded");
                    ExitCode::from(3)
                }
                Err(failure) => failure.report(),
            },
            Failure::Interrupted(text) => {
                // The terminal may be gone. The checkpoint is written, and that counts.
                let _ = print::result(&text);
                ExitCode::from(4)
            }
        }
    }
}

impl From<farfield_io::Error> for Failure {
    fn from(error: farfield_io::Error) -> Self {
        Failure::data(error)
    }
}

impl From<farfield_grid::Error> for Failure {
    /// Errors in values that come only from options are usage failures; all others are data failures.
    fn from(error: farfield_grid::Error) -> Self {
        use farfield_grid::Error as E;
        let message = error.to_string();
        match error {
            E::Sum(error) => error.into(),
            E::Parameter { .. } | E::Unsupported { .. } | E::Thresholds { .. } | E::ThresholdBelowRoundOff { .. } => {
                Failure::Usage(message)
            }
            E::Memory { .. } => Failure::Data(format!("{message} (--memory-cap, --refine, --resolution)")),
            _ => Failure::Data(message),
        }
    }
}

impl From<farfield_plot::Error> for Failure {
    fn from(error: farfield_plot::Error) -> Self {
        Failure::data(error)
    }
}

/// The message of an error, with the option that avoids it.
pub fn with_remedy(error: &farfield::Error) -> String {
    match error.remedy() {
        Some(farfield::Remedy::Device(device)) => format!("{error} (--device {device})"),
        _ => error.to_string(),
    }
}

impl From<farfield::Error> for Failure {
    /// Errors in values that come only from options are usage failures; all others are data failures.
    fn from(error: farfield::Error) -> Self {
        use farfield::Error as E;
        let message = error.to_string();
        match error {
            E::Tolerance { .. } => Failure::Usage(format!("--tolerance: {message}")),
            E::Output { .. } => Failure::Usage(format!("--outputs: {message}")),
            E::MissingSize { .. } => Failure::Usage(format!("{message}: give --core-size")),
            E::UnboundedGradient => Failure::Usage(
                "the velocity gradient of the hu-polynomial core is unbounded at its centre: \
                 give --allow-unbounded-gradient, or choose another --core"
                    .to_owned(),
            ),
            error if error.is_of_the_device() => Failure::Data(format!("--device: {}", with_remedy(&error))),
            E::MethodInPlane { .. } => Failure::Usage(format!("--method: {message}")),
            E::NotAnalytic { .. } => Failure::Usage(format!("--outputs: {message}")),
            E::Parameter { .. } | E::NegativeSize { .. } => Failure::Usage(message),
            _ => Failure::Data(message),
        }
    }
}
