//! Reads points from `.vtp` files as this program writes them: arrays appended as raw bytes, not compressed.

use crate::Error;
use farfield_io::Array;
use std::path::Path;

/// The arrays of a file: `Points`, and those of the points by name.
///
/// # Errors
/// [`Error::File`] if it cannot be read or is stored in another way.
pub fn read(path: &Path) -> Result<Vec<(String, Array)>, Error> {
    let failed = |why: String| Error::File {
        path: path.to_owned(),
        why,
    };
    let bytes = std::fs::read(path).map_err(|error| failed(format!("cannot read: {error}")))?;
    parse(&bytes).map_err(failed)
}

fn parse(bytes: &[u8]) -> Result<Vec<(String, Array)>, String> {
    const OTHER: &str = "only files with raw appended arrays, not compressed, can be shown: in ParaView, data mode `Appended`, without compression and base64";
    let find = |what: &[u8], from: usize| {
        let found = bytes[from..].windows(what.len()).position(|window| window == what);
        found.map(|at| from + at)
    };
    let appended = find(b"<AppendedData", 0).ok_or(OTHER)?;
    let head = std::str::from_utf8(&bytes[..appended]).map_err(|error| error.to_string())?;
    let end = find(b">", appended).ok_or(OTHER)?;
    let is_raw = std::str::from_utf8(&bytes[appended..end]).is_ok_and(|tag| tag.contains("encoding=\"raw\""));
    if !is_raw || head.contains("compressor=") || !head.contains("header_type=\"UInt64\"") {
        return Err(OTHER.to_owned());
    }
    let data = find(b"_", end).ok_or(OTHER)? + 1;
    let mut arrays = Vec::new();
    for tag in head.split("<DataArray").skip(1) {
        let tag = tag.split('>').next().unwrap_or("");
        let get = |name: &str| {
            let from = tag.find(&format!("{name}=\""))? + name.len() + 2;
            tag[from..].split('"').next()
        };
        let (Some(kind), Some(offset)) = (get("type"), get("offset")) else {
            continue;
        };
        let width = match kind {
            "Float32" => 4,
            "Float64" => 8,
            _ => continue,
        };
        let components: usize = get("NumberOfComponents").unwrap_or("1").parse().map_err(|_| OTHER)?;
        let offset: usize = offset.parse().map_err(|_| OTHER)?;
        let rest = data
            .checked_add(offset)
            .and_then(|at| bytes.get(at..))
            .ok_or("it ends early")?;
        let (length, rest) = rest.split_first_chunk::<8>().ok_or("it ends early")?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| "it ends early")?;
        let numbers = rest.get(..length).ok_or("it ends early")?;
        let values: Vec<f64> = match width {
            4 => numbers
                .as_chunks()
                .0
                .iter()
                .map(|b| f64::from(f32::from_le_bytes(*b)))
                .collect(),
            _ => numbers.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
        };
        if components == 0 || !values.len().is_multiple_of(components) {
            return Err(format!("{} numbers are no rows of {components}", values.len()));
        }
        let array = Array {
            rows: values.len() / components,
            columns: components,
            values,
        };
        arrays.push((get("Name").unwrap_or("Points").to_owned(), array));
    }
    Ok(arrays)
}

#[cfg(test)]
mod tests {
    use super::*;
    use farfield_io::Precision;
    use farfield_io::vtk::{PointSet, write_vtp};

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.vtp");
        let (points, speed) = ([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.25]], [0.5, 4.0]);
        let set = PointSet {
            points: &points,
            scalars: vec![("speed", &speed)],
            vectors: vec![("velocity", &points)],
        };
        write_vtp(&path, &set, Precision::Single).unwrap();
        let arrays = read(&path).unwrap();
        let get = |name: &str| &arrays.iter().find(|(found, _)| found == name).unwrap().1;
        assert_eq!(get("Points").to_rows::<3>().unwrap(), points);
        assert_eq!(get("speed").values, speed);
        assert_eq!(get("velocity").to_rows::<3>().unwrap(), points);
        let bytes = std::fs::read(&path).unwrap();
        let data = bytes.windows(13).position(|window| window == b"<AppendedData").unwrap();
        for cut in [0, 10, data, data + 50] {
            assert!(parse(&bytes[..cut]).is_err());
        }
    }
}
