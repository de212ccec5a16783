//! Suggestions for misspelt names.

/// The candidate most similar to `name`, if it is similar enough.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + name.len().max(candidate.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The optimal string alignment distance: substitutions, insertions, deletions and swaps of neighbouring letters.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: [Vec<usize>; 3] = [Vec::new(), (0..=b.len()).collect(), vec![0; b.len() + 1]];
    rows[0].resize(b.len() + 1, 0);
    for i in 1..=a.len() {
        rows[2][0] = i;
        for j in 1..=b.len() {
            let change = rows[1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[1][j] + 1).min(rows[2][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[0][j - 2] + 1);
            }
            rows[2][j] = best;
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_edits() {
        for (a, b, expected) in [
            ("", "abc", 3),
            ("ring", "ring", 0),
            ("rnig", "ring", 1),
            ("step", "stop", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(edit_distance(a, b), expected, "{a} {b}");
            assert_eq!(edit_distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn only_similar_names_are_suggested() {
        let names = ["radius", "circulation", "core"];
        assert_eq!(nearest("raduis", names), Some("radius"));
        assert_eq!(nearest("circulaton", names), Some("circulation"));
        assert_eq!(nearest("viscosity", names), None);
    }
}
