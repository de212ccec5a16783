//! A frame: the points of one moment in the format of the messages to viewers, written once for all viewers.
//!
//! A message is `FFL1`, the length of the header as a 32-bit number, the header as JSON, padded to a multiple of four
//! bytes, then the records of each part and the bytes of each volume, in the order of the header. Numbers are
//! little-endian. A record has 8 bytes: x, y, z as 16-bit numbers relative to the box of the part, the value in 8
//! bits relative to its range, the group. A record with a direction has 4 more bytes: the components in units of the
//! longest / 127, and padding.
//!
//! Points are in a fixed random order, so that the first k points are a fair sample that stays the same from frame to
//! frame.

use crate::still::CloudView;
use farfield::memory::ShrunkPoints;
use farfield::points::Random;
use farfield_sim::Error;
use farfield_sim::model::Volume;
use farfield_sim::vec3::{Vec3, norm};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// The first bytes of a message.
pub const MAGIC: [u8; 4] = *b"FFL1";
/// The size of a record in bytes, without and with a direction.
const RECORD: usize = 8;
const RECORD_WITH_DIRECTION: usize = 12;
/// The number of points that a thread writes at a time.
const TOGETHER: usize = 1 << 13;

/// The contents that a viewer wants in each frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Want {
    /// The most points of each cloud.
    pub points: usize,
    /// The value that colours points, such as `speed`; empty for none.
    pub value: String,
    /// Whether to include elements with their directions.
    pub elements: bool,
    /// The name of the field on a grid; empty for none.
    pub volume: String,
    /// The most points of that grid.
    pub voxels: usize,
}

impl Want {
    /// Whether both want the same contents, apart from the number of points.
    pub fn is_alike(&self, other: &Self) -> bool {
        let without_count = |want: &Self| Self {
            points: want.points.min(1),
            ..want.clone()
        };
        without_count(self) == without_count(other)
    }
}

/// One cloud of points with one value, quantised.
#[derive(Debug)]
pub struct Part {
    name: String,
    value: String,
    low: Vec3,
    high: Vec3,
    range: [f64; 2],
    longest: f64,
    record: usize,
    records: Vec<u8>,
}

/// A scalar field on a grid, quantised to 8 bits, with the interior of bodies and the blocks.
#[derive(Debug)]
struct Voxels {
    name: String,
    most: usize,
    origin: Vec3,
    spacing: f64,
    size: [usize; 3],
    range: [f32; 2],
    values: Vec<u8>,
    inside: Vec<u8>,
    blocks: Vec<u8>,
}

/// One moment, ready to be sent to any number of viewers.
#[derive(Debug, Default)]
pub struct Frame {
    /// The number of the frame, counted by the hub from 1.
    pub number: u64,
    /// Steps done.
    pub step: u64,
    /// The time reached.
    pub time: f64,
    /// The seconds it took to write the frame.
    pub seconds: f64,
    /// The requests that the frame was written for.
    pub wants: Vec<Want>,
    parts: Vec<Part>,
    voxels: Vec<Voxels>,
}

#[derive(Serialize)]
struct Header<'a> {
    frame: u64,
    step: u64,
    time: f64,
    parts: Vec<PartHeader<'a>>,
    volumes: Vec<VolumeHeader<'a>>,
}

#[derive(Serialize)]
struct PartHeader<'a> {
    name: &'a str,
    value: &'a str,
    count: usize,
    total: usize,
    low: Vec3,
    high: Vec3,
    range: [f64; 2],
    longest: f64,
    record: usize,
}

#[derive(Serialize)]
struct VolumeHeader<'a> {
    name: &'a str,
    origin: Vec3,
    spacing: f64,
    size: [usize; 3],
    range: [f32; 2],
    inside: bool,
    blocks: usize,
}

/// Writes frames, and caches the random orders of points.
#[derive(Debug, Default)]
pub struct Encoder {
    orders: Vec<Arc<[u32]>>,
}

impl Encoder {
    /// Writes the parts of clouds that any of the requests contains.
    ///
    /// # Errors
    /// If fetching the points from a device fails.
    pub fn parts(&mut self, frame: &mut Frame, clouds: &[CloudView<'_>], wants: &[Want]) -> Result<(), Error> {
        for (k, cloud) in clouds.iter().enumerate() {
            let mut values: Vec<&str> = Vec::new();
            for want in wants {
                // The first cloud is drawn as points; the elements after it are included only on request.
                let is_wanted = want.points > 0 && (k == 0 || want.elements);
                if is_wanted && !values.contains(&want.value.as_str()) {
                    values.push(&want.value);
                }
            }
            let order = self.order(cloud.len());
            for value in values {
                frame.parts.push(part(cloud, value, &order)?);
            }
        }
        Ok(())
    }

    /// The fixed random order of `count` points.
    fn order(&mut self, count: usize) -> Arc<[u32]> {
        if let Some(order) = self.orders.iter().find(|order| order.len() == count) {
            return order.clone();
        }
        let order = shuffled(count);
        // Enough for two clouds, before and after a change of their sizes.
        if self.orders.len() >= 4 {
            self.orders.remove(0);
        }
        self.orders.push(order.clone());
        order
    }
}

/// The numbers below `count` in a random order that is always the same.
fn shuffled(count: usize) -> Arc<[u32]> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    let mut random = Random::new(1);
    for k in (1..count).rev() {
        let other = (random.uniform() * (k + 1) as f64) as usize;
        order.swap(k, other.min(k));
    }
    order.into()
}

fn part(cloud: &CloudView<'_>, value: &str, order: &[u32]) -> Result<Part, Error> {
    let places = Places::of(cloud)?;
    let (low, high) = places.corners();
    let colours = Colours::of(cloud, value)?;
    let directions = cloud.directions()?;
    let longest = directions.map_or(0.0, |vectors| {
        vectors.par_iter().map(|v| norm(*v)).reduce(|| 0.0, f64::max)
    });
    let per_longest = if longest > 0.0 { 127.0 / longest } else { 0.0 };
    let record = if directions.is_some() {
        RECORD_WITH_DIRECTION
    } else {
        RECORD
    };
    let mut records = vec![0; record * order.len()];
    let pieces = records
        .par_chunks_mut(record * TOGETHER)
        .zip(order.par_chunks(TOGETHER));
    pieces.for_each(|(records, order)| {
        for (bytes, &at) in records.chunks_exact_mut(record).zip(order) {
            let at = at as usize;
            for (axis, number) in places.at(at).into_iter().enumerate() {
                bytes[2 * axis..2 * axis + 2].copy_from_slice(&number.to_le_bytes());
            }
            bytes[6] = colours.at(at);
            bytes[7] = cloud.groups.get(at).map_or(0, |group| (*group).min(255) as u8);
            if let Some(vectors) = directions {
                for axis in 0..3 {
                    bytes[8 + axis] = (vectors[at][axis] * per_longest).round() as i8 as u8;
                }
            }
        }
    });
    Ok(Part {
        name: cloud.name.to_owned(),
        value: value.to_owned(),
        low,
        high,
        range: colours.range,
        longest,
        record,
        records,
    })
}

/// Quantised positions.
enum Places<'a> {
    /// Points on the host, quantised on access: `steps` steps per unit of length within their box.
    Host {
        points: &'a [Vec3],
        low: Vec3,
        high: Vec3,
        steps: Vec3,
    },
    /// Points quantised on a GPU.
    Gpu(ShrunkPoints),
}

impl<'a> Places<'a> {
    fn of(cloud: &'a CloudView<'_>) -> Result<Self, Error> {
        if let Some(shrunk) = cloud.shrunk_points()? {
            return Ok(Places::Gpu(shrunk));
        }
        let points = cloud.points()?;
        let (low, high) = bounds(points);
        Ok(Places::Host {
            points,
            low,
            high,
            steps: std::array::from_fn(|axis| steps(65535.0, high[axis] - low[axis])),
        })
    }

    fn corners(&self) -> (Vec3, Vec3) {
        match self {
            Places::Host { low, high, .. } => (*low, *high),
            Places::Gpu(shrunk) => (shrunk.low, shrunk.high),
        }
    }

    fn at(&self, k: usize) -> [u16; 3] {
        match self {
            Places::Host { points, low, steps, .. } => {
                std::array::from_fn(|axis| ((points[k][axis] - low[axis]) * steps[axis] + 0.5) as u16)
            }
            Places::Gpu(shrunk) => shrunk.numbers[k],
        }
    }
}

/// Quantised values of points.
struct Colours<'a> {
    range: [f64; 2],
    steps: f64,
    numbers: Option<Values<'a>>,
    /// Values quantised on a GPU.
    shrunk: Vec<u8>,
}

impl<'a> Colours<'a> {
    fn of(cloud: &'a CloudView<'_>, value: &str) -> Result<Self, Error> {
        if let Some((longest, shrunk)) = cloud.shrunk_lengths(value)? {
            return Ok(Self {
                range: [0.0, longest],
                steps: 0.0,
                numbers: None,
                shrunk,
            });
        }
        let numbers = cloud.values(value)?;
        let range = range_of(numbers.as_ref());
        Ok(Self {
            range,
            steps: steps(255.0, range[1] - range[0]),
            numbers,
            shrunk: Vec::new(),
        })
    }

    fn at(&self, k: usize) -> u8 {
        match &self.numbers {
            Some(numbers) => ((numbers.at(k) - self.range[0]) * self.steps + 0.5) as u8,
            None => self.shrunk.get(k).copied().unwrap_or(0),
        }
    }
}

/// Steps per unit if `most` steps span `extent`; 0 for an empty extent.
fn steps(most: f64, extent: f64) -> f64 {
    if extent > 0.0 { most / extent } else { 0.0 }
}

/// The bounding box of points; the origin if there are no points.
fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    let nothing = || ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    let joined = |(a, b): (Vec3, Vec3), (c, d): (Vec3, Vec3)| -> (Vec3, Vec3) {
        (
            std::array::from_fn(|axis| a[axis].min(c[axis])),
            std::array::from_fn(|axis| b[axis].max(d[axis])),
        )
    };
    let pieces = points.par_chunks(TOGETHER);
    let found = pieces
        .map(|piece| {
            piece
                .iter()
                .fold(nothing(), |so_far, point| joined(so_far, (*point, *point)))
        })
        .reduce(nothing, joined);
    if points.is_empty() { ([0.0; 3], [0.0; 3]) } else { found }
}

/// A value of each point.
pub enum Values<'a> {
    /// A scalar attribute.
    Numbers(&'a [f64]),
    /// The length of a vector attribute.
    Lengths(&'a [Vec3]),
    /// The age.
    Ages {
        /// The first point of each batch, and the batch's time of birth.
        births: &'a [(usize, f64)],
        /// The current time.
        now: f64,
        /// The number of points.
        count: usize,
    },
}

impl Values<'_> {
    /// The value of point `k`.
    pub fn at(&self, k: usize) -> f64 {
        match self {
            Values::Numbers(numbers) => numbers[k],
            Values::Lengths(vectors) => norm(vectors[k]),
            Values::Ages { births, now, .. } => {
                let after = births.partition_point(|(from, _)| *from <= k);
                now - births[..after].last().map_or(*now, |(_, since)| *since)
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Numbers(numbers) => numbers.len(),
            Values::Lengths(vectors) => vectors.len(),
            Values::Ages { count, .. } => *count,
        }
    }
}

/// The smallest and the largest value; the range of lengths starts at zero.
fn range_of(values: Option<&Values<'_>>) -> [f64; 2] {
    let Some(values) = values.filter(|values| values.len() > 0) else {
        return [0.0, 0.0];
    };
    let all = (0..values.len()).into_par_iter().map(|k| values.at(k));
    let (low, high) = all.map(|value| (value, value)).reduce(
        || (f64::INFINITY, f64::NEG_INFINITY),
        |a, b| (a.0.min(b.0), a.1.max(b.1)),
    );
    match values {
        Values::Numbers(_) | Values::Ages { .. } => [low, high],
        Values::Lengths(_) => [0.0, high],
    }
}

impl Frame {
    /// An empty frame of a moment, to be written for these requests.
    pub fn new(step: u64, time: f64, wants: Vec<Want>) -> Self {
        Self {
            step,
            time,
            wants,
            ..Self::default()
        }
    }

    /// Adds a field that was requested as `name` with at most `most` points.
    pub fn push_volume(&mut self, name: &str, most: usize, volume: &Volume) {
        let finite = volume.values.iter().copied().filter(|value| value.is_finite());
        let (low, high) = finite.fold((0.0_f32, 0.0_f32), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let scale = if high > low { 255.0 / (high - low) } else { 0.0 };
        let blocks = volume.blocks.iter().flat_map(|(corner, side, level)| {
            let numbers = [corner[0], corner[1], corner[2], *side, f64::from(*level)];
            numbers
                .map(|number| (number as f32).to_le_bytes())
                .into_iter()
                .flatten()
        });
        self.voxels.push(Voxels {
            name: name.to_owned(),
            most,
            origin: volume.origin,
            spacing: volume.spacing,
            size: volume.size,
            range: [low, high],
            values: volume
                .values
                .iter()
                .map(|value| ((value - low) * scale + 0.5) as u8)
                .collect(),
            inside: volume.inside.iter().map(|share| (share * 255.0 + 0.5) as u8).collect(),
            blocks: blocks.collect(),
        });
    }

    /// Whether the frame has the contents of a request.
    pub fn serves(&self, want: &Want) -> bool {
        self.wants.iter().any(|known| known.is_alike(want))
    }

    /// The message for a viewer: the contents it wants, with at most `want.points` points of each cloud.
    pub fn message(&self, want: &Want) -> Vec<u8> {
        let first = self.parts.first().map_or("", |part| &part.name);
        let is_wanted =
            |part: &&Part| want.points > 0 && part.value == want.value && (want.elements || part.name == first);
        let parts: Vec<&Part> = self.parts.iter().filter(is_wanted).collect();
        let volumes: Vec<&Voxels> = self
            .voxels
            .iter()
            .filter(|voxels| voxels.is_for(want))
            .take(1)
            .collect();
        let count = |part: &Part| (part.records.len() / part.record).min(want.points);
        let header = Header {
            frame: self.number,
            step: self.step,
            time: self.time,
            parts: parts.iter().map(|part| part.header(count(part))).collect(),
            volumes: volumes.iter().map(|voxels| voxels.header()).collect(),
        };
        // Names and numbers always serialise.
        let mut header = serde_json::to_vec(&header).unwrap_or_default();
        header.resize(header.len().next_multiple_of(4), b' ');
        let mut message = MAGIC.to_vec();
        message.extend((header.len() as u32).to_le_bytes());
        message.extend(header);
        for part in parts {
            message.extend_from_slice(&part.records[..count(part) * part.record]);
        }
        for voxels in volumes {
            message.extend_from_slice(&voxels.blocks);
            message.extend_from_slice(&voxels.values);
            message.extend_from_slice(&voxels.inside);
        }
        message
    }
}

impl Part {
    fn header(&self, count: usize) -> PartHeader<'_> {
        PartHeader {
            name: &self.name,
            value: &self.value,
            count,
            total: self.records.len() / self.record,
            low: self.low,
            high: self.high,
            range: self.range,
            longest: self.longest,
            record: self.record,
        }
    }
}

impl Voxels {
    fn is_for(&self, want: &Want) -> bool {
        self.name == want.volume && self.most == want.voxels
    }

    fn header(&self) -> VolumeHeader<'_> {
        VolumeHeader {
            name: &self.name,
            origin: self.origin,
            spacing: self.spacing,
            size: self.size,
            range: self.range,
            inside: !self.inside.is_empty(),
            blocks: self.blocks.len() / 20,
        }
    }
}
