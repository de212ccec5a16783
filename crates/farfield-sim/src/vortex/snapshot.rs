//! The points of a flow for pictures and field files.

use super::VortexModel;
use super::motion::Flow;
use crate::error::Error;
use crate::model::{Cloud, Shown, Snapshot};
use crate::ranks::count_all;
use crate::vec3::Vec3;
use farfield::memory::Array;
use std::borrow::Cow;

impl VortexModel {
    /// Whether any rank has tracers. Called by all ranks together.
    pub(super) fn has_tracers(&self) -> bool {
        count_all(&*self.summation.ranks, self.flow.tracers.len()) > 0
    }

    /// The points that are drawn: the tracers, or the elements if there are no tracers.
    pub(super) fn drawn(&self) -> Result<Snapshot, Error> {
        let (name, points, groups) = if !self.has_tracers() {
            ("elements", &self.flow.positions, self.groups.clone())
        } else {
            ("tracers", &self.flow.tracers, self.colour_groups())
        };
        Ok(Snapshot {
            clouds: vec![Cloud {
                name,
                points: points.vectors()?.to_vec(),
                scalars: Vec::new(),
                vectors: Vec::new(),
                groups,
            }],
            ..Snapshot::default()
        })
    }

    /// All attributes of elements and tracers.
    pub(super) fn clouds(&self) -> Result<Snapshot, Error> {
        let positions: &[Vec3] = self.flow.positions.vectors()?;
        let elements = Cloud {
            name: "elements",
            points: positions.to_vec(),
            scalars: vec![
                ("core_size", self.cores.sizes.clone()),
                ("volume", self.cores.volumes.clone()),
                ("part", self.groups.iter().map(|g| f64::from(*g)).collect()),
            ],
            vectors: vec![
                ("strength", self.flow.strengths.vectors()?.to_vec()),
                ("velocity", self.velocities(|rates| &rates.positions, positions.len())?),
            ],
            groups: self.groups.clone(),
        };
        if !self.has_tracers() {
            return Ok(Snapshot {
                clouds: vec![elements],
                ..Snapshot::default()
            });
        }
        let points = self.tracers()?;
        let tracers = Cloud {
            name: "tracers",
            points: points.to_vec(),
            scalars: vec![
                ("part", self.tracer_groups.iter().map(|g| f64::from(*g)).collect()),
                ("along", self.tracer_places.clone()),
            ],
            vectors: vec![("velocity", self.velocities(|rates| &rates.tracers, points.len())?)],
            groups: self.colour_groups(),
        };
        Ok(Snapshot {
            clouds: vec![tracers, elements],
            ..Snapshot::default()
        })
    }

    /// Tracers and elements with their known attributes, borrowed in place.
    pub(super) fn points(&self) -> Vec<Shown<'_>> {
        let rates = self.evaluated.as_ref().map(|evaluated| &evaluated.rates);
        let velocities = |of: fn(&Flow) -> &Array<f64>| rates.map(|rates| ("velocity", of(rates)));
        let elements = Shown {
            name: "elements",
            points: &self.flow.positions,
            groups: Cow::Borrowed(&self.groups),
            vectors: [
                Some(("strength", &self.flow.strengths)),
                velocities(|rates| &rates.positions),
            ]
            .into_iter()
            .flatten()
            .collect(),
            numbers: Vec::new(),
        };
        let tracers = Shown {
            name: "tracers",
            points: &self.flow.tracers,
            groups: Cow::Owned(self.colour_groups()),
            vectors: velocities(|rates| &rates.tracers).into_iter().collect(),
            numbers: Vec::new(),
        };
        let all = [tracers, elements].into_iter();
        all.filter(|shown| !shown.points.is_empty()).collect()
    }

    /// Velocities of `n` points; zero if they are not known.
    fn velocities(&self, of: impl Fn(&Flow) -> &Array<f64>, n: usize) -> Result<Vec<Vec3>, Error> {
        match &self.evaluated {
            Some(evaluated) => Ok(of(&evaluated.rates).vectors()?.to_vec()),
            None => Ok(vec![[0.0; 3]; n]),
        }
    }

    /// The tracers drawn in one colour: those of a ring or knot. A single knot has one colour for each of its equal
    /// arcs, so that its strands can be told apart.
    fn colour_groups(&self) -> Vec<u32> {
        match (&self.settings.rings[..], &self.settings.knots[..]) {
            ([], [knot]) if self.tracer_groups.iter().all(|group| *group == 0) => {
                let arc = |along: &f64| (along * f64::from(knot.turns_through)) as u32;
                self.tracer_places.iter().map(arc).collect()
            }
            _ => self.tracer_groups.clone(),
        }
    }
}
