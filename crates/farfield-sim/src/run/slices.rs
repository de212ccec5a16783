//! Pictures of slices of a flow: `frames/slice-z/frame-000100.png`.

use crate::error::Error;
use crate::model::Slice;
use farfield_plot::scene::ColourMap;
use farfield_plot::{FieldMap, Figure};
use std::path::Path;

/// The folder of the animated slices.
pub const FIRST: &str = "slice-z";
/// The range of the colours, as a fraction of the largest value. Otherwise thin layers at walls would hide the wake.
const SPAN: f64 = 0.25;

/// Draws the slices of one state.
pub fn draw(frames: &Path, step: u64, time: f64, slices: &[Slice], image: [u32; 2]) -> Result<(), Error> {
    for slice in slices {
        let folder = frames.join(format!("slice-{}", slice.name));
        std::fs::create_dir_all(&folder).map_err(|error| Error::Folder {
            folder: folder.clone(),
            why: format!("cannot create this folder: {error}"),
        })?;
        let map = picture(slice, time).fitted(image[0].max(image[1]).max(200));
        map.to_image()?.write_png(folder.join(format!("frame-{step:06}.png")))?;
    }
    Ok(())
}

fn picture(slice: &Slice, time: f64) -> FieldMap {
    let largest = slice.cells.iter().map(|cell| cell.2.abs()).fold(0.0, f32::max);
    let span = (SPAN * f64::from(largest)).max(f64::MIN_POSITIVE);
    let mut map = FieldMap::new(format!("{}, t = {time:.3}", slice.title))
        .axes(slice.axes[0], slice.axes[1])
        .extent(slice.low, slice.high)
        .colours(ColourMap::Diverging);
    // Two empty cells make the colour range symmetric, so that zero has the middle colour.
    map = map.cell(slice.low, slice.low, -span).cell(slice.low, slice.low, span);
    for (low, side, value) in &slice.cells {
        let high = [low[0] + side, low[1] + side];
        map = map.cell(*low, high, f64::from(*value).clamp(-span, span));
    }
    for (low, high) in &slice.outlines {
        map = map.outline(*low, *high);
    }
    map
}
