//! Reads tables as people write them, and checks the messages about mistakes in them.

use crate::fixtures::OneFile;
use farfield_io::{Array, PointsFile, read_points, read_points_dim, read_strengths, read_table};

fn points(text: impl AsRef<[u8]>) -> PointsFile {
    let file = OneFile::new("a.csv", text);
    read_points(file.path()).unwrap()
}

fn strengths(text: &str) -> Array {
    let file = OneFile::new("a.csv", text);
    read_strengths(file.path()).unwrap()
}

fn points_message(text: &str) -> String {
    let file = OneFile::new("a.csv", text);
    file.message(&read_points(file.path()).unwrap_err())
}

const TWO: [[f64; 3]; 2] = [[1.0, 2.0, 3.0], [-4.0, 0.5, 6e-3]];

#[test]
fn every_separator_is_read_with_and_without_header() {
    for separator in [",", ";", "\t", " ", "   ", ", ", " ; "] {
        let numbers = "1|2|3|7\n-4|.5|6e-3|8\n".replace('|', separator);
        let header = "x|y|z|q\n".replace('|', separator);
        for text in [numbers.clone(), header + &numbers] {
            let read = points(&text);
            assert_eq!(read.points, TWO, "{text:?}");
            assert_eq!(read.strengths, Some(Array::column(vec![7.0, 8.0])), "{text:?}");
        }
    }
}

#[test]
fn comments_blank_lines_line_ends_and_byte_order_marks_are_ignored() {
    let text = "\u{feff}# made by hand\r\n\r\nx,y,z\r\n  \t \r\n1,2,3 # first\r\n#4,5,6\r\n-4,.5,6D-3";
    assert_eq!(points(text).points, TWO);
    let latin_1 = b"# caf\xe9\n1 2 3\n-4 .5 6e-3\n";
    assert_eq!(points(latin_1).points, TWO);
}

#[test]
fn three_columns_are_points_and_more_are_strengths() {
    assert_eq!(points("1,2,3\n").strengths, None);
    let vector = Array::from_rows(&[[4.0, 5.0, 6.0]]);
    assert_eq!(points("1,2,3,4,5,6\n").strengths, Some(vector));
    let file = OneFile::new("a.csv", "1,2,9\n");
    let flat = read_points_dim::<2>(file.path()).unwrap();
    assert_eq!(flat.points, [[1.0, 2.0]]);
    assert_eq!(flat.strengths, Some(Array::column(vec![9.0])));
}

#[test]
fn named_columns_are_found_in_any_order() {
    let read = points("id,mass,z [kpc],Y,vx,\"X\"\n1,7,3,2,0,1\n2,8,6e-3,0.5,0,-4\n");
    assert_eq!(read.points, TWO);
    assert_eq!(read.strengths, Some(Array::column(vec![7.0, 8.0])));
    assert_eq!(read.unused, ["id", "vx"]);
    let read = points("gz,gy,gx,x,y,z\n3,2,1,4,5,6\n");
    assert_eq!(read.strengths, Some(Array::from_rows(&[[1.0, 2.0, 3.0]])));
    assert_eq!(points("x,y,z,vx\n1,2,3,4\n").strengths, None);
    for name in ["q", "charge", "charges", "mass", "masses", "strength", "gamma"] {
        let read = points(format!("{name},x,y,z\n9,1,2,3\n"));
        assert_eq!(read.strengths, Some(Array::column(vec![9.0])), "{name}");
    }
}

#[test]
fn a_comment_that_names_the_columns_counts_as_a_header() {
    let read = points("# N = 1\n# mass x y z\n7 1 2 3\n");
    assert_eq!(read.points, [[1.0, 2.0, 3.0]]);
    assert_eq!(read.strengths, Some(Array::column(vec![7.0])));
    let read = points("# made by Somebody\n1 2 3\n");
    assert_eq!(read.points, [[1.0, 2.0, 3.0]]);
    assert_eq!(strengths("# mass,x,y,z\n7,1,2,3\n"), Array::column(vec![7.0]));
    assert_eq!(strengths("# my own charges\n1 2 3\n").columns, 1);
    assert_eq!(strengths("# vortex list written\n1 2 3\n").columns, 3);
}

#[test]
fn strengths_are_read_from_tables() {
    assert_eq!(strengths("1\n2\n"), Array::column(vec![1.0, 2.0]));
    assert_eq!(strengths("rho\n1\n2\n"), Array::column(vec![1.0, 2.0]));
    assert_eq!(strengths("1,2,3\n"), Array::from_rows(&[[1.0, 2.0, 3.0]]));
    assert_eq!(strengths("x,y,z,q\n1,2,3,4\n"), Array::column(vec![4.0]));
}

#[test]
fn nan_and_infinity_are_read() {
    let read = points("nan,inf,-Infinity\n").points;
    assert!(read[0][0].is_nan());
    assert_eq!(read[0][1..], [f64::INFINITY, f64::NEG_INFINITY]);
}

#[test]
fn messages_name_line_column_and_text() {
    assert_eq!(
        points_message("# one\n\nx,y,z\n1,2,3\n4,5,abc\n"),
        "a.csv: line 5, column 3: cannot read \"abc\" as a number"
    );
    assert_eq!(
        points_message("1,2x,3\n"),
        "a.csv: line 1, column 2: cannot read \"2x\" as a number"
    );
    assert_eq!(
        points_message("1,2,3\n1,,3\n"),
        "a.csv: line 2, column 2: cannot read \"\" as a number (the field is empty)"
    );
    assert_eq!(
        points_message("1,5;2,5;3,5\n"),
        "a.csv: line 1, column 1: cannot read \"1,5\" as a number (use a decimal point)"
    );
    assert_eq!(
        points_message("1 2 3\n4 5\n"),
        "a.csv: line 2, column 3: 2 fields where line 1 has 3: \"4 5\""
    );
    assert_eq!(
        points_message("x,y,z\n\n1,2,3,4\n"),
        "a.csv: line 3, column 4: 4 fields where line 1 has 3: \"1,2,3,4\""
    );
    assert_eq!(
        points_message("x,y,z,x\n1,2,3,4\n"),
        "a.csv: line 1, column 4: a second column named \"x\""
    );
    let long = points_message(&format!("1,2,3\n1,2,a{}\u{7}\n", "b".repeat(5000)));
    let shown = "b".repeat(39);
    assert_eq!(
        long,
        format!("a.csv: line 2, column 3: cannot read \"a{shown}…\" as a number")
    );
}

#[test]
fn messages_about_columns() {
    assert_eq!(points_message(""), "a.csv: no numbers in this file");
    assert_eq!(points_message("# x y z\n"), "a.csv: no numbers in this file");
    assert_eq!(
        points_message("1,2\n"),
        "a.csv: shape (1, 2), expected 3 columns x, y, z, then any strengths"
    );
    assert_eq!(
        points_message("x,y,q\n1,2,3\n"),
        "a.csv: no columns named x, y, z; the file has x, y, q"
    );
    assert_eq!(
        points_message("x,y,z,q,mass\n1,2,3,4,5\n"),
        "a.csv: q, mass could each be the strengths; keep one, or rename the others"
    );
    let file = OneFile::new("a.csv", "x,y,z\n1,2,3\n");
    assert_eq!(
        file.message(&read_strengths(file.path()).unwrap_err()),
        "a.csv: no columns named charges, masses, strengths or gamma; the file has x, y, z"
    );
}

#[test]
fn tables_keep_every_column() {
    let file = OneFile::new("a.csv", "potential,gradient_x,gradient_y\n1,2,3\n");
    let table = read_table(file.path()).unwrap();
    let names: Vec<_> = table.names().collect();
    assert_eq!(names, ["potential", "gradient_x", "gradient_y"]);
    assert_eq!(table.get("gradient"), Some(Array::from_rows(&[[2.0, 3.0]])));
    let file = OneFile::new("a.csv", "1,2\n");
    let table = read_table(file.path()).unwrap();
    assert_eq!(table.get("values"), Some(Array::from_rows(&[[1.0, 2.0]])));
}
