//! Results into a file.

use crate::failure::Failure;
use crate::problem::Named;
use farfield::Field;
use farfield::simd::Real;
use farfield_io::{Array, NamedArray, Precision, write_arrays};
use std::path::Path;

/// Writes each output as an array of its name; with several charge vectors, `potential_0`, `potential_1` and so on.
pub fn results<T: Real, O: Named>(path: &Path, field: &Field<T, O>) -> Result<(), Failure> {
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
                output.name().to_owned()
            } else {
                format!("{}_{vector}", output.name())
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
