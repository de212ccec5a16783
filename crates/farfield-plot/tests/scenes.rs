//! Images of point clouds through the public interface: brightness, hidden points, rejected input.

use std::f64::consts::TAU;

use farfield_plot::scene::{Bounds, Camera, Cloud, ColourMap, Exposure, Scene};
use farfield_plot::{Color, Error, Image};

const WHITE: ColourMap = ColourMap::Shades(Color::WHITE);
const RED: ColourMap = ColourMap::Shades(Color::hex(0xE0_3020));
const BLUE: ColourMap = ColourMap::Shades(Color::hex(0x20_60E0));

/// Points spread evenly over a ball.
fn ball(center: [f64; 3], radius: f64, count: usize) -> Vec<[f64; 3]> {
    let golden = TAU * 0.618_033_988_749_894_9;
    (0..count)
        .map(|i| {
            let part = (i as f64 + 0.5) / count as f64;
            let z = 1.0 - 2.0 * ((i * 7919) % count) as f64 / count as f64;
            let (flat, turn, r) = ((1.0 - z * z).sqrt(), golden * i as f64, radius * part.cbrt());
            [
                center[0] + r * flat * turn.cos(),
                center[1] + r * flat * turn.sin(),
                center[2] + r * z,
            ]
        })
        .collect()
}

/// A camera on the positive x axis; y increases to the right, z upwards.
fn camera() -> Camera {
    Camera::looking_at([10.0, 0.0, 0.0], [0.0; 3], [0.0, 0.0, 1.0], 40.0)
}

fn scene<'a>() -> Scene<'a> {
    Scene::new(240, 160).background(Color::hex(0))
}

/// The sums of red, green and blue over a block of pixels.
fn sums(image: &Image, (x0, x1): (usize, usize), (y0, y1): (usize, usize)) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for y in y0..y1 {
        for x in x0..x1 {
            let color = image.pixel(x, y).unwrap();
            for (sum, v) in sums.iter_mut().zip([color.r, color.g, color.b]) {
                *sum += f64::from(v);
            }
        }
    }
    sums
}

fn total(image: &Image) -> f64 {
    sums(image, (0, image.width()), (0, image.height())).iter().sum()
}

#[test]
fn denser_clouds_are_brighter() {
    let (few, many) = (ball([0.0, -2.0, 0.0], 1.0, 2000), ball([0.0, 2.0, 0.0], 1.0, 20_000));
    let both = [few, many].concat();
    let image = scene()
        .cloud(Cloud::new(&both).colours(WHITE))
        .render(&camera())
        .unwrap();
    let (left, right) = (
        sums(&image, (40, 100), (50, 110))[0],
        sums(&image, (140, 200), (50, 110))[0],
    );
    assert!(right > 1.5 * left && left > 0.0, "{left} {right}");
    assert_eq!(
        image.pixel(2, 2),
        Some(Color::hex(0)),
        "pixels without points keep the background"
    );
}

#[test]
fn near_points_hide_far_ones_and_are_brighter() {
    let (near, far) = (ball([3.0, 0.0, 0.0], 0.5, 20_000), ball([-3.0, 0.0, 0.0], 0.9, 20_000));
    let middle = |front: ColourMap, back: ColourMap| {
        // The result must not depend on the order of the clouds.
        let scene = scene()
            .cloud(Cloud::new(&far).colours(back))
            .cloud(Cloud::new(&near).colours(front));
        // Dark enough that colours do not turn white.
        let scene = scene.opacity(6.0).exposure(Exposure {
            white: 400.0,
            knee: 40.0,
        });
        sums(&scene.render(&camera()).unwrap(), (115, 125), (75, 85))
    };
    let red_before = middle(RED, BLUE);
    assert!(red_before[0] > 1.3 * red_before[2], "{red_before:?}");
    let blue_before = middle(BLUE, RED);
    assert!(blue_before[2] > 1.3 * blue_before[0], "{blue_before:?}");

    // With the same exposure, fog makes the far cloud darker and the near one brighter.
    let exposure = Exposure {
        white: 200.0,
        knee: 50.0,
    };
    let peak = |points: &[[f64; 3]], fog: f64| {
        let scene = scene().exposure(exposure).fog(fog).opacity(0.0).glow(0.0);
        sums(
            &scene
                .cloud(Cloud::new(points).colours(WHITE))
                .render(&camera())
                .unwrap(),
            (118, 122),
            (78, 82),
        )[0]
    };
    assert!(peak(&far, 1.0) < 0.9 * peak(&far, 0.0));
    assert!(peak(&near, 1.0) > 1.05 * peak(&near, 0.0));
}

#[test]
fn a_roll_of_the_camera_does_not_change_the_light() {
    let points = ball([0.0, 0.3, 0.2], 1.2, 5000);
    let scene = scene()
        .exposure(Exposure { white: 20.0, knee: 5.0 })
        .cloud(Cloud::new(&points).colours(WHITE));
    let straight = total(&scene.render(&camera()).unwrap());
    for degrees in [17.0, 45.0, 90.0, 211.0] {
        let rolled = total(&scene.render(&camera().rolled(degrees)).unwrap());
        assert!((rolled / straight - 1.0).abs() < 0.01, "{degrees}: {rolled} {straight}");
    }
}

#[test]
fn a_point_that_moves_by_less_than_a_pixel_does_not_flicker() {
    let exposure = Exposure { white: 1.0, knee: 0.3 };
    let bright = |shift: f64| {
        let points = [[0.0, shift, 0.3 * shift]];
        let scene = scene()
            .exposure(exposure)
            .cloud(Cloud::new(&points).colours(WHITE).point_size(2.0));
        total(&scene.render(&camera()).unwrap())
    };
    // A pixel is 10 tan(20°) / 80 = 0.0455 wide here.
    let levels: Vec<f64> = (0..10).map(|i| bright(0.0046 * f64::from(i))).collect();
    let (low, high) = levels
        .iter()
        .fold((f64::MAX, 0.0), |(l, h), &v| (f64::min(l, v), f64::max(h, v)));
    assert!(high < 1.2 * low && low > 0.0, "{levels:?}");
}

#[test]
fn dense_parts_keep_their_shape() {
    // A million points, 60 % of them in a small core.
    let points = [ball([0.0; 3], 0.4, 600_000), ball([0.0; 3], 2.0, 400_000)].concat();
    let image = scene().cloud(Cloud::new(&points)).render(&camera()).unwrap();
    let top = ColourMap::Inferno.at(1.0);
    let white = image
        .pixels()
        .chunks_exact(3)
        .filter(|p| *p == [top.r, top.g, top.b])
        .count();
    assert!(white < 20, "{white} pixels are saturated");
    let row: Vec<u32> = (120..200)
        .step_by(10)
        .map(|x| sums(&image, (x, x + 10), (75, 85)).iter().sum::<f64>() as u32)
        .collect();
    assert!(
        row.windows(2).all(|pair| pair[1] <= pair[0]),
        "from the core outwards: {row:?}"
    );
}

#[test]
fn values_determine_colours_within_the_range() {
    let points = [ball([0.0, -2.0, 0.0], 0.8, 4000), ball([0.0, 2.0, 0.0], 0.8, 4000)].concat();
    let values: Vec<f64> = points.iter().map(|p| p[1].signum()).collect();
    let cloud = Cloud::new(&points).colours(ColourMap::Diverging);
    let image = scene()
        .cloud(cloud.clone().coloured_by(&values, None))
        .render(&camera())
        .unwrap();
    let (left, right) = (sums(&image, (40, 100), (50, 110)), sums(&image, (140, 200), (50, 110)));
    assert!(
        left[2] > 1.3 * left[0] && right[0] > 1.3 * right[2],
        "{left:?} {right:?}"
    );

    let fixed = scene()
        .cloud(cloud.coloured_by(&values, Some((-100.0, 100.0))))
        .render(&camera())
        .unwrap();
    let [r, _, b] = sums(&fixed, (40, 100), (50, 110));
    assert!((r / b - 1.0).abs() < 0.1, "the middle of a wide range is grey: {r} {b}");
}

#[test]
fn a_fixed_exposure_does_not_depend_on_other_points() {
    let (one, other) = (ball([0.0, -2.0, 0.0], 0.5, 2000), ball([0.0, 2.0, 0.0], 0.3, 50_000));
    let both = [one.clone(), other].concat();
    let exposure = scene().cloud(Cloud::new(&one)).measure(&camera()).unwrap();
    let left = |points: &[[f64; 3]]| {
        let image = scene()
            .exposure(exposure)
            .cloud(Cloud::new(points))
            .render(&camera())
            .unwrap();
        sums(&image, (40, 90), (50, 110))
    };
    assert_eq!(left(&one), left(&both));
}

#[test]
fn images_do_not_depend_on_the_number_of_threads() {
    let points = ball([0.0; 3], 2.0, 60_000);
    let values: Vec<f64> = points.iter().map(|p| p[2]).collect();
    let scene = scene()
        .cloud(Cloud::new(&points).coloured_by(&values, None))
        .colour_bar("height")
        .axes(true);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| scene.render(&camera()).unwrap())
    };
    assert!(with(1) == with(3));
}

#[test]
fn captions_frame_and_axes_are_drawn_in_their_places() {
    let changed = |scene: Scene<'_>, columns: (usize, usize), rows: (usize, usize)| {
        let image = scene.render(&camera()).unwrap();
        let inside = sums(&image, columns, rows).iter().sum::<f64>();
        assert!(inside > 0.0);
        assert_eq!(total(&image), inside, "something is drawn outside {columns:?} {rows:?}");
    };
    changed(scene().title("Title"), (0, 120), (0, 40));
    changed(scene().caption("t = 1.25"), (120, 240), (0, 40));
    changed(scene().axes(true), (0, 80), (80, 160));
    let bounds = Bounds {
        min: [-1.0; 3],
        max: [1.0; 3],
    };
    changed(scene().frame(bounds), (80, 160), (40, 120));
    // A colour bar needs values.
    let bar = scene().colour_bar("speed");
    assert_eq!(total(&bar.render(&camera()).unwrap()), 0.0);
    let outside = [[1e6, 0.0, 0.0]];
    changed(
        bar.cloud(Cloud::new(&outside).coloured_by(&[1.0], None)),
        (140, 240),
        (120, 160),
    );
}

#[test]
fn invalid_parameters_are_rejected_by_name() {
    let points = ball([0.0; 3], 1.0, 10);
    let message = |scene: Scene<'_>| scene.render(&camera()).unwrap_err().to_string();
    let cloud = || Cloud::new(&points);
    assert_eq!(
        message(scene().cloud(cloud()).cloud(cloud().coloured_by(&[1.0, 2.0], None))),
        "cloud 2 has 10 points but 2 values"
    );
    assert_eq!(
        message(scene().cloud(cloud().weight(-1.0))),
        "the scene's weight of cloud 1 is -1; expected a positive number"
    );
    assert!(message(scene().cloud(cloud().point_size(f64::NAN))).contains("point size of cloud 1"));
    assert!(message(scene().opacity(-0.5)).contains("opacity"));
    assert!(message(scene().fog(f64::INFINITY)).contains("fog"));
    assert!(message(scene().glow(1.5)).contains("a fraction from 0 to 1"));
    assert!(message(scene().exposure(Exposure { white: 0.0, knee: 1.0 })).contains("exposure.white"));
    let small = Scene::new(3, 100).render(&camera());
    assert!(matches!(small, Err(Error::Size { width: 3, .. })), "{small:?}");
}

#[test]
fn points_that_cannot_be_shown_are_left_out() {
    let mut points = ball([0.0; 3], 1.0, 500);
    let good = scene().cloud(Cloud::new(&points)).render(&camera()).unwrap();
    points.extend([
        [f64::NAN, 0.0, 0.0],
        [0.0, f64::INFINITY, 0.0],
        [20.0, 0.0, 0.0],
        [1e300; 3],
        [-1e300; 3],
    ]);
    let odd = scene().cloud(Cloud::new(&points)).render(&camera()).unwrap();
    assert!(good == odd);
    let mut values = vec![1.0; points.len()];
    values[3] = f64::NAN;
    scene()
        .cloud(Cloud::new(&points).coloured_by(&values, None))
        .render(&camera())
        .unwrap();
    scene().cloud(Cloud::new(&[])).render(&camera()).unwrap();
    scene()
        .cloud(Cloud::new(&[[0.0; 3]]).point_size(1e9).weight(1e30))
        .render(&camera())
        .unwrap();
}
