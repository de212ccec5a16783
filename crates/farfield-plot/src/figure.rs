//! What every chart and map can do: be drawn, and be written to a file.

use std::path::Path;

use crate::{Error, Image};

/// Something that draws itself on an image of a chosen size.
pub trait Figure {
    /// Chooses the size of the image in pixels. Charts are 1200 x 800 if it is not called.
    #[must_use]
    fn size(self, width: u32, height: u32) -> Self
    where
        Self: Sized;

    /// Draws it.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if the size of the image is not supported, or leaves too little for a part of the figure.
    fn to_image(&self) -> Result<Image, Error>;

    /// Draws it and returns the bytes of a PNG file.
    ///
    /// # Errors
    ///
    /// Fails as [`Figure::to_image`] does.
    fn to_png(&self) -> Result<Vec<u8>, Error> {
        self.to_image()?.to_flat_png()
    }

    /// Draws it and writes it to a PNG file, completely or not at all. A file already there is replaced.
    ///
    /// # Errors
    ///
    /// Fails as [`Figure::to_image`] does, and if the file cannot be written.
    fn save(&self, path: &Path) -> Result<(), Error> {
        Ok(farfield_io::write_bytes_atomically(path, &self.to_png()?)?)
    }
}
