//! Checkpoints that ranks write together.
//!
//! ```text
//! checkpoints/step-000000040-1/rank-00000.ckpt   one checkpoint of each rank's own part
//! checkpoints/checkpoint-000000040.parts         the list of them: written last
//! ```
//!
//! Parts are written to a new folder and are on the disk before their list. So whenever a job is killed, the latest
//! list names complete parts.

use super::format::Written;
use super::store::{Store, write_file};
use super::view::StateView;
use super::{Checkpoint, Header};
use crate::error::Error;
use crate::model::State;
use crate::ranks::{Ranks, agree, from_first, of_all, speaks};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The list of the parts of a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Parts {
    /// The folder of the parts, next to the list.
    pub folder: String,
    /// Bytes of each part.
    bytes: Vec<u64>,
    /// The checksum of each part, its last four bytes.
    checksums: Vec<u32>,
}

impl Parts {
    /// Reads a list.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("it cannot be read: {error}"))?;
        let parts: Self = toml::from_str(&text).map_err(|error| format!("it is damaged: {}", error.message()))?;
        if parts.bytes.is_empty() || parts.bytes.len() != parts.checksums.len() {
            return Err("it is damaged: it lists no parts".to_owned());
        }
        Ok(parts)
    }

    /// The number of parts.
    pub fn count(&self) -> usize {
        self.bytes.len()
    }

    /// Reads the part of `rank`; `list` is the path of the list.
    pub fn part(&self, list: &Path, rank: usize) -> Result<Checkpoint, String> {
        let name = format!("{}/{}", self.folder, part_name(rank));
        let bytes =
            std::fs::read(list.with_file_name(&name)).map_err(|error| format!("{name} cannot be read: {error}"))?;
        if bytes.len() as u64 != self.bytes[rank] || checksum(&bytes) != self.checksums[rank] {
            return Err(format!("{name} is not the part that was written"));
        }
        Checkpoint::from_bytes(&bytes).map_err(|why| format!("{name}: {why}"))
    }
}

fn part_name(rank: usize) -> String {
    format!("rank-{rank:05}.ckpt")
}

/// The last four bytes.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The checkpoint from which ranks continue.
#[derive(Debug)]
pub struct FoundTogether {
    /// The run.
    pub header: Header,
    /// The state: this rank's part, or the whole if one process wrote it.
    pub state: State,
    /// The number of ranks that wrote it; `None` for one process.
    pub parts: Option<usize>,
    /// The problems of newer checkpoints, which were skipped.
    pub remarks: Vec<String>,
}

impl Store {
    /// Writes every rank's part of a checkpoint, and then their list. Called by all ranks together.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::OnRank`], the same on all ranks, if a part cannot be written; existing checkpoints
    /// are untouched.
    pub fn write_together(&self, header: &Header, state: &StateView<'_>, ranks: &dyn Ranks) -> Result<(), Error> {
        let step = header.step;
        let list = self.list_of(step);
        let made = if speaks(ranks) {
            self.new_folder(step)
        } else {
            Ok(String::new())
        };
        let folder = from_first(ranks, agree(ranks, made)?.into_bytes());
        let folder = String::from_utf8_lossy(&folder).into_owned();
        let path = list.with_file_name(&folder).join(part_name(ranks.rank()));
        let written = write_file(&path, header, state);
        let written = written.map(|Written { bytes, checksum }| [bytes as f64, f64::from(checksum)]);
        let all = of_all(ranks, &agree(ranks, written)?);
        let of_ranks = all.as_chunks::<2>().0;
        let listed = if speaks(ranks) {
            let parts = Parts {
                folder,
                bytes: of_ranks.iter().map(|[bytes, _]| *bytes as u64).collect(),
                checksums: of_ranks.iter().map(|[_, checksum]| *checksum as u32).collect(),
            };
            self.list(&list, &parts)
        } else {
            Ok(())
        };
        agree(ranks, listed)
    }

    /// Writes the list of parts that are on the disk. Then removes all but the last two checkpoints.
    fn list(&self, path: &Path, parts: &Parts) -> Result<(), Error> {
        let text = toml::to_string(parts).map_err(|error| Error::Checkpoint {
            path: path.to_owned(),
            why: format!("cannot write the list of parts: {error}"),
        })?;
        farfield_io::write_text_atomically(path, &text)?;
        self.tidy()
    }

    /// Creates a new folder for parts and returns its name.
    fn new_folder(&self, step: u64) -> Result<String, Error> {
        for attempt in 1.. {
            let name = format!("step-{step:09}-{attempt}");
            let path = self.list_of(step).with_file_name(&name);
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(name),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(farfield_io::Error::Write { path, cause }.into()),
            }
        }
        Ok(String::new())
    }

    /// The newest checkpoint whose parts all ranks can read. Each rank reads some of the parts that ranks wrote, or the
    /// whole checkpoint that one process wrote. Called by all ranks together.
    ///
    /// # Errors
    /// [`Error::Checkpoint`], [`Error::Folder`] or [`Error::OnRank`], the same on all ranks, if no checkpoint is
    /// intact.
    pub fn newest_together(&self, ranks: &dyn Ranks) -> Result<FoundTogether, Error> {
        let listed = if speaks(ranks) { self.names() } else { Ok(Vec::new()) };
        let names = from_first(ranks, agree(ranks, listed)?.join("\n").into_bytes());
        let names = String::from_utf8_lossy(&names).into_owned();
        let mut remarks: Vec<String> = Vec::new();
        for name in names.lines().rev() {
            let path = self.list_of(0).with_file_name(name);
            let own = read_own(&path, ranks).map_err(|why| Error::Checkpoint { path: name.into(), why });
            match agree(ranks, own) {
                Ok((parts, own)) => {
                    if let Some(last) = remarks.last_mut() {
                        *last = format!("{last}; using {name}");
                    }
                    let (header, state) = agree(ranks, alike(ranks, own))?;
                    return Ok(FoundTogether {
                        header,
                        state,
                        parts,
                        remarks,
                    });
                }
                Err(error) => remarks.push(error.to_string()),
            }
        }
        Err(self.nothing_found(&remarks))
    }
}

/// The number of parts of a checkpoint, `None` if one process wrote it, and the parts that this rank reads.
fn read_own(path: &Path, ranks: &dyn Ranks) -> Result<(Option<usize>, Vec<Checkpoint>), String> {
    if !super::store::is_list(path) {
        return Ok((None, vec![super::store::read(path)?]));
    }
    let parts = Parts::read(path)?;
    let own = (ranks.rank()..parts.count()).step_by(ranks.size());
    let read: Result<_, String> = own.map(|rank| parts.part(path, rank)).collect();
    Ok((Some(parts.count()), read?))
}

/// The header of the first rank, and the joined parts of this rank. A rank without parts gets empty arrays.
fn alike(ranks: &dyn Ranks, own: Vec<Checkpoint>) -> Result<(Header, State), Error> {
    let wrong = |why: String| Error::Checkpoint {
        path: "checkpoint".into(),
        why,
    };
    let first = own.first().map(|first| {
        let layout = first
            .state
            .arrays
            .iter()
            .map(|(name, columns, _)| format!("{name} {columns}"));
        let header = toml::to_string(&first.header).unwrap_or_default();
        format!("{}\n\n{header}", layout.collect::<Vec<_>>().join("\n"))
    });
    let text = from_first(ranks, first.unwrap_or_default().into_bytes());
    let text = String::from_utf8_lossy(&text).into_owned();
    let (layout, header) = text.split_once("\n\n").unwrap_or_default();
    let header = toml::from_str(header).map_err(|error| wrong(format!("its header cannot be read: {error}")))?;
    let state = if own.is_empty() {
        let array = |line: &str| {
            let (name, columns) = line.split_once(' ')?;
            Some((name.to_owned(), columns.parse().ok()?, Vec::new()))
        };
        State {
            arrays: layout.lines().filter_map(array).collect(),
        }
    } else {
        joined(own.into_iter().map(|part| part.state)).map_err(wrong)?
    };
    Ok((header, state))
}

/// Joins the parts of a state, in order.
pub(super) fn joined(parts: impl Iterator<Item = State>) -> Result<State, String> {
    let mut all = State::default();
    for part in parts {
        if all.arrays.is_empty() {
            all = part;
            continue;
        }
        if all.arrays.len() != part.arrays.len() {
            return Err("its parts have different arrays".to_owned());
        }
        for ((name, columns, values), (other, width, more)) in all.arrays.iter_mut().zip(part.arrays) {
            if *name != other || *columns != width {
                return Err(format!("its parts have different arrays: {name} and {other}"));
            }
            values.extend(more);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::super::format::tests::sample;
    use super::*;
    use crate::ranks::Alone;

    fn folders(path: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(path).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name.starts_with("step-")).collect();
        names.sort();
        names
    }

    fn write_together(store: &Store, step: u64) {
        let Checkpoint { header, state } = sample(step);
        store.write_together(&header, &StateView::from(state), &Alone).unwrap();
    }

    #[test]
    fn the_last_two_are_kept_and_ranks_and_one_process_read_them() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        for step in [0, 5, 10, 10] {
            write_together(&store, step);
        }
        assert_eq!(store.steps(), [5, 10]);
        // A step that is written again gets a new folder; the old one is removed once the list names the new one.
        assert_eq!(folders(folder.path()), ["step-000000005-1", "step-000000010-2"]);
        let found = store.newest_together(&Alone).unwrap();
        assert_eq!((found.header, found.state), (sample(10).header, sample(10).state));
        assert_eq!(found.parts, Some(1));
        assert_eq!(store.newest().unwrap().checkpoint, sample(10));
        assert_eq!(store.of_step(Some(5)).unwrap().checkpoint, sample(5));
    }

    #[test]
    fn a_checkpoint_with_a_lost_or_damaged_part_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        write_together(&store, 5);
        write_together(&store, 10);
        let part = folder.path().join("step-000000010-1/rank-00000.ckpt");
        // An intact checkpoint, but not the listed one.
        std::fs::write(&part, sample(9).to_bytes().unwrap()).unwrap();
        for _ in 0..2 {
            let found = store.newest_together(&Alone).unwrap();
            assert_eq!(found.header.step, 5);
            assert!(found.remarks[0].contains("rank-00000.ckpt"), "{:?}", found.remarks);
            assert_eq!(store.newest().unwrap().checkpoint, sample(5));
            let _ = std::fs::remove_file(&part);
        }
        std::fs::write(folder.path().join("checkpoint-000000005.parts"), "folder = 1").unwrap();
        assert!(
            store
                .newest_together(&Alone)
                .unwrap_err()
                .to_string()
                .contains("no intact")
        );
    }

    #[test]
    fn parts_are_joined_row_by_row() {
        let state = |values: &[f64]| State {
            arrays: vec![("sizes".to_owned(), 1, values.to_vec())],
        };
        let all = joined([state(&[1.0]), state(&[]), state(&[2.0, 3.0])].into_iter()).unwrap();
        assert_eq!(all, state(&[1.0, 2.0, 3.0]));
        assert!(joined([state(&[1.0]), sample(1).state].into_iter()).is_err());
    }
}
