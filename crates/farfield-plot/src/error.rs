use std::path::PathBuf;

/// Why a chart could not be drawn or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A film could not be made.
    #[error("{}: {reason}", .path.display())]
    Film {
        /// The film.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A picture could not be read.
    #[error("{path}: cannot read this picture: {why}")]
    Decode {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it.
        why: String,
    },
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
    /// The file could not be written; the message names it.
    #[error(transparent)]
    File(#[from] farfield_io::Error),
    /// An animation could not be written.
    #[error("{path}: cannot write the animation: {cause}", path = path.display())]
    Animation {
        /// The file that was to be written.
        path: PathBuf,
        /// What the encoder or the system said.
        cause: String,
    },
    /// A frame has another size than the ones before it.
    #[error(
        "{path}: frame {frame} has {} x {} pixels where the first one has {} x {}",
        found.0, found.1, expected.0, expected.1,
        path = path.display()
    )]
    FrameSize {
        /// The animation.
        path: PathBuf,
        /// The frame's number, from 1.
        frame: usize,
        /// Its width and height.
        found: (usize, usize),
        /// Width and height of the first frame.
        expected: (usize, usize),
    },
    /// A cloud has another number of values than of points.
    #[error("cloud {cloud} has {points} points but {values} values")]
    Values {
        /// The cloud's number in its scene, from 1.
        cloud: usize,
        /// Its points.
        points: usize,
        /// Its values.
        values: usize,
    },
    /// A number of a scene has no meaning there.
    #[error("the scene's {what} is {value}; expected {expected}")]
    Scene {
        /// What the number is.
        what: String,
        /// The number.
        value: f64,
        /// What is allowed.
        expected: &'static str,
    },
}
