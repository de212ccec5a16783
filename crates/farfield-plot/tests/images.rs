//! Images, panels, animations and grids of charts.

use std::fs::{self, File};

use farfield_plot::{Animation, Axis, ChartGrid, Color, Error, Figure, Image, LineChart, ReferenceLine, Series};

/// An image with a soft spot at `x` on a dark background.
fn spot(x: f64) -> Image {
    let (width, height) = (160, 120);
    let column = |i: usize| {
        let level = |j: usize| {
            let (dx, dy) = (i as f64 - x, j as f64 - 60.0);
            200.0 * (-(dx * dx + dy * dy) / 300.0).exp()
        };
        let shade = |j: usize| Color {
            r: (level(j) + 5.0) as u8,
            g: (0.6 * level(j) + 7.0) as u8,
            b: (40.0 + 0.2 * level(j)) as u8,
        };
        let pixels: Vec<Image> = (0..height).map(|j| Image::new(1, 1, shade(j))).collect();
        Image::grid(&pixels.iter().collect::<Vec<_>>(), 1, 0)
    };
    let columns: Vec<Image> = (0..width).map(column).collect();
    Image::grid(&columns.iter().collect::<Vec<_>>(), width, 0)
}

/// The width and height of an animation, and the pixels that a viewer shows after each frame.
fn played(path: &std::path::Path) -> (usize, usize, Vec<Vec<u8>>) {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    let mut decoder = options.read_info(File::open(path).unwrap()).unwrap();
    let (width, height) = (usize::from(decoder.width()), usize::from(decoder.height()));
    assert_eq!(decoder.repeat(), gif::Repeat::Infinite);
    let (mut shown, mut frames) = (vec![0; width * height * 3], Vec::new());
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        let palette = frame.palette.as_ref().unwrap();
        for (i, &index) in frame.buffer.iter().enumerate() {
            if Some(index) != frame.transparent {
                let x = usize::from(frame.left) + i % usize::from(frame.width);
                let y = usize::from(frame.top) + i / usize::from(frame.width);
                let color = &palette[3 * usize::from(index)..][..3];
                shown[3 * (y * width + x)..][..3].copy_from_slice(color);
            }
        }
        frames.push(shown.clone());
    }
    (width, height, frames)
}

#[test]
fn an_animation_reproduces_every_frame_closely() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spot.gif");
    let images: Vec<Image> = (0..12).map(|i| spot(20.0 + 10.0 * f64::from(i))).collect();
    let mut animation = Animation::create(&path, 20.0).unwrap();
    for image in &images {
        animation.push(image).unwrap();
        assert!(!path.exists(), "the file appears only at the end");
    }
    assert_eq!(animation.frames(), 12);
    animation.finish().unwrap();

    let (width, height, frames) = played(&path);
    assert_eq!((width, height, frames.len()), (160, 120, 12));
    for (image, frame) in images.iter().zip(&frames) {
        let errors: Vec<f64> = image
            .pixels()
            .iter()
            .zip(frame)
            .map(|(a, b)| f64::from(a.abs_diff(*b)))
            .collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let worst = errors.iter().copied().fold(0.0, f64::max);
        assert!(mean < 2.5 && worst < 24.0, "{mean} {worst}");
    }
    let plain = 160 * 120 * 12;
    assert!(fs::metadata(&path).unwrap().len() < plain / 3);
}

#[test]
fn a_still_animation_is_small_and_keeps_its_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("still.gif");
    let image = spot(80.0);
    let length = |count: usize| {
        let mut animation = Animation::create(&path, f64::NAN).unwrap();
        (0..count).for_each(|_| animation.push(&image).unwrap());
        animation.finish().unwrap();
        assert_eq!(played(&path).2.len(), count);
        fs::metadata(&path).unwrap().len()
    };
    // An unchanged frame takes a palette and a few bytes.
    assert!(length(40) - length(2) < 38 * 1000);
}

#[test]
fn unfinished_and_empty_animations_leave_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut animation = Animation::create(folder.path().join("a.gif"), 10.0).unwrap();
    animation.push(&spot(30.0)).unwrap();
    let refused = animation.push(&Image::new(30, 20, Color::INK)).unwrap_err();
    let expected = "frame 2 has 30 x 20 pixels but the first one has 160 x 120";
    assert!(refused.to_string().ends_with(expected), "{refused}");
    drop(animation);
    Animation::create(folder.path().join("b.gif"), 10.0)
        .unwrap()
        .finish()
        .unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let missing = Animation::create(folder.path().join("missing").join("c.gif"), 10.0);
    assert!(matches!(missing, Err(Error::File(_))), "{missing:?}");
}

#[test]
fn panels_are_side_by_side() {
    let (red, blue) = (Color::hex(0xFF_0000), Color::hex(0x00_00FF));
    let pair = Image::new(30, 20, red).beside(&Image::new(10, 10, blue), 4);
    assert_eq!((pair.width(), pair.height()), (44, 20));
    assert_eq!(pair.pixel(34, 5), Some(blue));
    assert_eq!(pair.pixel(34, 4), Some(red), "uncovered pixels have the first colour");
    assert_eq!(pair.pixel(44, 0), None);
    let stack = pair.above(&pair, 0);
    assert_eq!((stack.width(), stack.height()), (44, 40));
    let images: Vec<Image> = (0..5).map(|i| Image::new(8, 8, Color::PALETTE[i])).collect();
    let grid = Image::grid(&images.iter().collect::<Vec<_>>(), 3, 2);
    assert_eq!((grid.width(), grid.height()), (28, 18));
    assert_eq!(grid.pixel(10, 10), Some(Color::PALETTE[4]));
    assert_eq!(Image::grid(&[], 3, 2).width(), 1);
}

#[test]
fn png_files_hold_the_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spot.png");
    let image = spot(70.0);
    image.write_png(&path).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(File::open(&path).unwrap()))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(
        (info.width as usize, info.height as usize),
        (image.width(), image.height())
    );
    assert_eq!(pixels, image.pixels());
    let missing = image
        .write_png(folder.path().join("missing").join("a.png"))
        .unwrap_err();
    assert!(missing.to_string().contains("does not exist"), "{missing}");
}

#[test]
fn shrinking_keeps_aspect_ratio_and_light() {
    // A black and white pattern: half of the light is the sRGB value 188.
    let (black, white) = (Image::new(1, 1, Color::hex(0)), Image::new(1, 1, Color::WHITE));
    let pattern: Vec<&Image> = (0..400)
        .map(|i| if (i % 20 + i / 20) % 2 == 0 { &black } else { &white })
        .collect();
    let small = Image::grid(&pattern, 20, 0).shrunk_to_fit(10, 90);
    assert_eq!((small.width(), small.height()), (10, 10));
    assert!(
        small.pixels().iter().all(|v| v.abs_diff(188) <= 1),
        "{:?}",
        small.pixels()
    );
    let image = spot(50.0);
    assert!(image.shrunk_to_fit(160, 400) == image);
    let uneven = image.shrunk_to_fit(71, 71);
    assert_eq!((uneven.width(), uneven.height()), (71, 53));
}

#[test]
fn a_grid_of_charts_has_each_chart_in_its_place() {
    let red = Color::hex(0xFF_0000);
    let chart = |index: usize| {
        let points: Vec<_> = (0..30).map(|i| (f64::from(i), f64::from(i * i) + 1.0)).collect();
        let series = Series::new("run").points(&points).color(Color::PALETTE[index]);
        LineChart::new(format!("chart {index}"))
            .y_axis(Axis::log("value"))
            .series(series)
    };
    let grid = ChartGrid::new("Diagnostics")
        .subtitle("leapfrog")
        .columns(2)
        .size(1200, 900)
        .chart(chart(0))
        .chart(chart(1).reference(ReferenceLine::vertical(12.0).color(red)))
        .chart(chart(2).series(Series::expected("theory").points(&[(0.0, 1.0), (29.0, 900.0)])));
    let image = grid.to_image().unwrap();
    assert_eq!((image.width(), image.height()), (1200, 900));
    let count = |color: Color, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>| {
        rows.flat_map(|y| columns.clone().map(move |x| (x, y)))
            .filter(|&(x, y)| image.pixel(x, y) == Some(color))
            .count()
    };
    for (index, (x, y)) in [(0, 0), (600, 0), (0, 480)].into_iter().enumerate() {
        let color = Color::PALETTE[index];
        let (here, all) = (count(color, x..x + 600, y..y + 420 + 60), count(color, 0..1200, 0..900));
        assert!(here > 200 && here == all, "chart {index}: {here} of {all}");
    }
    assert!(count(red, 600..1200, 0..480) > 50, "the vertical marker");
    let dark = |(x, y): (usize, usize)| image.pixel(x, y).is_some_and(|c| c.r.max(c.g).max(c.b) < 0x60);
    let dashes = (560..800)
        .flat_map(|y| (80..560).map(move |x| (x, y)))
        .filter(|&at| dark(at))
        .count();
    assert!(dashes > 200, "the expected curve: {dashes}");
    assert!(count(Color::INK, 300..900, 0..60) > 100, "the title");

    let crowded = (0..40).fold(ChartGrid::new(""), |grid, _| grid.chart(chart(0)));
    assert!(matches!(crowded.to_image(), Err(Error::Size { .. })));
    assert!(ChartGrid::new("nothing").to_png().is_ok());
}

#[test]
fn a_banner_is_above_the_image_and_does_not_change_it() {
    let picture = Image::new(300, 200, Color::hex(0x10_2030));
    let marked = Image::from_png(&picture.to_png().unwrap())
        .unwrap()
        .under_banner("A quick look")
        .unwrap();
    let height = marked.height() - picture.height();
    assert_eq!(marked.width(), 300);
    assert!((15..60).contains(&height), "{height}");
    // The banner is yellow with dark letters.
    assert_eq!(marked.pixel(2, 2), Some(Color::hex(0xFF_E45C)));
    let dark = marked.pixels()[..3 * 300 * height]
        .chunks(3)
        .filter(|p| p[0] < 100)
        .count();
    assert!(dark > 50, "{dark}");
    assert_eq!(&marked.pixels()[3 * 300 * height..], picture.pixels());
    assert!(Image::from_png(b"no picture").is_err());
}
