use std::path::PathBuf;

/// An error in drawing, reading or writing images.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A video could not be made.
    #[error("{}: {reason}", .path.display())]
    Film {
        /// The file of the video.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// An image could not be read.
    #[error("{path}: cannot read this image: {why}")]
    Decode {
        /// The file.
        path: std::path::PathBuf,
        /// The cause.
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
        /// The file to be written.
        path: PathBuf,
        /// The message of the encoder or the system.
        cause: String,
    },
    /// A frame differs in size from the first one.
    #[error(
        "{path}: frame {frame} has {} x {} pixels but the first one has {} x {}",
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
    /// The numbers of points and values of a cloud differ.
    #[error("cloud {cloud} has {points} points but {values} values")]
    Values {
        /// The cloud's number in its scene, from 1.
        cloud: usize,
        /// Its points.
        points: usize,
        /// Its values.
        values: usize,
    },
    /// A parameter of a scene is out of range.
    #[error("the scene's {what} is {value}; expected {expected}")]
    Scene {
        /// The parameter.
        what: String,
        /// Its value.
        value: f64,
        /// The allowed values.
        expected: &'static str,
    },
}
