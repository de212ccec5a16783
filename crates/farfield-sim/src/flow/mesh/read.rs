//! Readers of triangle files.

use crate::vec3::Vec3;

/// Bytes of a triangle in a binary STL file: normal, three corners, and two bytes of attributes.
const RECORD: usize = 50;

/// The triangles of an STL file, text or binary.
pub(super) fn stl(bytes: &[u8]) -> Result<Vec<[Vec3; 3]>, String> {
    if let Some(count) = bytes.get(80..84) {
        let count = u32::from_le_bytes([count[0], count[1], count[2], count[3]]) as usize;
        // Some binary files also begin with `solid`; their length identifies them.
        if count.checked_mul(RECORD).and_then(|n| n.checked_add(84)) == Some(bytes.len()) {
            return Ok(bytes[84..].chunks_exact(RECORD).map(record).collect());
        }
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "it is neither a text nor a binary STL file".to_owned())?;
    if !text.trim_start().starts_with("solid") {
        return Err("it is neither a text nor a binary STL file, or it is truncated".to_owned());
    }
    let mut corners: Vec<Vec3> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(rest) = line.trim_start().strip_prefix("vertex") {
            corners.push(numbers(rest).ok_or_else(|| format!("line {number}: a vertex needs three numbers"))?);
        }
    }
    let (triangles, rest) = corners.as_chunks::<3>();
    if rest.is_empty() {
        Ok(triangles.to_vec())
    } else {
        Err("its last triangle is incomplete".to_owned())
    }
}

fn record(bytes: &[u8]) -> [Vec3; 3] {
    let number = |k: usize| {
        let at = 12 + 4 * k;
        f64::from(f32::from_le_bytes([
            bytes[at],
            bytes[at + 1],
            bytes[at + 2],
            bytes[at + 3],
        ]))
    };
    std::array::from_fn(|corner| std::array::from_fn(|axis| number(3 * corner + axis)))
}

/// The triangles of an OBJ file. Faces of more than three corners are divided into triangles.
pub(super) fn obj(bytes: &[u8]) -> Result<Vec<[Vec3; 3]>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not a text file".to_owned())?;
    let (mut points, mut triangles): (Vec<Vec3>, Vec<[Vec3; 3]>) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let rest = line.trim_start().strip_prefix('v').unwrap_or("");
                points.push(numbers(rest).ok_or_else(|| format!("line {number}: a vertex needs three numbers"))?);
            }
            Some("f") => {
                let corners: Option<Vec<Vec3>> = words.map(|word| corner(word, &points)).collect();
                let corners =
                    corners.ok_or_else(|| format!("line {number}: a face refers to a vertex that does not exist"))?;
                if corners.len() < 3 {
                    return Err(format!("line {number}: a face needs three corners"));
                }
                for k in 1..corners.len() - 1 {
                    triangles.push([corners[0], corners[k], corners[k + 1]]);
                }
            }
            _ => {}
        }
    }
    Ok(triangles)
}

/// The point that a corner such as `7`, `7/1`, `7//2` or `-1` refers to.
fn corner(word: &str, points: &[Vec3]) -> Option<Vec3> {
    let index: i64 = word.split('/').next()?.parse().ok()?;
    let at = if index < 0 {
        points.len() as i64 + index
    } else {
        index - 1
    };
    points.get(usize::try_from(at).ok()?).copied()
}

fn numbers(text: &str) -> Option<Vec3> {
    let mut words = text.split_whitespace().map(str::parse::<f64>);
    Some([words.next()?.ok()?, words.next()?.ok()?, words.next()?.ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUP: [[Vec3; 3]; 1] = [[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.5, -2.0]]];

    #[test]
    fn text_binary_and_obj_files_give_the_same_triangles() {
        let text = "solid a\n facet normal 0 0 1\n  outer loop\n vertex 0 0 0\n vertex 1 0 0\n vertex 0 5e-1 -2\n endloop\n endfacet\nendsolid a\n";
        assert_eq!(stl(text.as_bytes()).unwrap(), SOUP);
        let mut binary = vec![b's'; 80];
        binary.extend(1u32.to_le_bytes());
        binary.extend([0u8; 12]);
        for corner in SOUP[0] {
            for c in corner {
                binary.extend((c as f32).to_le_bytes());
            }
        }
        binary.extend([0u8; 2]);
        assert_eq!(stl(&binary).unwrap(), SOUP);
        assert!(stl(&binary[..100]).is_err());
        let faces = "# a\nv 0 0 0\nv 1 0 0\nv 0 0.5 -2\nf 1/1 2//3 -1\n";
        assert_eq!(obj(faces.as_bytes()).unwrap(), SOUP);
        assert!(obj(b"v 0 0 0\nf 1 2 3\n").unwrap_err().contains("line 2"));
        assert!(obj(b"v 0 a 0\n").unwrap_err().contains("line 1"));
    }

    #[test]
    fn a_square_becomes_two_triangles() {
        let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
        assert_eq!(obj(square.as_bytes()).unwrap().len(), 2);
    }
}
