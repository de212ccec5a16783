//! Finds the positions and strengths among the columns of a table or the arrays of an archive.
//!
//! Case and a unit in brackets are ignored: `X [m]` matches `x`.

/// Names of coordinates, in order.
pub(crate) const AXES: [&str; 3] = ["x", "y", "z"];
/// The array whose columns in a table are named by the axes alone.
const POINTS: &str = "points";
/// Names that mean strengths, alone or followed by `_x`, `_y`, `_z` or by `_0`, `_1`, ...
const STRENGTHS: [&str; 9] = [
    "charges",
    "charge",
    "q",
    "masses",
    "mass",
    "strengths",
    "strength",
    "gamma",
    "g",
];
/// A name that only means strengths as a vector; its components may also lack the underscore: `gx`.
const VECTOR_ONLY: &str = "g";

/// The set of points wanted from a file that may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Sources,
    Targets,
}

impl Role {
    /// Names to look for, in order of preference.
    pub(crate) fn names(self) -> [&'static str; 4] {
        match self {
            Self::Sources => [POINTS, "sources", "positions", "targets"],
            Self::Targets => ["targets", POINTS, "positions", "sources"],
        }
    }
}

/// The indices of the columns that hold points with `dimension` coordinates: either one whole array,
/// or one column per axis.
pub(crate) fn find_points(names: &[String], role: Role, dimension: usize, whole_arrays: bool) -> Option<Vec<usize>> {
    let found = role.names().into_iter().find_map(|name| {
        let whole = whole_arrays.then(|| find(names, name)).flatten();
        whole
            .map(|index| vec![index])
            .or_else(|| find_axes(names, &format!("{name}_"), dimension))
            .or_else(|| (name == POINTS).then(|| find_axes(names, "", dimension))?)
    });
    found.filter(|indices| !indices.is_empty())
}

/// All candidates for the strengths: their names and the indices of their columns.
pub(crate) fn find_strengths(names: &[String]) -> Vec<(String, Vec<usize>)> {
    let mut found = Vec::new();
    for name in STRENGTHS {
        if let Some(index) = find(names, name).filter(|_| name != VECTOR_ONLY) {
            found.push((names[index].clone(), vec![index]));
        }
        let mut columns = find_components(names, name);
        if columns.is_none() && name == VECTOR_ONLY {
            columns = find_vector(names, name);
        }
        if let Some(columns) = columns {
            let labels: Vec<_> = columns.iter().map(|&index| names[index].as_str()).collect();
            found.push((labels.join("+"), columns));
        }
    }
    found
}

/// The indices of the columns of the array `name`, as named by [`of_array`].
pub(crate) fn find_array(names: &[String], name: &str) -> Option<Vec<usize>> {
    if let Some(index) = names.iter().position(|candidate| candidate == name) {
        return Some(vec![index]);
    }
    if name == POINTS
        && let Some(columns) = find_vector(names, "")
    {
        return Some(columns);
    }
    find_components(names, name)
}

/// The names of the columns of the array `name` in a table: `name` itself for a single column,
/// `name_x`, `name_y`, `name_z` for a vector, otherwise `name_0`, `name_1`, ...
pub(crate) fn of_array(name: &str, columns: usize) -> Vec<String> {
    match columns {
        1 => vec![name.to_owned()],
        2 | 3 if name == POINTS => AXES[..columns].iter().map(|&axis| axis.into()).collect(),
        2 | 3 => AXES[..columns].iter().map(|axis| format!("{name}_{axis}")).collect(),
        _ => (0..columns).map(|index| format!("{name}_{index}")).collect(),
    }
}

fn find_components(names: &[String], name: &str) -> Option<Vec<usize>> {
    find_vector(names, &format!("{name}_")).or_else(|| {
        let numbered: Vec<_> = (0..names.len())
            .map_while(|number| find(names, &format!("{name}_{number}")))
            .collect();
        (!numbered.is_empty()).then_some(numbered)
    })
}

/// The columns of three components, or of two if there is no third.
fn find_vector(names: &[String], prefix: &str) -> Option<Vec<usize>> {
    find_axes(names, prefix, 3).or_else(|| find_axes(names, prefix, 2))
}

fn find_axes(names: &[String], prefix: &str, dimension: usize) -> Option<Vec<usize>> {
    if dimension > AXES.len() {
        return None;
    }
    AXES[..dimension]
        .iter()
        .map(|axis| find(names, &format!("{prefix}{axis}")))
        .collect()
}

fn find(names: &[String], wanted: &str) -> Option<usize> {
    let exact = names.iter().position(|name| name == wanted);
    exact.or_else(|| names.iter().position(|name| plain(name) == wanted))
}

/// Lower case, without a unit in brackets at the end.
fn plain(name: &str) -> String {
    let without_unit = match name.find(['[', '(']) {
        Some(start) if start > 0 && name.ends_with([']', ')']) => &name[..start],
        _ => name,
    };
    without_unit.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    fn points(text: &str, role: Role, dimension: usize) -> Option<Vec<usize>> {
        find_points(&names(text), role, dimension, true)
    }

    #[test]
    fn points_by_any_of_their_names() {
        assert_eq!(points("q,Z [m],x,Y(m)", Role::Sources, 3), Some(vec![2, 3, 1]));
        assert_eq!(points("x,y,q", Role::Sources, 3), None);
        assert_eq!(points("x,y,q", Role::Sources, 2), Some(vec![0, 1]));
        assert_eq!(points("a,positions", Role::Sources, 3), Some(vec![1]));
        assert_eq!(points("targets,sources", Role::Sources, 3), Some(vec![1]));
        assert_eq!(points("targets,sources", Role::Targets, 3), Some(vec![0]));
        let split = "targets_x,targets_y,targets_z,x,y,z";
        assert_eq!(points(split, Role::Targets, 3), Some(vec![0, 1, 2]));
        assert_eq!(points(split, Role::Sources, 3), Some(vec![3, 4, 5]));
    }

    #[test]
    fn strengths_by_any_of_their_names() {
        let columns = |text: &str| -> Vec<Vec<usize>> {
            let found = find_strengths(&names(text));
            found.into_iter().map(|(_, columns)| columns).collect()
        };
        assert_eq!(columns("x,y,z,Charge"), [[3]]);
        assert_eq!(columns("gz,gy,gx"), [[2, 1, 0]]);
        assert_eq!(columns("gamma_x,gamma_y,gamma_z"), [[0, 1, 2]]);
        assert_eq!(columns("charges_0,charges_1,x"), [[0, 1]]);
        assert_eq!(columns("q,mass"), [[0], [1]]);
        assert_eq!(columns("x,y,z,g,v"), [[0_usize; 0]; 0]);
    }

    #[test]
    fn columns_of_a_written_array_are_found_again() {
        for (name, columns) in [("points", 3), ("points", 2), ("gradient", 3), ("u", 7), ("u", 1)] {
            let mut written = vec!["other".to_owned()];
            written.extend(of_array(name, columns));
            let expected: Vec<_> = (1..=columns).collect();
            assert_eq!(find_array(&written, name), Some(expected), "{name} {columns}");
        }
    }
}
