//! Encodes frames as a compressed video with the program ffmpeg.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::{Error, Image};

/// The video formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilmKind {
    /// H.264 in MP4, which every player and browser supports.
    Mp4,
    /// VP9 in WebM.
    Webm,
}

impl FilmKind {
    /// The options of ffmpeg for this format.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Mp4 => &["-c:v", "libx264", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"],
            Self::Webm => &[
                "-c:v",
                "libvpx-vp9",
                "-crf",
                "28",
                "-b:v",
                "0",
                "-row-mt",
                "1",
                "-f",
                "webm",
            ],
        }
    }
}

/// A video that is written frame by frame.
///
/// The file appears at its path with [`finish`](Self::finish); if the video is dropped before that, no file is left.
#[derive(Debug)]
pub struct Film {
    path: PathBuf,
    kind: FilmKind,
    frames_per_second: f64,
    /// The encoder, started with the first frame.
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    size: (usize, usize),
    frames: usize,
    encoder: Child,
    input: Option<ChildStdin>,
    unfinished: PathBuf,
}

impl Film {
    /// Whether the program ffmpeg can be started.
    #[must_use]
    pub fn is_possible() -> bool {
        let asked = Command::new("ffmpeg")
            .arg("-version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        asked.is_ok_and(|status| status.success())
    }

    /// A video whose final path is `path`. The encoder starts with the first frame.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, kind: FilmKind, frames_per_second: f64) -> Self {
        let usable = frames_per_second.is_finite();
        Self {
            path: path.into(),
            kind,
            frames_per_second: if usable {
                frames_per_second.clamp(1.0, 120.0)
            } else {
                20.0
            },
            running: None,
        }
    }

    /// Adds a frame.
    ///
    /// # Errors
    ///
    /// [`Error::FrameSize`] if its size differs from that of the first frame, [`Error::Film`] if ffmpeg cannot be
    /// started or fails.
    pub fn push(&mut self, image: &Image) -> Result<(), Error> {
        let size = (image.width(), image.height());
        if self.running.is_none() {
            self.running = Some(self.start(size)?);
        }
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        if running.size != size {
            return Err(Error::FrameSize {
                path: self.path.clone(),
                frame: running.frames + 1,
                found: size,
                expected: running.size,
            });
        }
        running.frames += 1;
        let written = running.input.as_mut().map(|input| input.write_all(image.pixels()));
        match written {
            Some(Ok(())) => Ok(()),
            // The message of ffmpeg is preferred, if there is one.
            _ => self.end().and(Err(self.failed("ffmpeg ended early".to_owned()))),
        }
    }

    /// Ends the video and moves the file to its final path. A video without frames makes no file.
    ///
    /// # Errors
    ///
    /// [`Error::Film`] if ffmpeg fails or the file cannot be moved.
    pub fn finish(mut self) -> Result<(), Error> {
        let Some(unfinished) = self.running.as_ref().map(|running| running.unfinished.clone()) else {
            return Ok(());
        };
        self.end()?;
        std::fs::rename(&unfinished, &self.path).map_err(|error| self.failed(error.to_string()))
    }

    fn start(&self, (width, height): (usize, usize)) -> Result<Running, Error> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let unfinished = folder.join(format!(".farfield-{}-film.tmp", std::process::id()));
        let mut encoder = Command::new("ffmpeg")
            .args(["-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s"])
            .arg(format!("{width}x{height}"))
            .args(["-r", &self.frames_per_second.to_string(), "-i", "-", "-an"])
            // Both formats require even side lengths.
            .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"])
            .args(self.kind.options())
            .arg(&unfinished)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| self.failed(format!("cannot start ffmpeg: {error}")))?;
        Ok(Running {
            size: (width, height),
            frames: 0,
            input: encoder.stdin.take(),
            encoder,
            unfinished,
        })
    }

    /// Waits for the encoder to end, and returns its last message if it failed.
    fn end(&mut self) -> Result<(), Error> {
        let Some(mut running) = self.running.take() else {
            return Ok(());
        };
        drop(running.input.take());
        let mut said = String::new();
        if let Some(mut messages) = running.encoder.stderr.take() {
            let _ = std::io::Read::read_to_string(&mut messages, &mut said);
        }
        match running.encoder.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => {
                let _ = std::fs::remove_file(&running.unfinished);
                let last = said.lines().last().unwrap_or("no error message").trim().to_owned();
                Err(self.failed(format!("ffmpeg failed: {last}")))
            }
        }
    }

    fn failed(&self, reason: String) -> Error {
        Error::Film {
            path: self.path.clone(),
            reason,
        }
    }
}

impl Drop for Film {
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            let unfinished = running.unfinished.clone();
            let _ = self.end();
            let _ = std::fs::remove_file(unfinished);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;

    #[test]
    fn videos_are_made_if_ffmpeg_is_available_and_leave_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        for (kind, name, magic) in [
            (FilmKind::Mp4, "a.mp4", &b"ftyp"[..]),
            (FilmKind::Webm, "a.webm", &b"\x1a\x45\xdf\xa3"[..]),
        ] {
            let path = folder.path().join(name);
            let mut film = Film::new(&path, kind, 20.0);
            let pushed = film.push(&Image::new(65, 48, Color::INK));
            if !Film::is_possible() {
                assert!(pushed.unwrap_err().to_string().contains("ffmpeg"));
                continue;
            }
            pushed.unwrap();
            film.push(&Image::new(65, 48, Color::PALETTE[0])).unwrap();
            assert!(film.push(&Image::new(64, 48, Color::INK)).is_err(), "another size");
            assert!(!path.exists());
            film.finish().unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert!(
                bytes.windows(magic.len()).take(16).any(|start| start == magic),
                "{name}"
            );
            // A dropped video leaves no file.
            let mut other = Film::new(folder.path().join("b.mp4"), kind, 20.0);
            other.push(&Image::new(64, 48, Color::INK)).unwrap();
            drop(other);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
            std::fs::remove_file(&path).unwrap();
        }
    }
}
