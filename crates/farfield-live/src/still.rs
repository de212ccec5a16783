//! The points of one moment, borrowed from a run or owned.

use crate::frame::{Encoder, Frame, Values, Want};
use farfield::memory::ShrunkPoints;
use farfield_sim::Error;
use farfield_sim::model::{Shown, Volume};
use farfield_sim::vec3::Vec3;
use std::borrow::Cow;
use std::time::Instant;

/// A view of a cloud of points, of a run or owned.
pub struct CloudView<'a> {
    /// `tracers`, `elements`, `bodies` or `points`.
    pub name: &'a str,
    /// The ring, knot or galaxy that each point belongs to.
    pub groups: Cow<'a, [u32]>,
    /// The first point of each batch and the batch's time of birth; empty if unknown.
    births: &'a [(usize, f64)],
    now: f64,
    data: Data<'a>,
}

/// The name of the value that is the age of points.
const AGE: &str = "age";

enum Data<'a> {
    Run(Shown<'a>),
    Kept(&'a StillCloud),
}

/// An owned cloud of points.
#[derive(Debug, Clone, Default)]
pub struct StillCloud {
    /// `tracers`, `elements`, `bodies` or `points`.
    pub name: String,
    /// The positions.
    pub points: Vec<Vec3>,
    /// The ring, knot or galaxy that each point belongs to.
    pub groups: Vec<u32>,
    /// Vector attributes by name.
    pub vectors: Vec<(String, Vec<Vec3>)>,
    /// Scalar attributes by name.
    pub numbers: Vec<(String, Vec<f64>)>,
}

/// One owned moment: the end of a run, or the contents of a file.
#[derive(Debug, Clone, Default)]
pub struct Still {
    /// Steps done.
    pub step: u64,
    /// The time.
    pub time: f64,
    /// Clouds of points; the first is drawn.
    pub clouds: Vec<StillCloud>,
    /// Scalar fields on grids, by name.
    pub volumes: Vec<(String, Volume)>,
}

/// The name of the vectors whose length is the value `value`.
fn vector_of(value: &str) -> &str {
    match value {
        "speed" => "velocity",
        other => other,
    }
}

impl<'a> CloudView<'a> {
    /// A view of points of a run, without a copy.
    pub fn of_run(mut shown: Shown<'a>) -> Self {
        Self {
            name: shown.name,
            groups: std::mem::take(&mut shown.groups),
            births: &[],
            now: 0.0,
            data: Data::Run(shown),
        }
    }

    /// The view with ages: `births` has the first point of each batch and the batch's time of birth.
    pub fn born(self, births: &'a [(usize, f64)], now: f64) -> Self {
        Self { births, now, ..self }
    }

    /// A view of owned points.
    pub fn of_still(cloud: &'a StillCloud) -> Self {
        Self {
            name: &cloud.name,
            groups: Cow::Borrowed(&cloud.groups),
            births: &[],
            now: 0.0,
            data: Data::Kept(cloud),
        }
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        match &self.data {
            Data::Run(shown) => shown.points.len() / 3,
            Data::Kept(cloud) => cloud.points.len(),
        }
    }

    /// The positions.
    ///
    /// # Errors
    /// If fetching them from a device fails.
    pub fn points(&self) -> Result<&[Vec3], Error> {
        match &self.data {
            Data::Run(shown) => Ok(shown.points.vectors()?),
            Data::Kept(cloud) => Ok(&cloud.points),
        }
    }

    /// The positions in 16 bits, quantised on the GPU that holds them; `None` for points on the host.
    ///
    /// # Errors
    /// If quantising or fetching them fails.
    pub fn shrunk_points(&self) -> Result<Option<ShrunkPoints>, Error> {
        match &self.data {
            Data::Run(shown) => Ok(shown.points.shrunk_points()?),
            Data::Kept(_) => Ok(None),
        }
    }

    /// For a value that is the length of vectors on a GPU: the longest length, and all lengths quantised to 8 bits.
    /// `None` for points on the host and for other values.
    ///
    /// # Errors
    /// If quantising or fetching them fails.
    pub fn shrunk_lengths(&self, name: &str) -> Result<Option<(f64, Vec<u8>)>, Error> {
        let Data::Run(shown) = &self.data else { return Ok(None) };
        let found = shown.vectors.iter().find(|(found, _)| *found == vector_of(name));
        match found {
            Some((_, array)) => Ok(array.shrunk_lengths()?),
            None => Ok(None),
        }
    }

    fn vectors(&self, name: &str) -> Result<Option<&[Vec3]>, Error> {
        Ok(match &self.data {
            Data::Run(shown) => match shown.vectors.iter().find(|(found, _)| *found == name) {
                Some((_, array)) => Some(array.vectors()?),
                None => None,
            },
            Data::Kept(cloud) => cloud
                .vectors
                .iter()
                .find(|(found, _)| found == name)
                .map(|(_, v)| &v[..]),
        })
    }

    /// The scalar attribute `name`, or the lengths of the vector attribute `name`; `speed` is the length of `velocity`.
    ///
    /// # Errors
    /// If fetching them from a device fails.
    pub fn values(&self, name: &str) -> Result<Option<Values<'_>>, Error> {
        if let Some(vectors) = self.vectors(vector_of(name))? {
            return Ok(Some(Values::Lengths(vectors)));
        }
        if name == AGE && !self.births.is_empty() {
            return Ok(Some(Values::Ages {
                births: self.births,
                now: self.now,
                count: self.len(),
            }));
        }
        let numbers = match &self.data {
            Data::Run(shown) => match shown.numbers.iter().find(|(found, _)| *found == name) {
                Some((_, array)) => Some(array.values()?),
                None => None,
            },
            Data::Kept(cloud) => cloud
                .numbers
                .iter()
                .find(|(found, _)| found == name)
                .map(|(_, v)| &v[..]),
        };
        Ok(numbers.map(Values::Numbers))
    }

    /// The directions of elements: their strengths.
    ///
    /// # Errors
    /// If fetching them from a device fails.
    pub fn directions(&self) -> Result<Option<&[Vec3]>, Error> {
        self.vectors("strength")
    }

    /// The names of the values that can colour the points.
    pub fn value_names(&self) -> Vec<String> {
        let name_of = |vector: &str| {
            if vector == "velocity" {
                "speed".to_owned()
            } else {
                vector.to_owned()
            }
        };
        let age = (!self.births.is_empty()).then(|| AGE.to_owned());
        match &self.data {
            Data::Run(shown) => {
                let vectors = shown.vectors.iter().map(|(name, _)| name_of(name)).chain(age);
                vectors
                    .chain(shown.numbers.iter().map(|(name, _)| (*name).to_owned()))
                    .collect()
            }
            Data::Kept(cloud) => {
                let vectors = cloud.vectors.iter().map(|(name, _)| name_of(name));
                vectors
                    .chain(cloud.numbers.iter().map(|(name, _)| name.clone()))
                    .collect()
            }
        }
    }

    /// An owned copy.
    ///
    /// # Errors
    /// If fetching the points from a device fails.
    pub fn kept(&self) -> Result<StillCloud, Error> {
        let ages = self.values(AGE)?.map(|ages| {
            let numbers = (0..self.len()).map(|k| ages.at(k)).collect();
            (AGE.to_owned(), numbers)
        });
        Ok(match &self.data {
            Data::Kept(cloud) => (*cloud).clone(),
            Data::Run(shown) => StillCloud {
                name: shown.name.to_owned(),
                points: shown.points.vectors()?.to_vec(),
                groups: self.groups.to_vec(),
                vectors: shown
                    .vectors
                    .iter()
                    .map(|(name, array)| Ok(((*name).to_owned(), array.vectors()?.to_vec())))
                    .collect::<Result<_, Error>>()?,
                numbers: shown
                    .numbers
                    .iter()
                    .map(|(name, array)| Ok(((*name).to_owned(), array.values()?.to_vec())))
                    .chain(ages.map(Ok))
                    .collect::<Result<_, Error>>()?,
            },
        })
    }
}

impl Still {
    /// Writes the frame for one viewer.
    ///
    /// # Errors
    /// Never: all data is on the host.
    pub fn frame(&self, encoder: &mut Encoder, want: &Want) -> Result<Frame, Error> {
        let begin = Instant::now();
        let mut frame = Frame::new(self.step, self.time, vec![want.clone()]);
        let clouds: Vec<CloudView<'_>> = self.clouds.iter().map(CloudView::of_still).collect();
        encoder.parts(&mut frame, &clouds, std::slice::from_ref(want))?;
        if let Some((_, volume)) = self.volumes.iter().find(|(name, _)| *name == want.volume) {
            frame.push_volume(&want.volume, want.voxels, volume);
        }
        frame.seconds = begin.elapsed().as_secs_f64();
        Ok(frame)
    }

    /// The names of the values that can colour points of any cloud.
    pub fn value_names(&self) -> Vec<String> {
        names_of(&self.clouds.iter().map(CloudView::of_still).collect::<Vec<_>>())
    }
}

/// The names of the values that can colour points of any of these clouds, each name once.
pub fn names_of(clouds: &[CloudView<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in clouds.iter().flat_map(CloudView::value_names) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
