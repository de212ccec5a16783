//! The bytes of a checkpoint.

use super::{Checkpoint, Header};
use crate::model::State;

const MAGIC: &[u8; 8] = b"farfield";
/// Of the layout of the file.
const VERSION: u32 = 1;

impl Checkpoint {
    /// The file's content.
    ///
    /// # Errors
    /// A sentence if the header cannot be written as TOML.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let header = toml::to_string(&self.header).map_err(|error| format!("cannot write the header: {error}"))?;
        let numbers: usize = self.state.arrays.iter().map(|(_, _, values)| values.len()).sum();
        let mut out = Vec::with_capacity(8 * numbers + header.len() + 1024);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        push_text(&mut out, &header);
        out.extend((self.state.arrays.len() as u64).to_le_bytes());
        for (name, columns, values) in &self.state.arrays {
            push_text(&mut out, name);
            out.extend((*columns as u64).to_le_bytes());
            out.extend((values.len() as u64).to_le_bytes());
            out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        let checksum = crc32fast::hash(&out);
        out.extend(checksum.to_le_bytes());
        Ok(out)
    }

    /// Reads a file's content.
    ///
    /// # Errors
    /// A sentence on what is wrong: cut short, damaged, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() < MAGIC.len() + 8 || !bytes.starts_with(MAGIC) {
            return Err("not a checkpoint, or only the beginning of one".to_owned());
        }
        let (content, checksum) = bytes.split_at(bytes.len() - 4);
        if crc32fast::hash(content).to_le_bytes() != checksum {
            return Err("it is damaged or cut short: its checksum differs".to_owned());
        }
        let mut reader = Reader { rest: &content[8..] };
        let version = u32::from_le_bytes(reader.take()?);
        if version != VERSION {
            return Err(format!(
                "it has the format version {version}; this program reads version {VERSION}"
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
            let raw = reader.bytes(length.checked_mul(8).ok_or("an impossible length")?)?;
            let values = raw
                .as_chunks::<8>()
                .0
                .iter()
                .map(|chunk| f64::from_le_bytes(*chunk))
                .collect();
            state.arrays.push((name, columns, values));
        }
        if !reader.rest.is_empty() {
            return Err(format!("{} bytes too many", reader.rest.len()));
        }
        Ok(Self { header, state })
    }
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or("it ends too early")?;
        self.rest = rest;
        Ok(taken)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.bytes(N)?.try_into().map_err(|_| "it ends too early".to_owned())
    }

    fn number(&mut self) -> Result<usize, String> {
        usize::try_from(u64::from_le_bytes(self.take()?)).map_err(|_| "an impossible length".to_owned())
    }

    fn text(&mut self) -> Result<String, String> {
        let length = self.number()?;
        String::from_utf8(self.bytes(length)?.to_vec()).map_err(|_| "a text that is not valid UTF-8".to_owned())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::case::{self, BuiltIn};
    use crate::checkpoint::PlanRecord;
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
    fn every_bit_comes_back() {
        let checkpoint = sample(3);
        let bytes = checkpoint.to_bytes().unwrap();
        let back = Checkpoint::from_bytes(&bytes).unwrap();
        assert_eq!(back, checkpoint);
        assert_eq!(back.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn any_cut_is_seen() {
        let bytes = sample(3).to_bytes().unwrap();
        for length in 0..bytes.len() {
            assert!(Checkpoint::from_bytes(&bytes[..length]).is_err(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn any_flipped_bit_is_seen(at in 0usize..2000, bit in 0u32..8) {
            let mut bytes = sample(3).to_bytes().unwrap();
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            prop_assert!(Checkpoint::from_bytes(&bytes).is_err());
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(Checkpoint::from_bytes(&bytes).is_err());
            let mut sealed = MAGIC.to_vec();
            sealed.extend(VERSION.to_le_bytes());
            sealed.extend(&bytes);
            sealed.extend(crc32fast::hash(&sealed).to_le_bytes());
            prop_assert!(Checkpoint::from_bytes(&sealed).is_err());
        }
    }
}
