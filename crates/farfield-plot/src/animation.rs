//! Animated GIF files.

mod palette;

use std::path::Path;

use farfield_io::AtomicFile;
use gif::{DisposalMethod, Encoder, Frame, Repeat};

use crate::{Error, Image};
use palette::Palette;

/// The delay of the last frame before the animation repeats, in hundredths of a second.
const PAUSE: u16 = 150;
/// A pixel is not updated while no channel differs by more than this from its new value: the difference is
/// invisible, and this saves more than half of the file size. Dark pixels have a lower limit.
const UNSEEN: u8 = 6;
const UNSEEN_IN_THE_DARK: u8 = 2;
const DARK: u8 = 48;
/// The number of colours in a palette; one more entry stands for unchanged pixels.
const COLORS: usize = 255;
const UNCHANGED: u8 = 255;

/// An animated GIF that is written frame by frame and loops forever.
///
/// Each frame has its own palette, chosen for the pixels that change. The file appears at its path with
/// [`finish`](Self::finish); if the animation is dropped before that, no file is left.
///
/// ```
/// use farfield_plot::{Animation, Color, Image};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("blink.gif");
/// let mut animation = Animation::create(&path, 12.0)?;
/// for color in [Color::INK, Color::PALETTE[0], Color::PALETTE[1]] {
///     animation.push(&Image::new(64, 48, color))?;
/// }
/// animation.finish()?;
/// assert!(std::fs::read(&path)?.starts_with(b"GIF89a"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Animation {
    delay: u16,
    frames: usize,
    file: File,
    /// The image that a viewer shows after the frames so far.
    shown: Option<Image>,
    /// The latest frame, not yet written because the last frame gets a different delay.
    waiting: Option<Frame<'static>>,
}

/// The output file. A GIF starts with the image size, so encoding starts with the first frame.
enum File {
    Empty(AtomicFile),
    Started(Encoder<AtomicFile>),
    /// Only during the change from `Empty` to `Started`, and after a failure of that change.
    Lost,
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Empty(_) => "Empty",
            Self::Started(_) => "Started",
            Self::Lost => "Lost",
        })
    }
}

impl Animation {
    /// Starts an animation whose final path is `path`, with `frames_per_second` clamped to 1 to 50 (the
    /// format counts in hundredths of a second).
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the file cannot be created.
    pub fn create(path: impl AsRef<Path>, frames_per_second: f64) -> Result<Self, Error> {
        let rate = if frames_per_second.is_nan() {
            10.0
        } else {
            frames_per_second.clamp(1.0, 50.0)
        };
        Ok(Self {
            delay: (100.0 / rate).round() as u16,
            frames: 0,
            file: File::Empty(AtomicFile::create(path)?),
            shown: None,
            waiting: None,
        })
    }

    /// The number of frames so far.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Adds a frame.
    ///
    /// # Errors
    ///
    /// [`Error::FrameSize`] if its size differs from that of the first frame, [`Error::Animation`] if it
    /// cannot be written.
    pub fn push(&mut self, image: &Image) -> Result<(), Error> {
        let size = (image.width(), image.height());
        if let Some(first) = self.shown.as_ref().map(|shown| (shown.width(), shown.height()))
            && first != size
        {
            return Err(Error::FrameSize {
                path: self.path(),
                frame: self.frames + 1,
                found: size,
                expected: first,
            });
        }
        let mut shown = match self.shown.take() {
            Some(shown) => shown,
            None => {
                self.start(size)?;
                image.clone()
            }
        };
        let frame = self.encode(image, &mut shown);
        self.shown = Some(shown);
        self.frames += 1;
        match self.waiting.replace(frame) {
            Some(before) => self.write(&before),
            None => Ok(()),
        }
    }

    /// Writes the last frame and moves the file to its final path. An animation without frames makes no file.
    ///
    /// # Errors
    ///
    /// [`Error::Animation`] and [`Error::File`] if the file cannot be written.
    pub fn finish(mut self) -> Result<(), Error> {
        if let Some(mut last) = self.waiting.take() {
            last.delay = PAUSE;
            self.write(&last)?;
        }
        let path = self.path();
        match self.file {
            File::Started(encoder) => {
                let file = encoder.into_inner().map_err(|cause| failed(&path, &cause))?;
                Ok(file.finish()?)
            }
            File::Empty(_) | File::Lost => Ok(()),
        }
    }

    fn path(&self) -> std::path::PathBuf {
        match &self.file {
            File::Empty(file) => file.path().to_owned(),
            File::Started(encoder) => encoder.get_ref().path().to_owned(),
            File::Lost => std::path::PathBuf::new(),
        }
    }

    fn start(&mut self, (width, height): (usize, usize)) -> Result<(), Error> {
        let path = self.path();
        let File::Empty(file) = std::mem::replace(&mut self.file, File::Lost) else {
            return Ok(());
        };
        // The sides fit: they are at most 32768.
        let encoder = Encoder::new(file, width as u16, height as u16, &[]);
        let mut encoder = encoder.map_err(|cause| failed(&path, &cause))?;
        encoder
            .set_repeat(Repeat::Infinite)
            .map_err(|cause| failed(&path, &cause))?;
        self.file = File::Started(encoder);
        Ok(())
    }

    fn write(&mut self, frame: &Frame<'_>) -> Result<(), Error> {
        let path = self.path();
        match &mut self.file {
            File::Started(encoder) => encoder.write_frame(frame).map_err(|cause| failed(&path, &cause)),
            File::Empty(_) | File::Lost => Ok(()),
        }
    }

    /// Encodes the part of the image that changes, and updates `shown` to what a viewer then sees.
    fn encode(&self, image: &Image, shown: &mut Image) -> Frame<'static> {
        let first = self.frames == 0;
        let width = image.width();
        let differs = |new: &[u8], old: &[u8]| {
            let dark = new.iter().all(|v| *v < DARK);
            let unseen = if dark { UNSEEN_IN_THE_DARK } else { UNSEEN };
            first || new.iter().zip(old).any(|(a, b)| a.abs_diff(*b) > unseen)
        };
        let pairs = || image.pixels().chunks_exact(3).zip(shown.pixels().chunks_exact(3));
        let changed: Vec<bool> = pairs().map(|(new, old)| differs(new, old)).collect();
        let area = Area::around(&changed, width);
        let new_colors = image
            .pixels()
            .chunks_exact(3)
            .zip(&changed)
            .filter(|(_, changed)| **changed);
        let palette = Palette::of(new_colors.map(|(pixel, _)| [pixel[0], pixel[1], pixel[2]]), COLORS);

        let mut nearest = palette.nearest();
        let mut indices = Vec::with_capacity(area.width * area.height);
        for y in area.top..area.top + area.height {
            for x in area.left..area.left + area.width {
                let at = y * width + x;
                if !changed[at] {
                    indices.push(UNCHANGED);
                    continue;
                }
                let pixel = &image.pixels()[3 * at..3 * at + 3];
                let index = nearest.dithered([pixel[0], pixel[1], pixel[2]], (x, y));
                shown.pixels_mut()[3 * at..3 * at + 3].copy_from_slice(&palette.colors[usize::from(index)]);
                indices.push(index);
            }
        }
        Frame {
            delay: self.delay,
            dispose: DisposalMethod::Keep,
            transparent: Some(UNCHANGED),
            left: area.left as u16,
            top: area.top as u16,
            width: area.width as u16,
            height: area.height as u16,
            palette: Some(palette.padded()),
            buffer: indices.into(),
            ..Frame::default()
        }
    }
}

fn failed(path: &Path, cause: &dyn std::fmt::Display) -> Error {
    Error::Animation {
        path: path.to_owned(),
        cause: cause.to_string(),
    }
}

/// A block of pixels.
struct Area {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

impl Area {
    /// The smallest block that holds all changed pixels; a single pixel if none changed.
    fn around(changed: &[bool], width: usize) -> Self {
        let rows = || changed.chunks_exact(width);
        let Some(top) = rows().position(|row| row.contains(&true)) else {
            return Self {
                left: 0,
                top: 0,
                width: 1,
                height: 1,
            };
        };
        let bottom = rows().rposition(|row| row.contains(&true)).unwrap_or(top);
        let left = rows().filter_map(|row| row.iter().position(|c| *c)).min().unwrap_or(0);
        let right = rows()
            .filter_map(|row| row.iter().rposition(|c| *c))
            .max()
            .unwrap_or(left);
        Self {
            left,
            top,
            width: right + 1 - left,
            height: bottom + 1 - top,
        }
    }
}
