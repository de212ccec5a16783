//! The interface of every chart and map: drawing, and writing to a file.

use std::path::Path;

use crate::{Error, Image};

/// A chart or map that can be drawn on an image of a chosen size.
pub trait Figure {
    /// Sets the size of the image in pixels (default for charts: 1200 x 800).
    #[must_use]
    fn size(self, width: u32, height: u32) -> Self
    where
        Self: Sized;

    /// Draws the figure.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if the size of the image is not supported or leaves too little space for a part of the figure.
    fn to_image(&self) -> Result<Image, Error>;

    /// Draws the figure and returns the bytes of a PNG file.
    ///
    /// # Errors
    ///
    /// As [`Figure::to_image`].
    fn to_png(&self) -> Result<Vec<u8>, Error> {
        self.to_image()?.to_flat_png()
    }

    /// Draws the figure and writes it to a PNG file, completely or not at all. An existing file is replaced.
    ///
    /// # Errors
    ///
    /// As [`Figure::to_image`], and [`Error::File`] if the file cannot be written.
    fn save(&self, path: &Path) -> Result<(), Error> {
        Ok(farfield_io::write_bytes_atomically(path, &self.to_png()?)?)
    }
}
