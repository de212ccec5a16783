use std::path::Path;

use crate::canvas::Canvas;
use crate::srgb;
use crate::text::{Align, CAP_HEIGHT, Fonts, Style};
use crate::theme::MAX_SIDE;
use crate::{Color, Error};

/// An image of opaque pixels.
///
/// Images can be combined as panels: [`beside`](Self::beside), [`above`](Self::above) and
/// [`grid`](Self::grid) return larger images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    /// Red, green and blue of each pixel, row by row from the top.
    pixels: Vec<u8>,
}

impl Image {
    /// An image of one colour. Sides are clamped to 1 to 32768 pixels.
    #[must_use]
    pub fn new(width: u32, height: u32, color: Color) -> Self {
        let side = |length: u32| length.clamp(1, 4 * MAX_SIDE) as usize;
        let (width, height) = (side(width), side(height));
        let pixels = [color.r, color.g, color.b].repeat(width * height);
        Self { width, height, pixels }
    }

    pub(crate) fn from_pixels(width: usize, height: usize, pixels: Vec<u8>) -> Self {
        debug_assert_eq!(pixels.len(), width * height * 3);
        Self { width, height, pixels }
    }

    /// The width in pixels.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The height in pixels.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Red, green and blue of each pixel, row by row from the top.
    #[must_use]
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    pub(crate) fn pixels_mut(&mut self) -> &mut [u8] {
        &mut self.pixels
    }

    /// The colour of a pixel; `None` outside the image.
    #[must_use]
    pub fn pixel(&self, x: usize, y: usize) -> Option<Color> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = (y * self.width + x) * 3;
        let [r, g, b] = [self.pixels[at], self.pixels[at + 1], self.pixels[at + 2]];
        Some(Color { r, g, b })
    }

    /// This image with another one to its right, centred, with `gap` pixels between them. Pixels
    /// that neither covers get the colour of this image's first pixel.
    #[must_use]
    pub fn beside(&self, other: &Self, gap: u32) -> Self {
        Self::grid(&[self, other], 2, gap)
    }

    /// This image with another one below it, centred, with `gap` pixels between them.
    #[must_use]
    pub fn above(&self, other: &Self, gap: u32) -> Self {
        Self::grid(&[self, other], 1, gap)
    }

    /// Images in rows of `columns`, with `gap` pixels between them, each centred in its cell.
    /// Pixels that no image covers get the colour of the first image's first pixel; without
    /// images the result is a single white pixel.
    #[must_use]
    pub fn grid(images: &[&Self], columns: usize, gap: u32) -> Self {
        let Some(&first) = images.first() else {
            return Self::new(1, 1, Color::WHITE);
        };
        let columns = columns.clamp(1, images.len());
        let gap = gap as usize;
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                images
                    .iter()
                    .skip(column)
                    .step_by(columns)
                    .map(|i| i.width)
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let heights: Vec<usize> = images
            .chunks(columns)
            .map(|row| row.iter().map(|i| i.height).max().unwrap_or(0))
            .collect();
        let total = |sizes: &[usize]| sizes.iter().sum::<usize>() + gap * (sizes.len() - 1);
        let (width, height) = (total(&widths), total(&heights));
        let mut whole = Self::from_pixels(width, height, first.pixels[..3].repeat(width * height));
        let mut top = 0;
        for (row, &cell_height) in images.chunks(columns).zip(&heights) {
            let mut left = 0;
            for (image, &cell_width) in row.iter().zip(&widths) {
                let at = (
                    left + (cell_width - image.width) / 2,
                    top + (cell_height - image.height) / 2,
                );
                whole.put(image, at);
                left += cell_width + gap;
            }
            top += cell_height + gap;
        }
        whole
    }

    /// Copies another image onto this one, which must be large enough.
    pub(crate) fn put(&mut self, image: &Self, (left, top): (usize, usize)) {
        for (y, row) in image.pixels.chunks_exact(image.width * 3).enumerate() {
            let start = ((top + y) * self.width + left) * 3;
            self.pixels[start..start + row.len()].copy_from_slice(row);
        }
    }

    /// The image shrunk to fit into `width` x `height` pixels, with its aspect ratio kept. Each new
    /// pixel is the mean light of the old ones it covers. An image that fits is returned unchanged.
    #[must_use]
    pub fn shrunk_to_fit(&self, width: u32, height: u32) -> Self {
        let side = |length: u32| f64::from(length.max(1));
        let factor = (side(width) / self.width as f64).min(side(height) / self.height as f64);
        if factor >= 1.0 {
            return self.clone();
        }
        let new = |length: usize| ((length as f64 * factor).round() as usize).max(1);
        let (new_width, new_height) = (new(self.width), new(self.height));
        let columns = shares(self.width, new_width);
        let light: Vec<[f32; 3]> = self
            .pixels
            .chunks_exact(3)
            .map(|p| srgb::to_light([p[0], p[1], p[2]]))
            .collect();
        let narrow: Vec<[f32; 3]> = light
            .chunks_exact(self.width)
            .flat_map(|row| columns.iter().map(move |share| share.mean(|x| row[x])))
            .collect();
        let mut pixels = Vec::with_capacity(new_width * new_height * 3);
        for share in shares(self.height, new_height) {
            for x in 0..new_width {
                pixels.extend(srgb::from_light(share.mean(|y| narrow[y * new_width + x])));
            }
        }
        Self::from_pixels(new_width, new_height, pixels)
    }

    /// The bytes of a PNG file.
    ///
    /// # Errors
    ///
    /// [`Error::Encode`] if the encoder fails.
    pub fn to_png(&self) -> Result<Vec<u8>, Error> {
        self.encode(png::Compression::Balanced, png::Filter::Adaptive)
    }

    /// The bytes of a PNG file, compressed for charts, which have large areas of one colour.
    pub(crate) fn to_flat_png(&self) -> Result<Vec<u8>, Error> {
        self.encode(png::Compression::High, png::Filter::NoFilter)
    }

    fn encode(&self, compression: png::Compression, filter: png::Filter) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(compression);
        encoder.set_filter(filter);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        writer.finish()?;
        Ok(bytes)
    }

    /// Reads an 8-bit RGB PNG file, as written by [`write_png`](Self::write_png).
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] if the file cannot be read or is not such a file.
    pub fn read_png(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|error| error.to_string());
        bytes.and_then(|bytes| decoded(&bytes)).map_err(|why| Error::Decode {
            path: path.to_owned(),
            why,
        })
    }

    /// Decodes the bytes of an 8-bit RGB PNG file.
    ///
    /// # Errors
    ///
    /// [`Error::Decode`], with a placeholder for the path, if the bytes are not such a file.
    pub fn from_png(bytes: &[u8]) -> Result<Self, Error> {
        decoded(bytes).map_err(|why| Error::Decode {
            path: "an image".into(),
            why,
        })
    }

    /// This image below a line of text on a yellow background.
    ///
    /// # Errors
    ///
    /// [`Error::Font`] if the embedded font cannot be read.
    pub fn under_banner(&self, text: &str) -> Result<Self, Error> {
        let fonts = Fonts::load()?;
        let (width, size) = (self.width as f64, (0.018 * self.width as f64).max(11.0));
        let height = (2.0 * size).round();
        let banner = Self::new(self.width as u32, height as u32, Color::hex(0xFF_E45C));
        let mut canvas = Canvas::over(banner);
        let style = fonts.fitted(text, Style::new(size, Color::INK).bold(), 0.94 * width);
        let at = (0.5 * width, 0.5 * (height + CAP_HEIGHT * style.size));
        fonts.draw(&mut canvas, text, at, Align::Center, style);
        Ok(canvas.into_image().above(self, 0))
    }

    /// Writes a PNG file, completely or not at all. An existing file is replaced.
    ///
    /// # Errors
    ///
    /// As [`Image::to_png`], and [`Error::File`] if the file cannot be written.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(farfield_io::write_bytes_atomically(path, &self.to_png()?)?)
    }
}

/// Decodes an 8-bit RGB PNG file; the error is the cause.
fn decoded(bytes: &[u8]) -> Result<Image, String> {
    let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let size = reader.output_buffer_size().ok_or("the image is too large")?;
    // A damaged header may claim any size.
    let mut pixels = Vec::new();
    pixels.try_reserve_exact(size).map_err(|_| "the image is too large")?;
    pixels.resize(size, 0);
    let info = reader.next_frame(&mut pixels).map_err(|error| error.to_string())?;
    if (info.color_type, info.bit_depth) != (png::ColorType::Rgb, png::BitDepth::Eight) {
        return Err("the pixels are not 8-bit RGB".to_owned());
    }
    pixels.truncate(info.buffer_size());
    Ok(Image::from_pixels(info.width as usize, info.height as usize, pixels))
}

/// The old pixels that one new pixel covers, along one axis.
struct Share {
    first: usize,
    /// The weight of each old pixel; the weights sum to one.
    parts: Vec<f32>,
}

impl Share {
    fn mean(&self, pixel: impl Fn(usize) -> [f32; 3]) -> [f32; 3] {
        let mut sum = [0.0; 3];
        for (i, part) in self.parts.iter().enumerate() {
            let light = pixel(self.first + i);
            for (sum, light) in sum.iter_mut().zip(light) {
                *sum += part * light;
            }
        }
        sum
    }
}

fn shares(old: usize, new: usize) -> Vec<Share> {
    let step = old as f64 / new as f64;
    let share = |i: usize| {
        let (from, to) = (i as f64 * step, (i + 1) as f64 * step);
        let (first, last) = (from as usize, (to.ceil() as usize).min(old));
        let cover = |x: usize| (to.min(x as f64 + 1.0) - from.max(x as f64)).max(0.0) / step;
        let parts = (first..last).map(|x| cover(x) as f32).collect();
        Share { first, parts }
    };
    (0..new).map(share).collect()
}
