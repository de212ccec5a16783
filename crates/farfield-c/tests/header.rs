//! The checked-in header matches this code.

use std::path::Path;

/// Set FARFIELD_WRITE_HEADER to update the header.
#[test]
fn the_header_is_current() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = crate_folder.join("include/farfield.h");
    let mut written = Vec::new();
    cbindgen::generate(crate_folder).unwrap().write(&mut written);
    let written = String::from_utf8(written).unwrap();
    if std::env::var_os("FARFIELD_WRITE_HEADER").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == written,
        "include/farfield.h is out of date; update it: FARFIELD_WRITE_HEADER=1 cargo test -p farfield-c --test header"
    );
}
