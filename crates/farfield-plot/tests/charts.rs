//! Charts through the public interface: the content of their PNG bytes.

use farfield_plot::{
    Axis, BarChart, Color, Error, Figure, LegendPosition, LineChart, LineStyle, Marker, Part, ReferenceLine, Series,
};

struct Image {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Image {
    fn decode(bytes: &[u8]) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb);
        Self {
            width: info.width,
            height: info.height,
            pixels,
        }
    }

    fn count(&self, color: Color) -> usize {
        let wanted = [color.r, color.g, color.b];
        self.pixels.chunks_exact(3).filter(|pixel| *pixel == wanted).count()
    }
}

fn timing() -> LineChart {
    LineChart::new("Time")
        .x_axis(Axis::log("N"))
        .y_axis(Axis::log("seconds"))
        .series(Series::new("FMM").points(&[(1e3, 0.01), (1e4, 0.1), (1e5, 1.0)]))
        .series(Series::new("direct").points(&[(1e3, 0.002), (1e4, 0.2), (1e5, 20.0)]))
}

fn phases() -> BarChart {
    BarChart::new("Phases")
        .y_label("seconds")
        .categories(["treecode", "FMM"])
        .part(Part::new("P2P", &[2.0, 2.0]))
        .part(Part::new("far", &[3.0, 1.0]))
}

#[test]
fn the_default_size_is_1200_by_800() {
    let image = Image::decode(&timing().to_png().unwrap());
    assert_eq!((image.width, image.height), (1200, 800));
    let image = Image::decode(&phases().to_png().unwrap());
    assert_eq!((image.width, image.height), (1200, 800));
}

#[test]
fn the_size_can_be_chosen() {
    for (width, height) in [(200, 200), (640, 480), (2000, 300)] {
        let image = Image::decode(&timing().size(width, height).to_png().unwrap());
        assert_eq!((image.width, image.height), (width, height));
        let image = Image::decode(&phases().size(width, height).to_png().unwrap());
        assert_eq!((image.width, image.height), (width, height));
    }
    assert!(matches!(
        timing().size(3, 800).to_png(),
        Err(Error::Size { width: 3, .. })
    ));
}

#[test]
fn every_series_is_drawn_in_its_colour() {
    let image = Image::decode(&timing().to_png().unwrap());
    for color in &Color::PALETTE[..2] {
        assert!(image.count(*color) > 1000);
    }
    assert_eq!(image.count(Color::PALETTE[2]), 0);
}

#[test]
fn chosen_styles_are_drawn() {
    let red = Color::hex(0xFF_0000);
    let points = [(0.0, 0.0), (1.0, 2.0), (2.0, 1.0)];
    let painted = |line, marker| {
        let series = Series::new("").points(&points).style(line, marker).color(red);
        let chart = LineChart::new("").series(series).legend(LegendPosition::Hidden);
        Image::decode(&chart.to_png().unwrap()).count(red)
    };
    let markers = [
        Marker::Circle,
        Marker::Square,
        Marker::Triangle,
        Marker::Diamond,
        Marker::TriangleDown,
        Marker::Plus,
        Marker::Cross,
    ];
    for marker in markers {
        assert!(painted(LineStyle::None, marker) > 30, "{marker:?}");
    }
    assert_eq!(painted(LineStyle::None, Marker::None), 0);
    let solid = painted(LineStyle::Solid, Marker::None);
    let dashed = painted(LineStyle::Dashed, Marker::None);
    let dotted = painted(LineStyle::Dotted, Marker::None);
    assert!(
        solid > dashed && dashed > dotted && dotted > 0,
        "{solid} {dashed} {dotted}"
    );
}

#[test]
fn the_area_of_a_part_is_proportional_to_its_value() {
    let image = Image::decode(&phases().numbers(false).legend(LegendPosition::Hidden).to_png().unwrap());
    let (near, far) = (image.count(Color::PALETTE[0]), image.count(Color::PALETTE[1]));
    assert!((near as f64 / far as f64 - 1.0).abs() < 0.02, "{near} {far}");
}

#[test]
fn reference_lines_are_drawn() {
    let red = Color::hex(0xFF_0000);
    let lines = [ReferenceLine::horizontal(0.5), ReferenceLine::vertical(2e4)];
    for line in lines {
        let line = line.label("published").color(red).style(LineStyle::Solid);
        let image = Image::decode(&timing().reference(line.clone()).to_png().unwrap());
        assert!(image.count(red) > 300, "{line:?}");
    }
    let line = ReferenceLine::horizontal(4.0).color(red);
    assert!(Image::decode(&phases().reference(line).to_png().unwrap()).count(red) > 300);
}

#[test]
fn the_legend_does_not_cover_data() {
    // With points all over the frame, the legend must be outside.
    let points: Vec<_> = (0..30)
        .flat_map(|i| (0..30).map(move |j| (i.into(), j.into())))
        .collect();
    let series = Series::new("points")
        .points(&points)
        .style(LineStyle::None, Marker::Circle);
    let chart = LineChart::new("").series(series).size(1500, 800);
    let auto = chart.to_png().unwrap();
    assert_eq!(auto, chart.clone().legend(LegendPosition::Right).to_png().unwrap());
    assert_ne!(auto, chart.legend(LegendPosition::Hidden).to_png().unwrap());
}

#[test]
fn the_same_chart_gives_the_same_bytes() {
    assert_eq!(timing().to_png().unwrap(), timing().to_png().unwrap());
    assert_eq!(phases().to_png().unwrap(), phases().to_png().unwrap());
}

#[test]
fn values_that_cannot_be_shown_are_skipped() {
    let bad = [
        (0.0, 1.0),
        (-5.0, 1.0),
        (1e3, 0.0),
        (f64::NAN, 1.0),
        (1e3, f64::INFINITY),
    ];
    let good = [(1e3, 0.01), (1e4, 0.1)];
    let chart = |points: &[(f64, f64)]| {
        let series = Series::new("s").points(points);
        LineChart::new("")
            .x_axis(Axis::log(""))
            .y_axis(Axis::log(""))
            .series(series)
    };
    let expected = chart(&good).to_png().unwrap();
    assert_eq!(chart(&[&bad[..], &good].concat()).to_png().unwrap(), expected);
    assert!(Image::decode(&chart(&bad).to_png().unwrap()).count(Color::PALETTE[0]) > 0);
}

#[test]
fn degenerate_charts_do_not_panic() {
    let odd: [&[(f64, f64)]; 8] = [
        &[],
        &[(f64::NAN, f64::NAN)],
        &[(1.0, 1.0)],
        &[(0.0, 0.0), (0.0, 0.0)],
        &[(1e-300, 1e300), (1e300, 1e-300)],
        &[(f64::MIN_POSITIVE, f64::MAX), (f64::MAX, f64::MIN)],
        &[(1.0, 5.0), (1.0 + 1e-16, 5.0)],
        &[(-1e308, f64::NEG_INFINITY), (5e-324, 5e-324)],
    ];
    let long = "a very long text without any end ".repeat(20);
    for points in odd {
        for axis in [
            Axis::linear("x"),
            Axis::log("x").range(0.0, f64::NAN),
            Axis::log(&*long),
        ] {
            for (width, height) in [(1200, 800), (200, 200)] {
                let chart = LineChart::new(&*long)
                    .subtitle("\u{0}\n漢字 ^{ _{} ^{x")
                    .x_axis(axis.clone())
                    .y_axis(axis.clone().ticks([f64::NAN, -1.0, 1.0, 1.0]))
                    .series(Series::new(&*long).points(points).width(f64::NAN))
                    .series(Series::new("d").points(points).style(LineStyle::Dashed, Marker::Cross))
                    .reference(ReferenceLine::horizontal(f64::NAN).label("nowhere"))
                    .reference(ReferenceLine::vertical(1.0).label(&*long))
                    .size(width, height);
                assert!(chart.to_png().is_ok());
            }
        }
    }
}

#[test]
fn degenerate_bars_do_not_panic() {
    let charts = [
        BarChart::new(""),
        BarChart::new("no parts").categories(["a", "b"]),
        BarChart::new("no categories").part(Part::new("p", &[1.0])),
        BarChart::new("bad")
            .categories(["a", "b", "c"])
            .part(Part::new("p", &[f64::NAN, -1.0])),
        BarChart::new("huge")
            .categories(["a"])
            .part(Part::new("p", &[f64::MAX])),
        BarChart::new("tiny").categories(["a"]).part(Part::new("p", &[5e-324])),
        phases()
            .reference(ReferenceLine::vertical(1.0))
            .legend(LegendPosition::Auto),
        BarChart::new("many").categories((0..300).map(|i| i.to_string())),
    ];
    for chart in charts {
        assert!(chart.to_png().is_ok(), "{chart:?}");
        assert!(chart.size(200, 200).to_png().is_ok());
    }
}

#[test]
fn save_writes_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chart.png");
    timing().save(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), timing().to_png().unwrap());
    let missing = folder.path().join("missing").join("chart.png");
    let error = phases().save(&missing).unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
}
