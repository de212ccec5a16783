//! The binary format of a checkpoint.

use super::view::StateView;
use super::{Checkpoint, Header};
use crate::model::State;
use std::io::{self, Write};

const MAGIC: &[u8; 8] = b"farfield";
/// The version of the format. In version 1 every number has eight bytes; in version 2 each array gives its own width.
const VERSION: u32 = 2;
const OLDEST: u32 = 1;

/// Size and checksum of a written file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    pub bytes: u64,
    /// The CRC-32, which is also the last four bytes.
    pub checksum: u32,
}

/// Writes a checkpoint piece by piece, directly from the state.
///
/// # Errors
/// The errors of the writer, and `InvalidData` if the header cannot be written as TOML.
pub(super) fn write(header: &Header, state: &StateView<'_>, out: &mut dyn Write) -> io::Result<Written> {
    let header = toml::to_string(header)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("cannot write the header: {error}")))?;
    let mut out = Checksummed {
        out,
        bytes: 0,
        checksum: crc32fast::Hasher::new(),
    };
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    out.text(&header)?;
    out.number(state.arrays.len())?;
    for (name, columns, numbers) in &state.arrays {
        out.text(name)?;
        out.number(*columns)?;
        out.number(numbers.len())?;
        out.number(numbers.width())?;
        numbers.write(&mut out)?;
    }
    let checksum = out.checksum.finalize();
    out.out.write_all(&checksum.to_le_bytes())?;
    Ok(Written {
        bytes: out.bytes + 4,
        checksum,
    })
}

/// A writer that counts bytes and computes their checksum.
struct Checksummed<'a> {
    out: &'a mut dyn Write,
    bytes: u64,
    checksum: crc32fast::Hasher,
}

impl Checksummed<'_> {
    fn number(&mut self, number: usize) -> io::Result<()> {
        self.write_all(&(number as u64).to_le_bytes())
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.number(text.len())?;
        self.write_all(text.as_bytes())
    }
}

impl Write for Checksummed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.checksum.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Checkpoint {
    /// The file's content.
    ///
    /// # Errors
    /// A sentence if the header cannot be written as TOML.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        write(&self.header, &StateView::from(&self.state), &mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    /// Reads a file's content.
    ///
    /// # Errors
    /// A sentence naming the problem: truncated, damaged, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() < MAGIC.len() + 8 || !bytes.starts_with(MAGIC) {
            return Err("it is not a checkpoint, or it is truncated".to_owned());
        }
        let (content, checksum) = bytes.split_at(bytes.len() - 4);
        if crc32fast::hash(content).to_le_bytes() != checksum {
            return Err("it is damaged or truncated: its checksum differs".to_owned());
        }
        let mut reader = Reader { rest: &content[8..] };
        let version = u32::from_le_bytes(reader.take()?);
        if !(OLDEST..=VERSION).contains(&version) {
            return Err(format!(
                "it has the format version {version}; this program reads versions {OLDEST} to {VERSION}"
            ));
        }
        let header: Header = toml::from_str(&reader.text()?)
            .map_err(|error| format!("its header cannot be read: {}", error.message()))?;
        let count = reader.number()?;
        let mut state = State::default();
        for _ in 0..count {
            let name = reader.text()?;
            let columns = reader.number()?;
            let length = reader.number()?;
            let width = if version == 1 { 8 } else { reader.number()? };
            let raw = reader.bytes(length.checked_mul(width).ok_or("it is damaged: invalid length")?)?;
            let values = match width {
                4 => raw
                    .as_chunks()
                    .0
                    .iter()
                    .map(|b| f64::from(f32::from_le_bytes(*b)))
                    .collect(),
                8 => raw.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
                _ => return Err(format!("it is damaged: numbers of {width} bytes")),
            };
            state.arrays.push((name, columns, values));
        }
        if !reader.rest.is_empty() {
            return Err(format!("it is damaged: {} bytes too many", reader.rest.len()));
        }
        Ok(Self { header, state })
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or("it is damaged: it ends too early")?;
        self.rest = rest;
        Ok(taken)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.bytes(N)?
            .try_into()
            .map_err(|_| "it is damaged: it ends too early".to_owned())
    }

    fn number(&mut self) -> Result<usize, String> {
        usize::try_from(u64::from_le_bytes(self.take()?)).map_err(|_| "it is damaged: invalid length".to_owned())
    }

    fn text(&mut self) -> Result<String, String> {
        let length = self.number()?;
        String::from_utf8(self.bytes(length)?.to_vec())
            .map_err(|_| "it is damaged: a text is not valid UTF-8".to_owned())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::case::{self, BuiltIn};
    use crate::checkpoint::{Numbers, PlanRecord};
    use crate::model::Limit;
    use farfield::tuning::MachineProfile;
    use proptest::prelude::*;

    pub fn sample(step: u64) -> Checkpoint {
        let case = case::read(BuiltIn::ALL[0].text, "leapfrog", &[]).unwrap();
        let mut state = State::default();
        state.push_vectors("positions", &[[0.1, -0.0, 1e-300], [1.0 / 3.0, f64::MAX, step as f64]]);
        state.push_numbers("sizes", &[]);
        let header = Header {
            program: "0.1.0".to_owned(),
            step,
            time: 0.1 + 0.2,
            dt: 0.1,
            limit: Limit::Fixed,
            rows: step,
            last_energy: Some(1.0 / 7.0),
            simd: "scalar".to_owned(),
            device: Some("a device".to_owned()),
            plans: vec![PlanRecord {
                sum: "elements".to_owned(),
                method: "fmm".to_owned(),
                order: Some(9),
                theta: None,
                leaf_capacity: Some(64),
            }],
            case,
            profile: MachineProfile::default(),
        };
        Checkpoint { header, state }
    }

    #[test]
    fn a_round_trip_preserves_every_bit() {
        let checkpoint = sample(3);
        let bytes = checkpoint.to_bytes().unwrap();
        let back = Checkpoint::from_bytes(&bytes).unwrap();
        assert_eq!(back, checkpoint);
        assert_eq!(back.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn numbers_keep_their_precision_and_pieces_are_joined() {
        let Checkpoint { header, state } = sample(3);
        let singles = [0.1f32, -0.0, f32::MIN_POSITIVE, 3.5];
        let mut view = StateView::from(&state);
        let pieces = Numbers::Single(vec![&singles[..1], &[], &singles[1..]]);
        view.arrays.push(("singles".to_owned(), 2, pieces));
        let mut bytes = Vec::new();
        let written = write(&header, &view, &mut bytes).unwrap();
        assert_eq!(written.bytes, bytes.len() as u64);
        assert_eq!(written.checksum.to_le_bytes(), bytes[bytes.len() - 4..]);
        let doubles = Checkpoint {
            header: header.clone(),
            state: view.clone().into_state(),
        }
        .to_bytes()
        .unwrap();
        assert_eq!(doubles.len() - bytes.len(), 4 * singles.len());
        let back = Checkpoint::from_bytes(&bytes).unwrap();
        assert_eq!(
            back,
            Checkpoint {
                header,
                state: view.into_state()
            }
        );
        assert_eq!(back.state.arrays[2].2, singles.map(f64::from));
    }

    #[test]
    fn files_of_version_1_can_be_read() {
        let checkpoint = sample(3);
        let mut old = MAGIC.to_vec();
        old.extend(1u32.to_le_bytes());
        let text = |out: &mut Vec<u8>, text: &str| {
            out.extend((text.len() as u64).to_le_bytes());
            out.extend(text.as_bytes());
        };
        text(&mut old, &toml::to_string(&checkpoint.header).unwrap());
        old.extend((checkpoint.state.arrays.len() as u64).to_le_bytes());
        for (name, columns, values) in &checkpoint.state.arrays {
            text(&mut old, name);
            old.extend((*columns as u64).to_le_bytes());
            old.extend((values.len() as u64).to_le_bytes());
            old.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        old.extend(crc32fast::hash(&old).to_le_bytes());
        assert_eq!(Checkpoint::from_bytes(&old).unwrap(), checkpoint);
    }

    #[test]
    fn any_truncation_is_detected() {
        let bytes = sample(3).to_bytes().unwrap();
        for length in 0..bytes.len() {
            assert!(Checkpoint::from_bytes(&bytes[..length]).is_err(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn any_flipped_bit_is_detected(at in 0usize..2000, bit in 0u32..8) {
            let mut bytes = sample(3).to_bytes().unwrap();
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            prop_assert!(Checkpoint::from_bytes(&bytes).is_err());
        }

        #[test]
        fn arbitrary_bytes_give_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(Checkpoint::from_bytes(&bytes).is_err());
            let mut sealed = MAGIC.to_vec();
            sealed.extend(VERSION.to_le_bytes());
            sealed.extend(&bytes);
            sealed.extend(crc32fast::hash(&sealed).to_le_bytes());
            prop_assert!(Checkpoint::from_bytes(&sealed).is_err());
        }
    }
}
