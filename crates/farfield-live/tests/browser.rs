//! The page in a real browser: its pictures, its keys, and its behaviour when the program ends and restarts.

use crate::harness::browser::{Hang, PATIENCE, in_browser};
use crate::harness::{Followed, RINGS, Shown, loopback, run, server, shown_file};
use farfield_live::command::Command;
use farfield_live::{Access, Manner, Server};
use serde_json::{Value, json};
use std::f64::consts::PI;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// Starts a long run of two rings.
fn long_run(folder: &Path) -> Shown {
    let changes = [&RINGS[..], &["time.end=1000", "alarm.energy_jump=0"]].concat();
    let shown = Shown::start(run("leapfrog", &changes, folder), Manner::default());
    // The browser draws with the same CPU cores, so the run is slowed down.
    let viewer = shown.hub.enter();
    shown.hub.hear(viewer, Command::Limit { rate: 8.0 });
    shown.hub.leave(viewer);
    shown
}

/// Points on an asymmetric spiral, so that the density differs from cell to cell.
fn spiral() -> Vec<[f64; 3]> {
    (0..6000)
        .map(|k| {
            let share = f64::from(k) / 6000.0;
            let (radius, angle) = (0.2 + 1.2 * share, 0.4 + 9.0 * PI * share * share);
            [radius * angle.cos(), 0.7 * radius * angle.sin(), 0.3 * share]
        })
        .collect()
}

#[test]
fn the_drawn_density_matches_the_points() {
    in_browser(|browser| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spiral.csv");
        let points = spiral();
        let lines = points.iter().map(|[x, y, z]| format!("{x},{y},{z}\n"));
        std::fs::write(&path, format!("x,y,z\n{}", lines.collect::<String>())).unwrap();
        let server = shown_file(&path);
        // The view is along the z axis and covers -1.6 to 1.6 at z = 0. Without a depth cue every point counts as one.
        let mut page = browser.open(&format!("{}#camera=0,0,0,1,1.6,0,0,0&depth=0&value=none", server.url()));
        page.wait_for_frame();
        const CELLS: usize = 8;
        let found = page.value(&format!("farfield.density({CELLS})"));
        let found: Vec<f64> = found.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        let aspect = page.value("innerWidth / innerHeight").as_f64().unwrap();
        let mut expected = vec![0.0; CELLS * CELLS];
        let f = 1.0 / (17.5_f64).to_radians().tan();
        for [x, y, z] in &points {
            let ahead = 1.6 * f - z;
            let cell = |at: f64| ((0.5 + 0.5 * at) * CELLS as f64).floor() as usize;
            expected[cell(f * y / ahead) * CELLS + cell(f / aspect * x / ahead)] += 1.0;
        }
        let total: f64 = found.iter().sum();
        assert!((total / 6000.0 - 1.0).abs() < 0.02, "{total} of 6000 points were drawn");
        let difference: f64 = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).sum();
        assert!(
            difference < 0.05 * 6000.0,
            "{difference} of 6000 points are in a wrong cell: {found:.0?} {expected:.0?}"
        );
        // The screen is brighter where there are points.
        let pixels = "(async () => {
        const image = await createImageBitmap(await farfield.picture('1'));
        const pen = new OffscreenCanvas(image.width, image.height).getContext('2d');
        pen.drawImage(image, 0, 0);
        const { data } = pen.getImageData(0, 0, image.width, image.height);
        const cells = new Array(64).fill(0);
        for (let y = 0; y < image.height; y++) for (let x = 0; x < image.width; x++)
            cells[(7 - Math.floor(8 * y / image.height)) * 8 + Math.floor(8 * x / image.width)] += data[4 * (y * image.width + x) + 1];
        return cells.map((sum) => sum * 64 / image.width / image.height);
    })()";
        let bright: Vec<f64> = page
            .value(pixels)
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_f64().unwrap())
            .collect();
        for cell in 0..CELLS * CELLS {
            if expected[cell] == 0.0 && found[cell] < 0.5 {
                // The background has brightness 7.
                assert!(
                    bright[cell] < 7.2,
                    "cell {cell} is empty but has brightness {}",
                    bright[cell]
                );
            } else if expected[cell] > 60.0 {
                assert!(
                    bright[cell] > 7.6,
                    "cell {cell} has {} points and brightness {}",
                    expected[cell],
                    bright[cell]
                );
            }
        }
        page.expect_no_complaints();
    });
}

#[test]
fn a_run_can_be_paused_stepped_and_changed() {
    in_browser(|browser| {
        let folder = tempfile::tempdir().unwrap();
        let shown = long_run(&folder.path().join("run"));
        let server = server(&shown.hub);
        let mut page = browser.open(&server.url());
        page.wait_for_frame();
        page.wait_for("farfield.state.frame.step > 0");
        page.press(" ");
        page.wait_for("farfield.state.status.paused && farfield.state.frame.step === farfield.state.status.step");
        let step = page.value("farfield.state.frame.step").as_u64().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(page.value("farfield.state.frame.step"), step);
        page.press(".");
        page.wait_for(&format!("farfield.state.frame.step === {}", step + 1));
        // Back to a frame seen before, and forward again.
        page.press("[");
        assert_eq!(page.value("farfield.state.frame.step"), step);
        page.press("End");
        assert_eq!(page.value("farfield.state.frame.step"), step + 1);
        page.value("document.getElementById('rate').value = '7'; document.getElementById('rate').onchange()");
        page.wait_for("farfield.state.status.rate === 7");
        // A new colouring of the same moment arrives while the run is paused.
        page.value("document.getElementById('value').value = 'speed'; document.getElementById('value').oninput()");
        page.wait_for("farfield.state.frame.parts[0].value === 'speed'");
        assert_eq!(page.value("farfield.state.frame.step"), step + 1);
        page.value(
            "document.getElementById('key').value = 'time.step'; document.getElementById('new-value').value = '0.01'",
        );
        page.value("document.getElementById('change-form').requestSubmit()");
        page.wait_for("document.getElementById('state').textContent.includes('time.step = 0.01')");
        page.value(
        "document.getElementById('key').value = 'sum.tolerance'; document.getElementById('new-value').value = '1e-5'",
    );
        page.value("document.getElementById('change-form').requestSubmit()");
        page.wait_for("document.getElementById('state').textContent.includes('sum.tolerance = 1e-5')");
        let tracers = page.value("farfield.state.frame.parts[0].total").as_u64().unwrap();
        page.press("t");
        page.wait_for(&format!("farfield.state.frame.parts[0].total === {}", tracers + 1000));
        // A double click drops tracers at the mouse position.
        let at = page.value(
            "farfield.camera.place(2 * 100 / innerWidth - 1, 1 - 2 * 80 / innerHeight, innerWidth / innerHeight)",
        );
        // Hide the panels, which cover the small picture.
        page.press("p");
        page.double_click([100.0, 80.0]);
        page.wait_for(&format!("farfield.state.frame.parts[0].total === {}", tracers + 2000));
        page.press(".");
        page.wait_for("farfield.state.status.dt === 0.01");
        // The dropped tracers are younger.
        page.value("document.getElementById('value').value = 'age'; document.getElementById('value').oninput()");
        page.wait_for("farfield.state.frame.parts[0].value === 'age'");
        let ages = page.value("farfield.state.frame.parts[0].range");
        assert!(
            (ages[0].as_f64().unwrap() - 0.01).abs() < 1e-9 && ages[1].as_f64().unwrap() > 0.04,
            "{ages}"
        );
        page.press(" ");
        page.wait_for(&format!(
            "!farfield.state.status.paused && farfield.state.frame.step > {}",
            step + 3
        ));
        page.expect_no_complaints();
        drop(shown.stop());
        let log = std::fs::read_to_string(folder.path().join("run/run.log")).unwrap();
        assert!(
            log.contains("changed time.step=0.01") && log.contains("changed sum.tolerance=1e-5"),
            "{log}"
        );
        assert_eq!(log.matches("dropped 1000 tracers").count(), 2, "{log}");
        let at: [f64; 3] = std::array::from_fn(|axis| at[axis].as_f64().unwrap());
        assert!(log.contains(&format!("of {at:?}")), "{at:?} {log}");
    });
}

#[test]
fn keys_and_mouse_move_the_camera_and_the_address_stores_it() {
    in_browser(|browser| {
        let folder = tempfile::tempdir().unwrap();
        let shown = long_run(&folder.path().join("run"));
        let server = server(&shown.hub);
        let mut page = browser.open(&server.url());
        page.wait_for_frame();
        // Without the centre, which moves with the rings.
        let camera = "farfield.camera.attitude.concat(farfield.camera.reach).join()";
        let mut before = page.value(camera);
        // The zoom before "r" gives the reset something to undo.
        for key in ["ArrowLeft", "ArrowUp", "+", "-", "q", "2", "3", "1", "+", "r"] {
            page.press(key);
            let after = page.value(camera);
            assert_ne!(before, after, "{key}");
            before = after;
        }
        page.press("p");
        page.drag([60.0, 70.0], [110.0, 90.0]);
        assert_ne!(page.value(camera), before, "dragging must turn the camera");
        before = page.value(camera);
        page.turn_wheel([60.0, 70.0], -120.0);
        assert_ne!(page.value(camera), before, "the wheel must zoom");
        for (key, setting) in [
            ("l", "light"),
            ("g", "glow"),
            ("a", "arrows"),
            ("p", "bare"),
            ("p", "bare"),
        ] {
            let was = page.value(&format!("farfield.settings.{setting}"));
            page.press(key);
            assert_ne!(page.value(&format!("farfield.settings.{setting}")), was, "{key}");
        }
        page.press("m");
        page.wait_for("location.hash.includes('camera=') && location.hash.includes('map=viridis') && location.hash.includes('arrows=1')");
        page.press("f");
        page.wait_for("document.fullscreenElement !== null");
        page.press("f");
        page.wait_for("document.fullscreenElement === null");
        page.press("h");
        assert_eq!(page.value("document.getElementById('help').open"), true);
        assert!(
            page.value("document.getElementById('keys').rows.length")
                .as_u64()
                .unwrap()
                > 30
        );
        page.press("h");
        assert_eq!(page.value("document.getElementById('help').open"), false);
        // A second viewer with this address sees the same view.
        let address = page.value("location.href");
        let settings = page.value("JSON.stringify(farfield.settings)");
        let attitude = page.value("farfield.camera.attitude.map((c) => c.toFixed(4)).join()");
        let mut other = browser.open(address.as_str().unwrap());
        other.wait_for_frame();
        assert_eq!(other.value("JSON.stringify(farfield.settings)"), settings);
        assert_eq!(
            other.value("farfield.camera.attitude.map((c) => c.toFixed(4)).join()"),
            attitude
        );
        page.expect_no_complaints();
        other.expect_no_complaints();
    });
}

#[test]
fn one_finger_turns_and_two_fingers_pan_and_zoom() {
    in_browser(|browser| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.csv");
        std::fs::write(&path, "x,y,z\n0,0,0\n1,2,3\n2,1,0\n").unwrap();
        let server = shown_file(&path);
        let mut page = browser.open(&server.url());
        page.wait_for_frame();
        page.press("p");
        let attitude = "farfield.camera.attitude.join()";
        let rest = "farfield.camera.centre.concat(farfield.camera.reach)";
        let (before, kept) = (page.value(attitude), page.value(rest));
        page.touch(&[[[200.0, 150.0], [260.0, 150.0]]]);
        assert_ne!(page.value(attitude), before);
        assert_eq!(page.value(rest), kept);
        // Doubling the distance of two fingers zooms by two.
        let before = page.value(attitude);
        page.touch(&[[[150.0, 150.0], [120.0, 150.0]], [[210.0, 150.0], [240.0, 150.0]]]);
        assert_eq!(page.value(attitude), before);
        let reach = page.value("farfield.camera.reach").as_f64().unwrap();
        assert!((reach / kept[3].as_f64().unwrap() - 0.5).abs() < 0.02, "{reach} {kept}");
        let held = page.value("farfield.camera.centre");
        page.touch(&[[[150.0, 150.0], [190.0, 160.0]], [[210.0, 150.0], [250.0, 160.0]]]);
        assert_ne!(page.value("farfield.camera.centre"), held);
        assert!((page.value("farfield.camera.reach").as_f64().unwrap() / reach - 1.0).abs() < 0.1);
        page.expect_no_complaints();
    });
}

/// Waits for a file with one of these extensions in a folder and returns its contents.
fn saved(folder: &Path, endings: &[&str]) -> Vec<u8> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let found = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| {
                let ending = path.extension().and_then(|ending| ending.to_str());
                ending.is_some_and(|ending| endings.contains(&ending))
            });
        if let Some(path) = found {
            return std::fs::read(path).unwrap();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Hang::throw(format!("no file with an extension of {endings:?} was saved"))
}

#[test]
fn pictures_have_the_chosen_size_and_films_play() {
    in_browser(|browser| {
        let folder = tempfile::tempdir().unwrap();
        let files = folder.path().join("files");
        std::fs::create_dir(&files).unwrap();
        let shown = long_run(&folder.path().join("run"));
        let server = server(&shown.hub);
        let mut page = browser.open(&server.url());
        page.wait_for_frame();
        page.save_into(&files);
        page.value("document.getElementById('picture-size').value = '2048x2048'");
        page.press("s");
        let png = saved(&files, &["png"]);
        assert!(png.starts_with(b"\x89PNG") && png.len() > 10_000);
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert_eq!((number(16), number(20)), (2048, 2048));
        assert_eq!(page.value("document.getElementById('picture').width"), 400);
        page.press("v");
        page.wait_for("farfield.film.running");
        let first = page.value("farfield.state.frame.step").as_u64().unwrap();
        page.wait_for(&format!("farfield.state.frame.step > {}", first + 6));
        page.press("v");
        page.wait_for("!farfield.film.running && farfield.film.last");
        let film = saved(&files, &["mp4", "webm"]);
        assert_eq!(page.value("farfield.film.last.size"), film.len());
        // A blank tab plays it, without the content security policy of the page.
        let mut cinema = browser.open("about:blank");
        let text: String = film.iter().map(|byte| format!("{byte:02x}")).collect();
        let size = cinema.value(&format!(
        "(async () => {{
            const bytes = Uint8Array.from('{text}'.match(/../g), (two) => parseInt(two, 16));
            const video = document.createElement('video');
            video.src = URL.createObjectURL(new Blob([bytes]));
            video.muted = true;
            await new Promise((resolve, reject) => {{ video.oncanplay = resolve; video.onerror = () => reject(video.error.message); }});
            return [video.videoWidth, video.videoHeight];
        }})()"
    ));
        assert_eq!(size, json!([400, 300]));
        page.expect_no_complaints();
    });
}

/// A proxy between a browser and a server that limits the data rate towards the browser.
fn slow_line(server: SocketAddr, bytes_a_second: usize) -> SocketAddr {
    let listener = TcpListener::bind(loopback(0)).unwrap();
    let own = listener.local_addr().unwrap();
    let pass = move |mut from: TcpStream, mut to: TcpStream, rate: usize| {
        let mut bytes = vec![0; 8192];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if to.write_all(&bytes[..count]).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_secs_f64(count as f64 / rate as f64));
        }
        let _ = to.shutdown(std::net::Shutdown::Both);
    };
    std::thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let Ok(far) = TcpStream::connect(server) else { return };
            let (near2, far2) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            std::thread::spawn(move || pass(far, near, bytes_a_second));
            std::thread::spawn(move || pass(near2, far2, usize::MAX));
        }
    });
    own
}

#[test]
fn a_slow_network_gets_fewer_points() {
    in_browser(|browser| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cloud.npz");
        let points = farfield::points::PointSet::Cube.generate::<f64>(100_000, 1);
        let array = farfield_io::NamedArray::new("points", farfield_io::Array::from_rows(&points));
        farfield_io::write_arrays(&path, &[array], farfield_io::Precision::Single).unwrap();
        let server = shown_file(&path);
        // All points would take four seconds, a tenth of them 0.4 s.
        let line = slow_line(server.address(), 200_000);
        let mut page = browser.open(&format!("http://{line}/#points=17"));
        page.wait_for_frame();
        page.wait_for("farfield.state.frame.parts[0].count < 40000");
        // The frame still states the total number of points.
        assert_eq!(page.value("farfield.state.frame.parts[0].total"), 100_000);
        assert!(page.value("farfield.state.share").as_f64().unwrap() < 0.5);
        page.expect_no_complaints();
    });
}

#[test]
fn files_of_points_are_coloured_by_their_values() {
    in_browser(|browser| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let changes = [&RINGS[..4], &["time.end=0.1", "output.fields_every=2"]].concat();
        drop(Shown::start(run("leapfrog", &changes, &path), Manner::default()).end());
        let csv = folder.path().join("masses.csv");
        std::fs::write(&csv, "x,y,z,mass\n0,0,0,1\n1,2,3,2\n2,1,0,5\n").unwrap();
        let fields = path.join("fields");
        for (path, value) in [
            (csv, "mass"),
            (fields.join("tracers-000002.npz"), "speed"),
            (fields.join("elements-000002.vtp"), "strength"),
        ] {
            let server = shown_file(&path);
            let mut page = browser.open(&format!("{}#value={value}", server.url()));
            page.wait_for_frame();
            page.wait_for(&format!("farfield.state.frame.parts[0].value === '{value}'"));
            page.wait_for(&format!(
                "document.getElementById('scale-name').textContent === '{value}'"
            ));
            let range = page.value("farfield.state.frame.parts[0].range");
            assert!(range[1].as_f64() > range[0].as_f64(), "{}: {range}", path.display());
            let total: f64 = page.value("farfield.density(1)")[0].as_f64().unwrap();
            assert!(total > 0.0, "{}", path.display());
            page.expect_no_complaints();
        }
    });
}

#[test]
fn two_viewers_see_the_same_frame() {
    in_browser(|browser| {
        let folder = tempfile::tempdir().unwrap();
        let shown = long_run(&folder.path().join("run"));
        let server = server(&shown.hub);
        let (mut one, mut two) = (browser.open(&server.url()), browser.open(&server.url()));
        one.wait_for_frame();
        two.wait_for_frame();
        one.value("farfield.connection.send({ do: 'pause' })");
        let held = "farfield.state.status.paused && farfield.state.frame.step === farfield.state.status.step";
        one.wait_for(held);
        two.wait_for(held);
        let sum = "farfield.state.frame.parts[0].records.reduce((sum, byte) => (sum * 31 + byte) % 1000003, 0)";
        assert_eq!(
            one.value("farfield.state.frame.step"),
            two.value("farfield.state.frame.step")
        );
        assert_eq!(one.value(sum), two.value(sum));
        one.wait_for("farfield.state.status.viewers === 2");
    });
}

#[test]
fn the_page_reports_the_end_of_the_program_and_reconnects() {
    in_browser(|browser| {
        let folder = tempfile::tempdir().unwrap();
        let shown = long_run(&folder.path().join("first"));
        let first = server(&shown.hub);
        let address = first.address();
        let mut page = browser.open(&first.url());
        page.wait_for_frame();
        drop(first);
        drop(shown.stop());
        page.wait_for("document.getElementById('message').textContent.includes('has ended')");
        assert_eq!(page.value("document.getElementById('message').hidden"), false);
        let again = long_run(&folder.path().join("second"));
        let before = page.value("farfield.state.frames").as_u64().unwrap();
        let _second = Server::start(loopback(address.port()), Access::default(), again.hub.clone()).unwrap();
        page.wait_for(&format!("farfield.state.open && farfield.state.frames > {before}"));
    });
}

#[test]
fn a_folder_can_be_replayed_and_scrubbed() {
    in_browser(|browser| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let changes = [&RINGS[..4], &["time.end=0.5", "output.fields_every=2"]].concat();
        let outcome = Shown::start(run("leapfrog", &changes, &path), Manner::default()).end();
        assert_eq!(outcome.steps, 10);
        let followed = Followed::start(&path);
        let mut page = browser.open(&followed.server.url());
        page.wait_for_frame();
        page.wait_for("farfield.state.frame.step === 10");
        assert_eq!(
            page.value("farfield.state.moments.map((m) => m[0]).join()"),
            "0,2,4,6,8,10"
        );
        page.press("Home");
        page.wait_for("farfield.state.frame.step === 0");
        page.press("]");
        page.wait_for("farfield.state.frame.step === 2");
        page.value("document.getElementById('scrub').value = 3; document.getElementById('scrub').oninput()");
        page.wait_for("farfield.state.frame.step === 6");
        assert_eq!(
            page.value("document.querySelectorAll('#charts figure').length"),
            Value::from(4)
        );
        page.expect_no_complaints();
    });
}

#[test]
fn the_folder_of_a_running_simulation_is_followed() {
    in_browser(|browser| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let changes = [
            &RINGS[..4],
            &["time.end=1000", "alarm.energy_jump=0", "output.fields_every=1"],
        ]
        .concat();
        let shown = Shown::start(run("leapfrog", &changes, &path), Manner::default());
        let one = shown.hub.enter();
        shown.hub.hear(one, Command::Limit { rate: 4.0 });
        while !path.join("fields/tracers-000001.npz").exists() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let followed = Followed::start(&path);
        let mut page = browser.open(&followed.server.url());
        page.wait_for_frame();
        let first = page.value("farfield.state.frame.step").as_u64().unwrap();
        // The newest moment is shown until the user goes back.
        page.wait_for(&format!("farfield.state.frame.step > {}", first + 2));
        page.press("Home");
        page.wait_for("farfield.state.frame.step === 0");
        let known = page.value("farfield.state.moments.length").as_u64().unwrap();
        page.wait_for(&format!("farfield.state.moments.length > {}", known + 1));
        assert_eq!(page.value("farfield.state.frame.step"), 0);
        page.press("End");
        page.wait_for(&format!("farfield.state.frame.step > {}", first + 4));
        page.expect_no_complaints();
    });
}

#[test]
fn the_page_stays_responsive_with_a_quarter_of_a_million_points() {
    in_browser(|browser| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cloud.npy");
        let points = farfield::points::PointSet::Plummer.generate::<f64>(1 << 18, 1);
        let array = farfield_io::NamedArray::new("points", farfield_io::Array::from_rows(&points));
        farfield_io::write_arrays(&path, &[array], farfield_io::Precision::Single).unwrap();
        let server = shown_file(&path);
        let mut page = browser.open(&server.url());
        page.wait_for_frame();
        // Keys are answered while the picture is drawn.
        for _ in 0..20 {
            page.press("ArrowLeft");
        }
        println!("drawing {} ms", page.value("1000 * farfield.state.drawSeconds"));
        assert!(page.value("farfield.state.frame.parts[0].count").as_u64().unwrap() > 0);
        page.expect_no_complaints();
    });
}
