//! Reads `.vtp` and `.vtu` files: the points of one piece, and the fields on its points and cells.
//!
//! Arrays may be appended (raw or base64), inline text or inline base64, uncompressed or compressed with zlib, as VTK,
//! ParaView, PyVista and this crate write them.

use std::io::Read;
use std::path::Path;

use flate2::read::ZlibDecoder;

use crate::{Array, Error, NamedArray, Table};

/// Reads the points of a `.vtp` file as an array `points`, and every numeric array on them.
///
/// # Errors
///
/// [`Error::Read`] if the file cannot be read, [`Error::Vtk`] if it is malformed or of an unsupported kind.
pub fn read_vtp(path: impl AsRef<Path>) -> Result<Table, Error> {
    Ok(read(path.as_ref(), POINTS)?.points)
}

/// The points of a file, and the fields on its points and cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// The array `points`, and every numeric array on the points.
    pub points: Table,
    /// Every numeric array on the cells.
    pub cells: Table,
}

/// Reads the points of a `.vtu` file and every numeric array on its points and cells. The connectivity of the cells is
/// not read.
///
/// # Errors
///
/// As [`read_vtp`].
pub fn read_vtu(path: impl AsRef<Path>) -> Result<Mesh, Error> {
    read(path.as_ref(), CELLS)
}

/// The names of data set types in files.
const POINTS: &str = "PolyData";
const CELLS: &str = "UnstructuredGrid";

fn read(path: &Path, kind: &str) -> Result<Mesh, Error> {
    let bytes = std::fs::read(path).map_err(|cause| Error::Read {
        path: path.to_owned(),
        cause,
    })?;
    parse(&bytes, kind).map_err(|reason| Error::Vtk {
        path: path.to_owned(),
        reason,
    })
}

/// Properties of the whole file.
struct Format {
    /// The number of bytes of a length that precedes an array.
    header: usize,
    compressed: bool,
    big_endian: bool,
}

/// The appended data after the XML elements.
struct Appended<'a> {
    bytes: &'a [u8],
    base64: bool,
}

fn parse(bytes: &[u8], kind: &str) -> Result<Mesh, String> {
    let marker = b"<AppendedData";
    let at = bytes.windows(marker.len()).position(|window| window == marker);
    let (elements, appended) = match at {
        Some(at) => (&bytes[..at], Some(appended(&bytes[at..])?)),
        None => (bytes, None),
    };
    let text = std::str::from_utf8(elements).map_err(|_| "the file is not XML text".to_owned())?;
    let mut rest = text;
    let mut format = None;
    let mut pieces = 0;
    let (mut point_count, mut cell_count) = (0, 0);
    let mut section = "";
    let mut mesh = Mesh::default();
    while let Some(open) = rest.find('<') {
        rest = &rest[open + 1..];
        let end = end_of_tag(rest).ok_or("an XML tag is not closed")?;
        let (tag, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        let name = tag.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or("");
        match name {
            "VTKFile" => format = Some(file_format(tag, kind)?),
            "Piece" => {
                pieces += 1;
                let count = |what: &str| attribute(tag, what).and_then(|n| n.parse().ok());
                point_count = count("NumberOfPoints").ok_or("a piece lacks a valid NumberOfPoints")?;
                if kind == CELLS {
                    cell_count = count("NumberOfCells").ok_or("a piece lacks a valid NumberOfCells")?;
                }
            }
            "Points" | "PointData" | "CellData" | "Cells" | "Verts" | "Lines" | "Strips" | "Polys" => section = name,
            "DataArray" => {
                let (name, count, into) = match section {
                    "Points" => (Some("points"), point_count, &mut mesh.points),
                    "PointData" => (None, point_count, &mut mesh.points),
                    "CellData" if kind == CELLS => (None, cell_count, &mut mesh.cells),
                    _ => continue,
                };
                let name = name.or_else(|| attribute(tag, "Name")).unwrap_or("values");
                let format = format.as_ref().ok_or("the file is not a VTK file")?;
                let content = if tag.ends_with('/') {
                    ""
                } else {
                    let close = rest.find("</DataArray").ok_or("a DataArray element is not closed")?;
                    &rest[..close]
                };
                let array = array(tag, content, format, appended.as_ref(), name, count)?;
                into.arrays.extend(array);
            }
            _ => {}
        }
    }
    if pieces != 1 {
        return Err(format!(
            "the file has {pieces} pieces; only files with one piece can be read"
        ));
    }
    if !mesh.points.names().any(|name| name == "points") {
        return Err("the file has no points".to_owned());
    }
    Ok(mesh)
}

/// The end of a tag: the first `>` outside quotes.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    None
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = tag;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        rest = after;
        let value = after.trim_start().strip_prefix('=').map(str::trim_start);
        if before.ends_with(char::is_whitespace)
            && let Some(value) = value
            && let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\''))
        {
            return value[1..].split(quote).next();
        }
    }
    None
}

fn file_format(tag: &str, kind: &str) -> Result<Format, String> {
    match attribute(tag, "type") {
        Some(found) if found == kind => {}
        other => {
            return Err(format!(
                "the data set type is {}, not {kind}",
                other.unwrap_or("missing")
            ));
        }
    }
    Ok(Format {
        header: match attribute(tag, "header_type") {
            Some("UInt64") => 8,
            Some("UInt32") | None => 4,
            Some(other) => return Err(format!("unsupported header_type {other}")),
        },
        compressed: match attribute(tag, "compressor") {
            None => false,
            Some("vtkZLibDataCompressor") => true,
            Some(other) => {
                return Err(format!(
                    "unsupported compressor {other}; only zlib and uncompressed files can be read"
                ));
            }
        },
        big_endian: attribute(tag, "byte_order") == Some("BigEndian"),
    })
}

/// The appended data, which begin after the underscore.
fn appended(bytes: &[u8]) -> Result<Appended<'_>, String> {
    let end = bytes
        .iter()
        .position(|b| *b == b'>')
        .ok_or("an XML tag is not closed")?;
    let tag = String::from_utf8_lossy(&bytes[..end]);
    let mark = bytes[end..]
        .iter()
        .position(|b| *b == b'_')
        .ok_or("the appended data lack the leading underscore")?;
    Ok(Appended {
        bytes: &bytes[end + mark + 1..],
        base64: attribute(&tag, "encoding") == Some("base64"),
    })
}

/// One array; `None` if its type is not numeric.
fn array(
    tag: &str,
    content: &str,
    format: &Format,
    appended: Option<&Appended<'_>>,
    name: &str,
    count: usize,
) -> Result<Option<NamedArray>, String> {
    let kind = attribute(tag, "type").ok_or("a DataArray element lacks its type")?;
    let Some(number) = Number::named(kind) else {
        return Ok(None);
    };
    let columns = match attribute(tag, "NumberOfComponents") {
        Some(text) => text
            .parse()
            .map_err(|_| format!("{name}: invalid number of components {text}"))?,
        None => 1usize,
    };
    let wanted = count
        .checked_mul(columns)
        .filter(|_| columns > 0)
        .ok_or_else(|| format!("{name}: invalid size"))?;
    let size = wanted
        .checked_mul(number.width)
        .ok_or_else(|| format!("{name}: invalid size"))?;
    let raw = match attribute(tag, "format") {
        Some("ascii") => {
            let values: Vec<f64> = content
                .split_ascii_whitespace()
                .map(|text| text.parse().map_err(|_| format!("{name}: {text} is not a number")))
                .collect::<Result<_, _>>()?;
            return finish(name, columns, values, wanted);
        }
        Some("binary") => decode(content.as_bytes(), true, format, size),
        Some("appended") => {
            let appended = appended.ok_or_else(|| format!("{name}: the file has no appended data"))?;
            let offset: usize = attribute(tag, "offset")
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| format!("{name}: the offset is missing or invalid"))?;
            let data = appended
                .bytes
                .get(offset..)
                .ok_or_else(|| format!("{name}: the offset is beyond the end of the file"))?;
            decode(data, appended.base64, format, size)
        }
        other => Err(format!("unsupported format {}", other.unwrap_or("(missing)"))),
    };
    let raw = raw.map_err(|why| format!("{name}: {why}"))?;
    let values = raw
        .chunks_exact(number.width)
        .map(|bytes| number.read(bytes, format.big_endian));
    finish(name, columns, values.collect(), wanted)
}

fn finish(name: &str, columns: usize, values: Vec<f64>, wanted: usize) -> Result<Option<NamedArray>, String> {
    if values.len() != wanted {
        return Err(format!("{name}: found {} values, expected {wanted}", values.len()));
    }
    let array = Array {
        rows: wanted / columns,
        columns,
        values,
    };
    Ok(Some(NamedArray::new(name, array)))
}

/// The `size` bytes of an array.
fn decode(data: &[u8], base64: bool, format: &Format, size: usize) -> Result<Vec<u8>, String> {
    let start = data.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0);
    let data = if base64 { &data[start..] } else { data };
    // `count` bytes starting at `from`. In base64, `from` counts characters, because the header and the data may be
    // encoded separately.
    let plain = |from: usize, count: usize| -> Result<Vec<u8>, String> {
        if base64 {
            let bytes = from_base64(&data[from.min(data.len())..], count);
            (bytes.len() >= count).then_some(bytes).ok_or_else(cut_short)
        } else {
            let end = from.checked_add(count).ok_or_else(cut_short)?;
            data.get(from..end).map(<[u8]>::to_vec).ok_or_else(cut_short)
        }
    };
    let number = |bytes: &[u8]| -> u64 {
        let mut wide = [0; 8];
        for (k, byte) in bytes.iter().enumerate().take(8) {
            let place = if format.big_endian { bytes.len() - 1 - k } else { k };
            wide[place.min(7)] = *byte;
        }
        u64::from_le_bytes(wide)
    };
    let h = format.header;
    if !format.compressed {
        if number(&plain(0, h)?) != size as u64 {
            return Err("the stored length does not match the number of values".to_owned());
        }
        // The length and the values are encoded together.
        let all = plain(0, h.checked_add(size).ok_or_else(cut_short)?)?;
        return Ok(all[h..h + size].to_vec());
    }
    let blocks = usize::try_from(number(&plain(0, h)?)).map_err(|_| cut_short())?;
    if blocks > data.len() {
        return Err(cut_short());
    }
    let header = plain(0, h * (3 + blocks))?;
    let begin = if base64 {
        (h * (3 + blocks)).div_ceil(3) * 4
    } else {
        h * (3 + blocks)
    };
    let sizes: Vec<usize> = header[3 * h..h * (3 + blocks)]
        .chunks_exact(h)
        .map(|bytes| usize::try_from(number(bytes)).unwrap_or(usize::MAX))
        .collect();
    let total = sizes
        .iter()
        .try_fold(0usize, |sum, size| sum.checked_add(*size))
        .ok_or_else(cut_short)?;
    let packed = plain(begin, total)?;
    let (mut out, mut from) = (Vec::with_capacity(size.min(64 * data.len())), 0);
    for block in sizes {
        let left = (size - out.len().min(size)) as u64;
        let mut decoder = ZlibDecoder::new(&packed[from..from + block]).take(left + 1);
        decoder
            .read_to_end(&mut out)
            .map_err(|error| format!("damaged block: {error}"))?;
        from += block;
    }
    (out.len() == size)
        .then_some(out)
        .ok_or_else(|| "the stored length does not match the number of values".to_owned())
}

fn cut_short() -> String {
    "the data are truncated".to_owned()
}

/// The first `count` bytes of a base64 text, or fewer if it ends before.
fn from_base64(text: &[u8], count: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(count.min(text.len()));
    let (mut bits, mut held) = (0u32, 0);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b if b.is_ascii_whitespace() => continue,
            // Padding, or the end of the array.
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            if out.len() >= count {
                break;
            }
        }
    }
    out
}

/// A numeric type.
#[derive(Clone, Copy)]
struct Number {
    width: usize,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Float,
    Signed,
    Unsigned,
}

impl Number {
    fn named(name: &str) -> Option<Self> {
        let (kind, bits) = match name {
            "Float32" | "Float64" => (Kind::Float, &name[5..]),
            _ if name.starts_with("Int") => (Kind::Signed, &name[3..]),
            _ if name.starts_with("UInt") => (Kind::Unsigned, &name[4..]),
            _ => return None,
        };
        let width = match bits {
            "8" => 1,
            "16" => 2,
            "32" => 4,
            "64" => 8,
            _ => return None,
        };
        Some(Self { width, kind })
    }

    fn read(self, bytes: &[u8], big_endian: bool) -> f64 {
        let mut wide = [0; 8];
        for (k, byte) in bytes.iter().enumerate() {
            wide[if big_endian { self.width - 1 - k } else { k }] = *byte;
        }
        let bits = u64::from_le_bytes(wide);
        let spare = 64 - 8 * self.width as u32;
        match (self.kind, self.width) {
            (Kind::Float, 4) => f64::from(f32::from_bits(bits as u32)),
            (Kind::Float, _) => f64::from_bits(bits),
            (Kind::Signed, _) => ((bits << spare) as i64 >> spare) as f64,
            (Kind::Unsigned, _) => bits as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Precision;
    use crate::vtk::{Compression, Encoding, PointSet, write_vtp};
    use proptest::prelude::*;

    fn written(encoding: Encoding) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.vtp");
        let points: Vec<[f64; 3]> = (0..500).map(|k| [f64::from(k), 0.5, -1.0 / f64::from(k + 1)]).collect();
        let scalars: Vec<f64> = points.iter().map(|p| p[0] * p[2]).collect();
        let set = PointSet {
            points: &points,
            scalars: vec![("core_size", &scalars)],
            vectors: vec![("strength", &points)],
        };
        write_vtp(&path, &set, encoding).unwrap();
        let table = read_vtp(&path).unwrap();
        assert_eq!(table.names().collect::<Vec<_>>(), ["core_size", "strength", "points"]);
        let back: Vec<[f64; 3]> = table.get("points").unwrap().to_rows().unwrap();
        for (a, b) in back.iter().flatten().zip(points.iter().flatten()) {
            assert!((a - b).abs() <= 1e-7 * b.abs(), "{a} {b}");
        }
        std::fs::read(&path).unwrap()
    }

    #[test]
    fn written_files_read_back() {
        for compression in [Compression::None, Compression::Zlib] {
            for precision in [Precision::Single, Precision::Double] {
                written(Encoding { precision, compression });
            }
        }
    }

    #[test]
    fn inline_arrays_are_read() {
        let file = |array: &str| {
            format!(
                "<?xml version=\"1.0\"?><VTKFile type=\"PolyData\" byte_order=\"LittleEndian\"><PolyData><Piece \
                 NumberOfPoints=\"1\"><Points>{array}</Points></Piece></PolyData></VTKFile>"
            )
        };
        let text = "<DataArray type=\"Float32\" Name=\"Points\" NumberOfComponents=\"3\" format=\"ascii\"> 1 2\n3 </DataArray>";
        // The length 12 and the floats 1, 2, 3 in base64.
        let binary =
            "<DataArray type='Float32' NumberOfComponents='3' format='binary'>DAAAAAAAgD8AAABAAABAQA==</DataArray>";
        for array in [text, binary] {
            let table = parse(file(array).as_bytes(), POINTS).unwrap().points;
            assert_eq!(table.get("points").unwrap().values, [1.0, 2.0, 3.0]);
        }
        let short = file(&text.replace("3 <", "<"));
        assert!(
            parse(short.as_bytes(), POINTS)
                .unwrap_err()
                .contains("2 values, expected 3")
        );
    }

    proptest! {
        #[test]
        fn damaged_files_never_panic(
            at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>(), zlib in any::<bool>()
        ) {
            let compression = if zlib { Compression::Zlib } else { Compression::None };
            let mut bytes = written(Encoding { precision: Precision::Single, compression });
            let place = at.index(bytes.len());
            bytes[place] = byte;
            let _ = parse(&bytes, POINTS);
            let _ = parse(&bytes[..cut.index(bytes.len())], POINTS);
        }
    }
}
