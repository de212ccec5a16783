//! What can go wrong while evidence is gathered.

use std::fmt;

/// Why a reproduction or validation did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Something that was asked for cannot be.
    Usage(String),
    /// Something is wrong with the data, the files or the machine.
    Data(String),
}

impl Error {
    /// Wrong data, in someone else's words.
    pub fn data(cause: impl fmt::Display) -> Self {
        Error::Data(cause.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(message) | Error::Data(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

macro_rules! data {
    ($($cause:ty),*) => {$(
        impl From<$cause> for Error {
            fn from(cause: $cause) -> Self {
                Error::data(cause)
            }
        }
    )*};
}
data!(
    farfield::Error,
    farfield_grid::Error,
    farfield_io::Error,
    farfield_plot::Error,
    farfield_sim::Error
);
