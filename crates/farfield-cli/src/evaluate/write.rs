//! Writes results to a file.

use crate::failure::Failure;
use farfield::Field;
use farfield::Geometry;
use farfield::simd::Real;
use farfield_io::{Array, NamedArray, Precision, write_arrays};
use std::path::Path;

/// Writes each output as an array of that name; with several charge vectors, `potential_0`, `potential_1` and so on.
pub fn results<T: Real, G: Geometry>(path: &Path, field: &Field<T, G>) -> Result<(), Failure> {
    let mut arrays = Vec::new();
    for output in field.outputs() {
        for vector in 0..field.vectors() {
            let values = field.of_vector(*output, vector).unwrap_or(&[]);
            let array = Array {
                rows: field.targets(),
                columns: field.components(*output).unwrap_or(1),
                values: values.iter().map(|value| value.to_f64()).collect(),
            };
            let name = if field.vectors() == 1 {
                G::output_name(*output).to_owned()
            } else {
                format!("{}_{vector}", G::output_name(*output))
            };
            arrays.push(NamedArray::new(name, array));
        }
    }
    let precision = if T::NAME == "f32" {
        Precision::Single
    } else {
        Precision::Double
    };
    Ok(write_arrays(path, &arrays, precision)?)
}
