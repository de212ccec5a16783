//! The parameters of a flow, derived from a case and checked before the run.

use super::body::Body;
use super::clean::FADE;
use super::control::ControlBox;
use super::room::make_room;
use crate::case::{Case, Flow, FlowRing, GridSettings, PrecisionName, RemeshName};
use crate::vec3::{Vec3, norm, scale};
use farfield_grid::{Domain, MAX_LEVEL, RemeshKernel};

/// The approximate variance across the vortex sheet of an impulsive start, in squared spacings.
const SHEET_VARIANCE: f64 = 0.17;
/// The largest age of a sheet, in length over speed. Beyond it the boundary layer is not resolved.
const OLDEST_SHEET: f64 = 0.05;

/// The parameters of a flow.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The settings of the case.
    pub flow: Flow,
    /// The settings of the grid, with the box enlarged by `added_roots`.
    pub grid: GridSettings,
    /// The box.
    pub domain: Domain,
    /// The bodies.
    pub bodies: Vec<Body>,
    /// The initial rings.
    pub rings: Vec<FlowRing>,
    /// The kinematic viscosity.
    pub viscosity: f64,
    /// The speed in the Reynolds number and coefficients: of the stream, else of the fastest body, else of the first
    /// ring.
    pub speed: f64,
    /// The length in the Reynolds number and coefficients.
    pub length: f64,
    /// The area in coefficients.
    pub area: f64,
    /// The direction of the stream; x without a stream.
    pub along: Vec3,
    /// The remeshing kernel.
    pub kernel: RemeshKernel,
    /// The penalisation rate.
    pub lambda: f64,
    /// The relative error of velocities.
    pub tolerance: f64,
    /// The age of a boundary layer as thick as the initial vortex sheet on the bodies; 0 without bodies.
    pub sheet_age: f64,
    /// The control box for measuring the force, if one fits.
    pub(super) control: Option<ControlBox>,
    /// The number of root cubes added along each axis so that vorticity stays inside the box.
    pub added_roots: [u32; 3],
}

/// The invalid key, and the reason.
type Wrong = (String, String);

/// Checks the flow sections of a case.
///
/// # Errors
/// The invalid key, and the reason.
pub fn check(case: &Case) -> Result<(), Wrong> {
    Setup::new(case).map(|_| ())
}

impl Setup {
    /// The parameters from the sections `[flow]`, `[grid]`, `[[body]]` and `[[ring]]`.
    ///
    /// # Errors
    /// The invalid key, and the reason.
    pub fn new(case: &Case) -> Result<Self, Wrong> {
        let wrong = |key: &str, why: String| (key.to_owned(), why);
        let flow = case
            .flow
            .clone()
            .ok_or_else(|| wrong("flow", "the section is missing".to_owned()))?;
        let grid = case
            .grid
            .clone()
            .ok_or_else(|| wrong("grid", "a flow needs a section [grid]".to_owned()))?;
        check_numbers(&flow, &grid)?;
        let mut bodies = Vec::new();
        for (k, settings) in case.body.iter().enumerate() {
            bodies.push(Body::new(settings).map_err(|(key, why)| (format!("body.{k}.{key}"), why))?);
        }
        let box_of = |grid: &GridSettings| {
            Domain::new(grid.origin, grid.roots, grid.side).map_err(|error| wrong("grid", error.to_string()))
        };
        check_bodies(&bodies, &box_of(&grid)?, grid.level, case.time.end)?;
        if bodies.is_empty() && case.ring.is_empty() {
            return Err(wrong(
                "body",
                "there are no bodies and no rings: add [[body]] or [[ring]]".to_owned(),
            ));
        }
        let fastest = bodies.iter().map(Body::speed).fold(0.0, f64::max);
        let ring_speed = case
            .ring
            .first()
            .map_or(0.0, |ring| ring.circulation.abs() / ring.radius);
        let speed = [norm(flow.stream), fastest, ring_speed]
            .into_iter()
            .find(|speed| *speed > 0.0)
            .ok_or_else(|| {
                wrong(
                    "flow.stream",
                    "nothing moves: set flow.stream, or the velocity of a body".to_owned(),
                )
            })?;
        let along = match norm(flow.stream) {
            stream if stream > 0.0 => scale(flow.stream, 1.0 / stream),
            _ => [1.0, 0.0, 0.0],
        };
        let own_length = bodies
            .first()
            .map(Body::length)
            .or(case.ring.first().map(|ring| ring.radius));
        let length = flow.length.or(own_length).unwrap_or(1.0);
        let viscosity = match (flow.viscosity, flow.reynolds) {
            (Some(viscosity), None) => viscosity,
            (None, Some(reynolds)) => speed * length / reynolds,
            (None, None) => {
                return Err(wrong("flow.reynolds", "set flow.reynolds or flow.viscosity".to_owned()));
            }
            (Some(_), Some(_)) => {
                return Err(wrong(
                    "flow.viscosity",
                    "set either flow.reynolds or flow.viscosity, not both".to_owned(),
                ));
            }
        };
        let mut grid = grid;
        let added_roots = make_room(&mut grid, &bodies, flow.stream, [viscosity, case.time.end]);
        let domain = box_of(&grid)?;
        for (k, ring) in case.ring.iter().enumerate() {
            check_ring(&domain, ring, &format!("ring.{k}"))?;
        }
        let area = flow
            .area
            .unwrap_or_else(|| bodies.iter().map(|body| body.frontal_area(along)).sum());
        let sheet_age = if bodies.is_empty() {
            0.0
        } else {
            let layer = SHEET_VARIANCE * domain.spacing(grid.level).powi(2) / (2.0 * viscosity);
            layer.min(OLDEST_SHEET * length / speed)
        };
        Ok(Self {
            sheet_age,
            added_roots,
            control: ControlBox::around(&bodies, &domain, domain.spacing(grid.level), length),
            lambda: flow.penalisation * speed / length,
            kernel: match flow.remesh {
                RemeshName::M4 => RemeshKernel::M4Prime,
                RemeshName::M6 => RemeshKernel::M6Prime,
            },
            rings: case.ring.clone(),
            tolerance: case.sum.tolerance,
            flow,
            grid,
            domain,
            bodies,
            viscosity,
            speed,
            length,
            area,
            along,
        })
    }

    /// Whether fields are stored in single precision.
    pub fn is_single(&self) -> bool {
        self.flow.precision == PrecisionName::F32
    }

    /// The finest spacing.
    pub fn finest(&self) -> f64 {
        self.domain.spacing(self.grid.level)
    }

    /// The coefficient of a force.
    pub fn coefficient(&self, force: f64) -> f64 {
        if self.area > 0.0 {
            2.0 * force / (self.speed * self.speed * self.area)
        } else {
            0.0
        }
    }

    /// Warnings about the resolution.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.bodies.is_empty() && self.viscosity > 0.0 {
            // The boundary layer at the time in which the stream passes half the length of the body.
            let layer = (self.viscosity * 0.5 * self.length / self.speed).sqrt();
            let points = layer / self.finest();
            if points < 1.0 {
                warnings.push(format!(
                    "the boundary layer is only {points:.2} spacings thick after half a length: forces will be \
                     inaccurate; raise grid.level or lower the Reynolds number"
                ));
            }
        }
        warnings
    }
}

fn check_numbers(flow: &Flow, grid: &GridSettings) -> Result<(), Wrong> {
    let positive = |key: &str, value: f64| {
        if value.is_finite() && value > 0.0 {
            Ok(())
        } else {
            Err((key.to_owned(), format!("{value} is not a finite number above 0")))
        }
    };
    if let Some(reynolds) = flow.reynolds {
        positive("flow.reynolds", reynolds)?;
    }
    if let Some(viscosity) = flow.viscosity
        && !(viscosity.is_finite() && viscosity >= 0.0)
    {
        return Err((
            "flow.viscosity".to_owned(),
            format!("{viscosity} is not a finite number of at least 0"),
        ));
    }
    if flow.stream.iter().any(|c| !c.is_finite()) {
        return Err((
            "flow.stream".to_owned(),
            format!("{:?} has a component that is not finite", flow.stream),
        ));
    }
    if let Some(length) = flow.length {
        positive("flow.length", length)?;
    }
    if let Some(area) = flow.area {
        positive("flow.area", area)?;
    }
    positive("flow.penalisation", flow.penalisation)?;
    if !(0.25..=1.5).contains(&flow.relaxation) {
        return Err((
            "flow.relaxation".to_owned(),
            format!("{} is outside 0.25 to 1.5", flow.relaxation),
        ));
    }
    if flow.start_passes == 0 || flow.start_passes > 100 {
        return Err((
            "flow.start_passes".to_owned(),
            format!("{} is outside 1 to 100", flow.start_passes),
        ));
    }
    if !(0.0..1e-2).contains(&flow.source_cutoff) {
        return Err((
            "flow.source_cutoff".to_owned(),
            format!("{} is outside 0 to 0.01", flow.source_cutoff),
        ));
    }
    if grid.level > MAX_LEVEL.min(12) {
        return Err(("grid.level".to_owned(), format!("{} is above 12", grid.level)));
    }
    if !(grid.compress > 0.0 && grid.compress < grid.refine && grid.refine < 1.0) {
        return Err((
            "grid.refine".to_owned(),
            format!(
                "refine {} and compress {} must satisfy 0 < compress < refine < 1",
                grid.refine, grid.compress
            ),
        ));
    }
    if grid.adapt_every == 0 {
        return Err((
            "grid.adapt_every".to_owned(),
            "0 is too small: use at least 1".to_owned(),
        ));
    }
    Ok(())
}

/// Rejects bodies with too few points across, and bodies outside the box at the start or at the end.
fn check_bodies(bodies: &[Body], domain: &Domain, level: u8, end: f64) -> Result<(), Wrong> {
    let finest = domain.spacing(level);
    for (k, body) in bodies.iter().enumerate() {
        if body.length() < 8.0 * finest {
            return Err((
                "grid.level".to_owned(),
                format!(
                    "a body {:.4} wide has fewer than 8 points of the finest spacing {finest:.4}: raise the level",
                    body.length()
                ),
            ));
        }
        let rim = FADE * finest;
        check_inside(domain, body, [0.0, rim], &format!("body.{k}.centre"))?;
        // It moves in a straight line, so it is always inside if it is so at the start and at the end.
        check_inside(domain, body, [end, rim], &format!("body.{k}.velocity"))?;
    }
    Ok(())
}

/// Rejects a body outside the box, or in the rim in which vorticity fades: there forces would be wrong by a factor.
fn check_inside(domain: &Domain, body: &Body, [time, rim]: [f64; 2], key: &str) -> Result<(), Wrong> {
    let (centre, reach) = (body.centre(time), body.reach());
    for axis in 0..3 {
        let (low, high) = (domain.origin()[axis], domain.origin()[axis] + domain.size()[axis]);
        let (from, to) = (centre[axis] - reach, centre[axis] + reach);
        if !(from > low + rim && to < high - rim) {
            return Err((
                key.to_owned(),
                format!(
                    "at time {time} the body extends from {from:.4} to {to:.4} along {}; the box extends from {low:.4} \
                     to {high:.4}, and vorticity fades within {rim:.4} of its boundary",
                    ["x", "y", "z"][axis]
                ),
            ));
        }
    }
    Ok(())
}

fn check_ring(domain: &Domain, ring: &FlowRing, key: &str) -> Result<(), Wrong> {
    let sound = ring.radius > 0.0 && ring.core > 0.0 && ring.core < 0.6 * ring.radius && ring.radius.is_finite();
    if !sound {
        return Err((
            format!("{key}.core"),
            format!(
                "{} is invalid in a ring of radius {}: it must be positive and below 0.6 of the radius",
                ring.core, ring.radius
            ),
        ));
    }
    if norm(ring.axis).is_nan() || norm(ring.axis) <= 1e-100 {
        return Err((format!("{key}.axis"), "a direction cannot be zero".to_owned()));
    }
    for axis in 0..3 {
        let (low, high) = (domain.origin()[axis], domain.origin()[axis] + domain.size()[axis]);
        let extent =
            ring.radius * (1.0 - (ring.axis[axis] / norm(ring.axis)).powi(2)).max(0.0).sqrt() + 3.5 * ring.core;
        if !(ring.centre[axis] - extent > low && ring.centre[axis] + extent < high) {
            return Err((
                format!("{key}.centre"),
                format!("the ring does not fit into the box along {}", ["x", "y", "z"][axis]),
            ));
        }
    }
    Ok(())
}
