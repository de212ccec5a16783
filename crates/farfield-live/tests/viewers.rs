//! Viewers without a browser: the contents of frames, and runs that many or malicious viewers do not disturb.

mod harness;

use farfield_live::command::Command;
use farfield_live::frame::{Encoder, Frame, Want};
use farfield_live::recording::OneMoment;
use farfield_live::{Access, Hub, Live, Manner, Server, Still, StillCloud};
use farfield_sim::run::{Control, Observer, Silent};
use harness::viewer::{Heard, Viewer};
use harness::{RINGS, Shown, loopback, run, server};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tungstenite::Message;

/// A moment with one cloud of `count` points.
fn still(count: usize) -> Still {
    let points = farfield::points::PointSet::Cube.generate::<f64>(count, 3);
    let velocities: Vec<[f64; 3]> = points.iter().map(|[x, y, z]| [2.0 * y, -x, 0.5 * z]).collect();
    Still {
        clouds: vec![StillCloud {
            name: "points".to_owned(),
            groups: (0..count as u32).map(|k| k % 3).collect(),
            points,
            vectors: vec![("velocity".to_owned(), velocities)],
            numbers: Vec::new(),
        }],
        ..Still::default()
    }
}

/// The frame for a viewer that takes all points.
fn frame_of(still: &Still) -> Frame {
    let want = Want {
        points: usize::MAX,
        ..Want::default()
    };
    still.frame(&mut Encoder::default(), &want).unwrap()
}

#[test]
fn points_arrive_in_sixteen_bits_and_a_sample_stays_the_same() {
    let (still, hub) = (still(5000), Arc::new(Hub::default()));
    let points = still.clouds[0].points.clone();
    hub.set_moments(Arc::new(OneMoment::new(still)));
    let server = server(&hub);
    let mut viewer = Viewer::connect(server.address());
    viewer.want(usize::MAX, "speed");
    viewer.ready();
    let all = viewer.frame();
    assert_eq!(all.count(), points.len());
    // Sorted by x, each received point agrees with its original within the rounding.
    let mut found: Vec<[f64; 3]> = all.points();
    let key = |p: &[f64; 3], q: &[f64; 3]| p[0].total_cmp(&q[0]);
    let mut expected = points;
    found.sort_by(key);
    expected.sort_by(key);
    for (a, b) in found.iter().zip(&expected) {
        assert!((a[0] - b[0]).abs() < 1.0 / 65535.0, "{a:?} {b:?}");
    }
    let part = &all.header["parts"][0];
    assert_eq!(
        (part["value"].as_str(), part["range"][0].as_f64()),
        (Some("speed"), Some(0.0))
    );
    let groups: Vec<usize> = all.bytes.chunks_exact(8).map(|record| record[7] as usize).collect();
    assert!(
        [0, 1, 2]
            .iter()
            .all(|group| groups.iter().filter(|g| *g == group).count() > 1600)
    );
    viewer.want(700, "speed");
    viewer.ready();
    let some = viewer.frame();
    assert_eq!(some.count(), 700);
    assert_eq!(some.bytes[..700 * 8], all.bytes[..700 * 8]);
    assert_eq!(some.header["parts"][0]["total"], 5000);
    // They are a fair sample: their mean agrees with that of all points.
    let mean = |points: &[[f64; 3]]| points.iter().map(|p| p[1]).sum::<f64>() / points.len() as f64;
    assert!((mean(&some.points()) - mean(&all.points())).abs() < 0.05);
}

/// The last checkpoint and the diagnostics of a run, without its wall-clock times.
fn results(folder: &Path) -> (Vec<u8>, String) {
    let mut names: Vec<_> = std::fs::read_dir(folder.join("checkpoints"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    names.sort();
    let checkpoint = std::fs::read(
        names
            .iter()
            .rfind(|p| p.extension().is_some_and(|e| e == "ckpt"))
            .unwrap(),
    )
    .unwrap();
    let table = std::fs::read_to_string(folder.join("diagnostics.csv")).unwrap();
    let without_seconds = |line: &str| {
        let fields: Vec<&str> = line
            .split(',')
            .enumerate()
            .filter(|(k, _)| *k != 4)
            .map(|(_, f)| f)
            .collect();
        fields.join(",")
    };
    (
        checkpoint,
        table.lines().map(without_seconds).collect::<Vec<_>>().join("\n"),
    )
}

#[test]
fn viewers_leave_a_run_bitwise_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let (alone, watched) = (folder.path().join("alone"), folder.path().join("watched"));
    let changes = [&RINGS[..], &["time.end=1"]].concat();
    run("leapfrog", &changes, &alone)
        .go(&Control::default(), &mut Silent)
        .unwrap();
    let prepared = run("leapfrog", &changes, &watched);
    let hub = Arc::new(Hub::default());
    let server = server(&hub);
    let address = server.address();
    let viewers: Vec<_> = ["speed", "strength", "", "nothing"]
        .into_iter()
        .map(|value| std::thread::spawn(move || watch(address, value)))
        .collect();
    let attackers: Vec<_> = (0..4).map(|_| std::thread::spawn(move || attack(address))).collect();
    while hub.viewers() < 4 {
        std::thread::yield_now();
    }
    let outcome = prepared
        .go(
            &Control::default(),
            &mut Live::new(hub.clone(), Manner::default(), &mut Silent),
        )
        .unwrap();
    assert!(outcome.finished);
    drop(server);
    let frames: usize = viewers.into_iter().map(|viewer| viewer.join().unwrap()).sum();
    assert!(frames > 0);
    attackers.into_iter().for_each(|attacker| attacker.join().unwrap());
    assert_eq!(results(&alone), results(&watched));
}

/// Watches until the server ends; returns the number of frames received.
fn watch(address: SocketAddr, value: &str) -> usize {
    let mut viewer = Viewer::connect(address);
    viewer.want(1 << 20, value);
    viewer.ready();
    let mut frames = 0;
    while let Ok(heard) = viewer.hear() {
        if matches!(heard, Heard::Frame(_)) {
            frames += 1;
            let ready = Message::text(json!({ "do": "ready" }).to_string());
            if viewer.socket.send(ready).is_err() {
                break;
            }
        }
    }
    frames
}

/// Sends many kinds of invalid messages; each time the connection is closed.
fn attack(address: SocketAddr) {
    let texts = [
        "",
        "hello",
        "{\"do\":\"exit\"}",
        "{\"do\":\"step\",\"count\":-3}",
        "[[[[[[",
        "{\"do\":\"change\",\"key\":\"seed\",\"value\":\"a b\"}",
    ];
    let messages = texts.iter().map(|text| Message::text(*text)).chain([
        Message::binary(vec![0; 100]),
        Message::text("x".repeat(100_000)),
        Message::binary(vec![7; 3_000_000]),
    ]);
    for message in messages {
        let Ok(stream) = TcpStream::connect(address) else {
            return;
        };
        let Ok((mut socket, _)) = tungstenite::client(format!("ws://{address}/socket"), stream) else {
            return;
        };
        let _ = socket.send(message);
        // The server's first messages may arrive before it closes the connection.
        while socket.read().is_ok() {}
    }
    for bytes in [
        &b"\x16\x03\x01 no words at all \xff\xfe"[..],
        b"GET",
        b"POST / HTTP/1.1\r\n\r\n",
        &[b'A'; 20_000],
    ] {
        let Ok(mut stream) = TcpStream::connect(address) else {
            return;
        };
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
}

/// The resident memory of this process in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = text.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    pages * 4096
}

#[test]
fn viewers_that_never_read_do_not_use_up_memory() {
    let hub = Arc::new(Hub::default());
    let server = server(&hub);
    let mut silent: Vec<Viewer> = (0..5).map(|_| Viewer::connect(server.address())).collect();
    for viewer in &mut silent {
        viewer.want(usize::MAX, "");
        viewer.ready();
        viewer.ready();
    }
    let still = still(200_000);
    hub.set_frame(frame_of(&still));
    let before = resident();
    let mut one_that_reads = Viewer::connect(server.address());
    one_that_reads.want(1000, "");
    for _ in 0..100 {
        // 1.6 MB each: 160 MB for every viewer if they were queued.
        hub.set_frame(frame_of(&still));
        one_that_reads.ready();
        assert_eq!(one_that_reads.frame().count(), 1000);
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 150_000_000, "memory grew by {grown} bytes in 100 frames");
    drop(server);
}

#[test]
fn a_thousand_connections_come_and_go() {
    let hub = Arc::new(Hub::default());
    hub.set_moments(Arc::new(OneMoment::new(still(1000))));
    let server = server(&hub);
    let address = server.address();
    let threads: Vec<_> = (0..4)
        .map(|k| {
            std::thread::spawn(move || {
                for n in 0..250 {
                    let mut viewer = Viewer::connect(address);
                    viewer.want(100, "");
                    viewer.ready();
                    // Some disconnect at once, some after a frame, some with a close message.
                    match (n + k) % 3 {
                        0 => {}
                        1 => drop(viewer.frame()),
                        _ => viewer.socket.close(None).unwrap(),
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    while hub.viewers() > 0 {
        std::thread::yield_now();
    }
    let mut last = Viewer::connect(address);
    last.want(100, "");
    last.ready();
    assert_eq!(last.frame().count(), 100);
}

#[test]
fn fifty_viewers_watch_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let changes = [&RINGS[..], &["time.end=1000", "alarm.energy_jump=0"]].concat();
    let shown = Shown::start(run("leapfrog", &changes, &folder.path().join("run")), Manner::default());
    let server = server(&shown.hub);
    let address = server.address();
    let viewers: Vec<_> = (0..50)
        .map(|k| {
            std::thread::spawn(move || {
                let mut viewer = Viewer::connect(address);
                viewer.want(100 * (k + 1), ["", "speed"][k % 2]);
                let mut last = None;
                for _ in 0..10 {
                    viewer.ready();
                    let frame = viewer.frame();
                    assert_eq!(frame.count(), (100 * (k + 1)).min(2000));
                    assert!(last.is_none_or(|last| frame.step() > last), "steps must increase");
                    last = Some(frame.step());
                }
            })
        })
        .collect();
    viewers.into_iter().for_each(|viewer| viewer.join().unwrap());
    drop(shown.stop());
}

/// All kinds of viewers at once for a minute; the measurements are in docs/notes/live.md.
#[test]
#[ignore = "takes a minute"]
fn a_minute_of_everything_leaves_the_run_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let (alone, watched) = (folder.path().join("alone"), folder.path().join("watched"));
    let changes = [&RINGS[..], &["time.end=6", "tracers.count=20000"]].concat();
    run("leapfrog", &changes, &alone)
        .go(&Control::default(), &mut Silent)
        .unwrap();
    let prepared = run("leapfrog", &changes, &watched);
    let hub = Arc::new(Hub::default());
    let server = server(&hub);
    let address = server.address();
    let mut silent: Vec<Viewer> = (0..5).map(|_| Viewer::connect(address)).collect();
    for viewer in &mut silent {
        viewer.want(usize::MAX, "");
        viewer.ready();
        viewer.ready();
    }
    let viewers: Vec<_> = (0..50)
        .map(|k| std::thread::spawn(move || watch(address, ["", "speed", "strength"][k % 3])))
        .collect();
    while hub.viewers() < 55 {
        std::thread::yield_now();
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let restless: Vec<_> = (0..4)
        .map(|_| {
            let is_over = is_over.clone();
            std::thread::spawn(move || {
                let mut connections = 0;
                while connections < 250 || !is_over.load(Ordering::Relaxed) {
                    let Ok(stream) = TcpStream::connect(address) else { break };
                    let Ok((mut socket, _)) = tungstenite::client(format!("ws://{address}/socket"), stream) else {
                        break;
                    };
                    let _ = socket.send(Message::text(r#"{"do":"ready"}"#));
                    connections += 1;
                    std::thread::sleep(Duration::from_millis(100));
                }
                connections
            })
        })
        .collect();
    let attacker = {
        let is_over = is_over.clone();
        std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                attack(address);
                std::thread::sleep(Duration::from_millis(500));
            }
        })
    };
    // 120 steps, two per second.
    let pace = hub.enter();
    hub.hear(pace, Command::Limit { rate: 2.0 });
    hub.leave(pace);
    let begin = Instant::now();
    let sampler = {
        let is_over = is_over.clone();
        std::thread::spawn(move || {
            let mut sizes = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                sizes.push(resident());
                std::thread::sleep(Duration::from_millis(500));
            }
            sizes
        })
    };
    let outcome = prepared
        .go(
            &Control::default(),
            &mut Live::new(hub.clone(), Manner::default(), &mut Silent),
        )
        .unwrap();
    assert!(outcome.finished);
    let seconds = begin.elapsed().as_secs_f64();
    is_over.store(true, Ordering::Relaxed);
    let connections: usize = restless.into_iter().map(|thread| thread.join().unwrap()).sum();
    attacker.join().unwrap();
    drop(server);
    let frames: usize = viewers.into_iter().map(|viewer| viewer.join().unwrap()).sum();
    let sizes = sampler.join().unwrap();
    let (middle, most) = (sizes[sizes.len() / 4], sizes.iter().copied().max().unwrap());
    println!(
        "{seconds:.0} s, {} steps, {frames} frames to 50 viewers, {connections} short connections; memory {} MB after \
         a quarter of the time, at most {} MB",
        outcome.steps,
        middle / 1_000_000,
        most / 1_000_000
    );
    assert!(connections >= 1000);
    assert!(most < middle + 100_000_000, "memory grew from {middle} to {most}");
    assert_eq!(results(&alone), results(&watched));
}

#[test]
fn a_synchronous_run_shows_every_step() {
    let folder = tempfile::tempdir().unwrap();
    let changes = [&RINGS[..], &["time.end=1"]].concat();
    let prepared = run("leapfrog", &changes, &folder.path().join("run"));
    let hub = Arc::new(Hub::default());
    let server = server(&hub);
    let address = server.address();
    let viewer = std::thread::spawn(move || {
        let mut viewer = Viewer::connect(address);
        viewer.want(10, "");
        let mut steps = Vec::new();
        while steps.last() != Some(&20) {
            viewer.ready();
            steps.push(viewer.frame().step());
        }
        steps
    });
    while hub.wants().is_empty() {
        std::thread::yield_now();
    }
    let manner = Manner { sync: true, stay: true };
    prepared
        .go(&Control::default(), &mut Live::new(hub.clone(), manner, &mut Silent))
        .unwrap();
    assert_eq!(viewer.join().unwrap(), (0..=20).collect::<Vec<u64>>());
}

#[test]
fn changes_during_a_run_can_be_reproduced_by_resuming() {
    /// Changes the step and the tolerance at step 5, as a viewer would.
    struct Changer;
    impl Observer for Changer {
        fn progress(&mut self, _: &farfield_sim::run::Progress) {}
        fn remark(&mut self, _: &str) {}
        fn moment(&mut self, moment: &mut farfield_sim::run::Moment<'_>) -> Result<(), farfield_sim::Error> {
            if moment.step() == 5 {
                moment.change("time.step", "0.02")?;
                moment.change("sum.tolerance", "1e-6")?;
                assert!(moment.change("seed", "3").is_err());
                assert!(moment.change("time.step", "-1").is_err());
            }
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let (live, resumed) = (folder.path().join("live"), folder.path().join("resumed"));
    let changes = [&RINGS[..], &["time.end=0.4"]].concat();
    run("leapfrog", &changes, &live)
        .go(&Control::default(), &mut Changer)
        .unwrap();
    let stop = Control {
        most_steps: Some(5),
        ..Control::default()
    };
    run("leapfrog", &changes, &resumed).go(&stop, &mut Silent).unwrap();
    let change = |case: farfield_sim::case::Case| {
        let mut case = case;
        (case.time.step, case.sum.tolerance) = (0.02, 1e-6);
        Ok(case)
    };
    let (run, _) = farfield_sim::run::Run::resume(&resumed, change).unwrap();
    run.go(&Control::default(), &mut Silent).unwrap();
    let states = [&live, &resumed].map(|folder| results(folder).0);
    assert_eq!(states[0], states[1]);
    let log = std::fs::read_to_string(live.join("run.log")).unwrap();
    assert!(log.contains("step 5, time 0.25: changed time.step=0.02"), "{log}");
}

#[test]
fn access_without_the_token_is_refused() {
    let hub = Arc::new(Hub::default());
    let server = Server::start(loopback(0), Access::with_token().unwrap(), hub.clone()).unwrap();
    let address = server.address();
    let ask = |target: &str, host: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .write_all(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let url = server.url();
    let token = url.split_once("token=").unwrap().1;
    assert!(ask("/", "example.org").starts_with("HTTP/1.1 403"));
    assert!(ask("/?token=0", "example.org").starts_with("HTTP/1.1 403"));
    let page = ask(&format!("/?token={token}"), "example.org");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("Content-Security-Policy: default-src 'none'"));
    assert!(ask(&format!("/../../etc/passwd?token={token}"), "example.org").starts_with("HTTP/1.1 404"));
    let refused = tungstenite::connect(format!("ws://{address}/socket"));
    assert!(refused.is_err());
    assert!(tungstenite::connect(format!("ws://{address}/socket?token={token}")).is_ok());
}
