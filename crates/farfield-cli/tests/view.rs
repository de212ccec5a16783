//! `farfield view` and `farfield run --live`, as a user types them; the page itself is tested in `farfield-live`.

use crate::program::{command, fail};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

/// A small run, without pictures.
const SMALL: [&str; 8] = [
    "--set",
    "tracers.count=500",
    "--set",
    "vortex.layers=0",
    "--set",
    "output.views=[]",
    "--set",
    "time.end=0.2",
];

/// Starts the program and waits for the address it prints.
fn start(arguments: &[&str]) -> (Child, String) {
    let mut child = command(arguments)
        .args(["--no-open", "--port", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().expect("standard error")).lines();
    let address = lines
        .find_map(|line| Some(line.ok()?.strip_prefix("watch it at http://")?.to_owned()))
        .expect("an address is printed");
    std::thread::spawn(move || lines.for_each(drop));
    (child, address)
}

/// The response that a browser would get.
fn get(address: &str) -> String {
    let (host, path) = address.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("someone listens");
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

fn end(mut child: Child) {
    child.kill().expect("it can be ended");
    child.wait().expect("it ends");
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

#[test]
fn cases_folders_and_files_have_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let (child, address) = start(&[&["view", "leapfrog", "-o", text(&run)], &SMALL[..]].concat());
    assert!(get(&address).starts_with("HTTP/1.1 200"));
    // The page stays after the end of the run. This is the last field file.
    while !run.join("fields/elements-000004.npz").exists() {
        std::thread::yield_now();
    }
    end(child);
    for path in [
        &run,
        &run.join("fields/tracers-000004.npz"),
        &run.join("fields/elements-000004.vtp"),
    ] {
        let (child, address) = start(&["view", text(path)]);
        assert!(get(&address).starts_with("HTTP/1.1 200"), "{}", path.display());
        end(child);
    }
}

#[test]
fn other_machines_need_the_token() {
    let folder = tempfile::tempdir().expect("a folder");
    let points = folder.path().join("points.csv");
    std::fs::write(&points, "x,y,z,mass\n0,0,0,1\n1,2,3,2\n").expect("a file");
    let (child, address) = start(&["view", text(&points), "--listen", "127.0.0.1"]);
    assert!(address.contains("/?token="));
    assert!(get(&address).starts_with("HTTP/1.1 200"));
    let without = address.split('?').next().expect("an address");
    assert!(get(without).starts_with("HTTP/1.1 403"));
    end(child);
}

#[test]
fn a_run_with_a_page_ends_with_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let (mut child, _) = start(&[&["run", "leapfrog", "--live", "--json", "-o", text(&run)], &SMALL[..]].concat());
    let status = child.wait().expect("it ends");
    assert!(status.success());
}

#[test]
fn unsuitable_folders_and_names_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let (empty, other) = (folder.path().join("empty"), folder.path().join("notes.txt"));
    std::fs::create_dir(&empty).expect("a folder");
    std::fs::write(&other, "hello").expect("a file");
    fail(
        &format!("view {} --no-open", empty.display()),
        1,
        &["case.toml", "not the folder of a run"],
    );
    fail(
        &format!("view {} --no-open", other.display()),
        1,
        &["notes.txt", ".npz", ".vtp"],
    );
    fail(
        "view nothing-like-this --no-open",
        2,
        &["there is no case `nothing-like-this`"],
    );
}
