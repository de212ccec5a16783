use std::path::PathBuf;

/// Why a chart could not be drawn or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The image size is outside the supported range.
    #[error(
        "image size {width}x{height} is not supported: each side must have {min} to {max} pixels",
        min = crate::theme::MIN_SIDE,
        max = crate::theme::MAX_SIDE
    )]
    Size {
        /// Requested width in pixels.
        width: u32,
        /// Requested height in pixels.
        height: u32,
    },
    /// The embedded font could not be read.
    #[error("the embedded font could not be read: {0}")]
    Font(#[from] ttf_parser::FaceParsingError),
    /// The image could not be encoded.
    #[error("the image could not be encoded as PNG: {0}")]
    Encode(#[from] png::EncodingError),
    /// The file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file that was to be written.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
