//! What pictures and field files show of a flow.

use super::VortexModel;
use crate::error::Error;
use crate::model::{Cloud, Show, Snapshot};
use crate::vec3::Vec3;

impl VortexModel {
    /// Brings what is to be shown, where it is in a device's memory.
    pub(super) fn bring(&mut self, show: Show) -> Result<(), Error> {
        let Some(there) = &mut self.there else {
            return Ok(());
        };
        let everything = show == Show::Everything;
        if everything || self.tracer_groups.is_empty() {
            there.bring_elements(&mut self.flow)?;
        }
        there.bring_tracers(&mut self.flow)?;
        if everything {
            there.bring_rates(&mut self.evaluated)?;
            there.bring_tracer_velocities(&mut self.evaluated)?;
        }
        Ok(())
    }

    /// What is drawn: the tracers, or the elements where there are none.
    pub(super) fn drawn(&self) -> Snapshot {
        let (name, points, groups) = if self.flow.tracers.is_empty() {
            ("elements", &self.flow.positions, self.groups.clone())
        } else {
            ("tracers", &self.flow.tracers, self.colour_groups())
        };
        Snapshot {
            clouds: vec![Cloud {
                name,
                points: points.clone(),
                scalars: Vec::new(),
                vectors: Vec::new(),
                groups,
            }],
            ..Snapshot::default()
        }
    }

    /// Everything that is known about elements and tracers.
    pub(super) fn clouds(&self) -> Snapshot {
        let rates = &self.evaluated.rates;
        let or_zero = |values: &[Vec3], n: usize| {
            if values.len() == n {
                values.to_vec()
            } else {
                vec![[0.0; 3]; n]
            }
        };
        let elements = Cloud {
            name: "elements",
            points: self.flow.positions.clone(),
            scalars: vec![
                ("core_size", self.sizes.clone()),
                ("volume", self.volumes.clone()),
                ("part", self.groups.iter().map(|g| f64::from(*g)).collect()),
            ],
            vectors: vec![
                ("strength", self.flow.strengths.clone()),
                ("velocity", or_zero(&rates.positions, self.flow.positions.len())),
            ],
            groups: self.groups.clone(),
        };
        if self.flow.tracers.is_empty() {
            return Snapshot {
                clouds: vec![elements],
                ..Snapshot::default()
            };
        }
        let tracers = Cloud {
            name: "tracers",
            points: self.flow.tracers.clone(),
            scalars: vec![
                ("part", self.tracer_groups.iter().map(|g| f64::from(*g)).collect()),
                ("along", self.tracer_places.clone()),
            ],
            vectors: vec![("velocity", or_zero(&rates.tracers, self.flow.tracers.len()))],
            groups: self.colour_groups(),
        };
        Snapshot {
            clouds: vec![tracers, elements],
            ..Snapshot::default()
        }
    }

    /// What is drawn in one colour: a ring or knot; or, of one knot alone, each of its equal arcs, so that its strands
    /// can be told apart.
    fn colour_groups(&self) -> Vec<u32> {
        match (&self.settings.rings[..], &self.settings.knots[..]) {
            ([], [knot]) => {
                let arc = |along: &f64| (along * f64::from(knot.turns_through)) as u32;
                self.tracer_places.iter().map(arc).collect()
            }
            _ => self.tracer_groups.clone(),
        }
    }
}
