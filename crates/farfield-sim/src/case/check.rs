//! Checks that the values of a case are in range and fit together.

use super::gravity::{Disk, Gravity, Plummer};
use super::plane::{Plane, PlaneCoreName, PlaneDiffusion};
use super::settings::{Case, Output, Scheme, Time};
use super::vortex::{CoreName, Diffusion, Knot, Ring, Vortex};
use crate::particles::ParticleFile;
use crate::vec3::{Vec3, norm};

/// The invalid key, and the reason.
type Wrong = (String, String);

/// The largest number of elements, tracers or bodies; more are taken for a typing error.
const MOST: usize = 1 << 30;

impl Case {
    /// Checks the range of every value, and that the values fit together.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        self.time.check()?;
        self.output.check()?;
        not_negative("alarm.energy_jump", self.alarm.energy_jump)?;
        if self.flow.is_none() && (self.grid.is_some() || !self.body.is_empty() || !self.ring.is_empty()) {
            return wrong("flow", "[grid], [[body]] and [[ring]] need a section [flow]".to_owned());
        }
        if let Some(plane) = &self.plane {
            if self.vortex.is_some() || self.gravity.is_some() || self.flow.is_some() {
                return wrong(
                    "plane",
                    "a case has only one of [vortex], [plane], [gravity] and [flow]".to_owned(),
                );
            }
            plane.check()?;
            vortex_scheme(&self.time)?;
            if self.time.adaptive && plane.core == PlaneCoreName::Singular {
                return wrong(
                    "time.adaptive",
                    "adaptive steps need cores: set plane.core = \"gaussian\" or \"algebraic\"".to_owned(),
                );
            }
            if self
                .tracers
                .as_ref()
                .is_some_and(|t| t.count == 0 && t.particles.is_empty())
            {
                return wrong(
                    "tracers.count",
                    "0 tracers: set a count above 0, or add [[tracers.particles]]".to_owned(),
                );
            }
            return self.check_tracers_and_tolerance();
        }
        match (&self.vortex, &self.gravity) {
            (None, None) if self.flow.is_some() => {
                crate::flow::check(self)?;
                if self.tracers.is_some() {
                    return wrong(
                        "tracers",
                        "only cases with [vortex] or [plane] can have tracers".to_owned(),
                    );
                }
            }
            _ if self.flow.is_some() => {
                return wrong(
                    "flow",
                    "a case has only one of [vortex], [plane], [gravity] and [flow]".to_owned(),
                );
            }
            (Some(vortex), None) => {
                vortex.check()?;
                vortex_scheme(&self.time)?;
                let tubes = vortex.rings.len() + vortex.knots.len();
                if let Some(tracers) = &self.tracers
                    && tracers.count == 0
                    && tracers.particles.is_empty()
                {
                    return wrong(
                        "tracers.count",
                        "0 tracers: set a count above 0, or add [[tracers.particles]]".to_owned(),
                    );
                }
                if tubes == 0 && self.tracers.as_ref().is_some_and(|tracers| tracers.count > 0) {
                    return wrong(
                        "tracers.count",
                        "there are no rings or knots whose tubes tracers could fill: use [[tracers.particles]]"
                            .to_owned(),
                    );
                }
            }
            (None, Some(gravity)) => {
                gravity.check()?;
                if !matches!(self.time.scheme, Scheme::Leapfrog | Scheme::Yoshida4) {
                    return wrong(
                        "time.scheme",
                        format!(
                            "`{}` is not for gravity; use leapfrog or yoshida4",
                            self.time.scheme.name()
                        ),
                    );
                }
                if self.tracers.is_some() {
                    return wrong(
                        "tracers",
                        "only cases with [vortex] or [plane] can have tracers".to_owned(),
                    );
                }
                if self.time.adaptive && gravity.softening == 0.0 {
                    return wrong(
                        "time.adaptive",
                        "adaptive steps need a softening length; set gravity.softening".to_owned(),
                    );
                }
            }
            (Some(_), Some(_)) => {
                return wrong(
                    "gravity",
                    "a case has either [vortex] or [gravity], but this one has both".to_owned(),
                );
            }
            (None, None) => {
                return wrong(
                    "vortex",
                    "a case needs a section [vortex], [plane], [gravity] or [flow]".to_owned(),
                );
            }
        }
        self.check_tracers_and_tolerance()
    }

    fn check_tracers_and_tolerance(&self) -> Result<(), Wrong> {
        if let Some(tracers) = &self.tracers {
            if tracers.count > MOST {
                return wrong("tracers.count", format!("{} is more than {MOST}", tracers.count));
            }
            positive("tracers.thickness", tracers.thickness)?;
            if let Some(tolerance) = tracers.tolerance {
                tolerance_in_range("tracers.tolerance", tolerance)?;
            }
        }
        tolerance_in_range("sum.tolerance", self.sum.tolerance)
    }
}

/// Vortices need a Runge-Kutta scheme.
fn vortex_scheme(time: &Time) -> Result<(), Wrong> {
    if matches!(time.scheme, Scheme::Leapfrog | Scheme::Yoshida4) {
        return wrong(
            "time.scheme",
            format!("`{}` is only for gravity; use euler, rk2 or rk4", time.scheme.name()),
        );
    }
    Ok(())
}

impl Plane {
    fn check(&self) -> Result<(), Wrong> {
        not_negative("plane.viscosity", self.viscosity)?;
        if (self.viscosity > 0.0) != (self.diffusion != PlaneDiffusion::None) {
            return wrong(
                "plane.viscosity",
                "viscosity needs plane.diffusion (\"core-spreading\" or \"random-walk\"), and vice versa".to_owned(),
            );
        }
        if self.diffusion == PlaneDiffusion::CoreSpreading && self.core != PlaneCoreName::Gaussian {
            return wrong(
                "plane.diffusion",
                "core-spreading is exact for the gaussian core only; set plane.core = \"gaussian\"".to_owned(),
            );
        }
        let parts = [
            self.vortices.len(),
            self.sheets.len(),
            self.patches.len(),
            self.clouds.len(),
        ];
        if parts.iter().sum::<usize>() + self.particles.len() == 0 {
            return wrong(
                "plane.vortices",
                "there are no vortices: add [[plane.vortices]], [[plane.sheets]], [[plane.patches]], \
                 [[plane.clouds]] or [[plane.particles]]"
                    .to_owned(),
            );
        }
        for (k, vortex) in self.vortices.iter().enumerate() {
            let at = format!("plane.vortices.{k}");
            finite(&format!("{at}.circulation"), vortex.circulation)?;
            not_negative(&format!("{at}.core"), vortex.core)?;
            point(&format!("{at}.position"), vortex.position)?;
        }
        for (k, sheet) in self.sheets.iter().enumerate() {
            let at = format!("plane.sheets.{k}");
            count(&format!("{at}.count"), sheet.count)?;
            finite(&format!("{at}.circulation"), sheet.circulation)?;
            not_negative(&format!("{at}.core"), sheet.core)?;
            point(&format!("{at}.from"), sheet.from)?;
            point(&format!("{at}.to"), sheet.to)?;
            not_negative(&format!("{at}.ripple"), sheet.ripple)?;
            if sheet.from == sheet.to {
                return wrong(&format!("{at}.to"), "the two ends of a sheet must differ".to_owned());
            }
        }
        for (k, patch) in self.patches.iter().enumerate() {
            let at = format!("plane.patches.{k}");
            count(&format!("{at}.count"), patch.count)?;
            point(&format!("{at}.centre"), patch.centre)?;
            for axis in patch.axes {
                positive(&format!("{at}.axes"), axis)?;
            }
            finite(&format!("{at}.angle"), patch.angle)?;
            finite(&format!("{at}.vorticity"), patch.vorticity)?;
            not_negative(&format!("{at}.overlap"), patch.overlap)?;
        }
        for (k, cloud) in self.clouds.iter().enumerate() {
            let at = format!("plane.clouds.{k}");
            count(&format!("{at}.count"), cloud.count)?;
            point(&format!("{at}.centre"), cloud.centre)?;
            positive(&format!("{at}.radius"), cloud.radius)?;
            finite(&format!("{at}.circulation"), cloud.circulation)?;
            not_negative(&format!("{at}.core"), cloud.core)?;
        }
        files("plane", &self.particles)
    }
}

/// Checks the core sizes that the case gives for files.
fn files(section: &str, particles: &[ParticleFile]) -> Result<(), Wrong> {
    for (k, file) in particles.iter().enumerate() {
        if let Some(core) = file.core {
            positive(&format!("{section}.particles.{k}.core"), core)?;
        }
    }
    Ok(())
}

fn point(key: &str, value: [f64; 2]) -> Result<(), Wrong> {
    place(key, [value[0], value[1], 0.0])
}

impl Time {
    fn check(&self) -> Result<(), Wrong> {
        positive("time.end", self.end)?;
        positive("time.step", self.step)?;
        positive("time.limit", self.limit)?;
        if self.end / self.step > 1e9 {
            return wrong(
                "time.step",
                format!(
                    "{:.1e} steps of {:e} up to {:e} are too many",
                    self.end / self.step,
                    self.step,
                    self.end
                ),
            );
        }
        Ok(())
    }
}

impl Output {
    fn check(&self) -> Result<(), Wrong> {
        for reach in self.reach {
            if !(reach.is_finite() && reach >= 0.0) {
                return wrong("output.reach", format!("{reach} is not a finite number of at least 0"));
            }
        }
        for side in self.image {
            if !(64..=8192).contains(&side) {
                return wrong("output.image", format!("{side} pixels is outside 64 to 8192"));
            }
        }
        for (k, view) in self.view.iter().enumerate() {
            let at = format!("output.view.{k}");
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if view.name.is_empty() || !view.name.chars().all(plain) {
                return wrong(
                    &format!("{at}.name"),
                    format!("{:?} is not a valid name: use letters, digits, - and _", view.name),
                );
            }
            let taken = self
                .views
                .iter()
                .map(|view| view.name())
                .chain(self.view[..k].iter().map(|v| &v.name[..]));
            if taken.into_iter().any(|name| name == view.name) || view.name.starts_with("slice-") {
                return wrong(
                    &format!("{at}.name"),
                    format!("the name `{}` is already in use", view.name),
                );
            }
            place(&format!("{at}.eye"), view.eye)?;
            place(&format!("{at}.target"), view.target)?;
            direction(&format!("{at}.up"), view.up)?;
            positive(&format!("{at}.scale"), view.scale)?;
            finite(&format!("{at}.turn"), view.turn)?;
            for (j, point) in view.path.iter().enumerate() {
                let at = format!("{at}.path.{j}");
                finite(&format!("{at}.time"), point.time)?;
                place(&format!("{at}.eye"), point.eye)?;
                place(&format!("{at}.target"), point.target)?;
                if j > 0 && point.time <= view.path[j - 1].time {
                    return wrong(
                        &format!("{at}.time"),
                        format!("{} is not later than the previous time", point.time),
                    );
                }
            }
        }
        for (k, sample) in self.sample.iter().enumerate() {
            let at = format!("output.sample.{k}");
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if sample.name.is_empty() || !sample.name.chars().all(plain) {
                let why = format!("{:?} is not a valid name: use letters, digits, - and _", sample.name);
                return wrong(&format!("{at}.name"), why);
            }
            if let Err(why) = sample.region() {
                return wrong(&format!("{at}.high"), why);
            }
        }
        if self.trails > 1000 {
            return wrong("output.trails", format!("{} pictures is more than 1000", self.trails));
        }
        for (key, value) in [
            ("output.diagnostics_every", self.diagnostics_every),
            ("output.energy_every", self.energy_every),
        ] {
            if value == 0 {
                return wrong(key, "0 is too small: use at least 1".to_owned());
            }
        }
        Ok(())
    }
}

impl Vortex {
    fn check(&self) -> Result<(), Wrong> {
        not_negative("vortex.viscosity", self.viscosity)?;
        not_negative("vortex.relaxation", self.relaxation)?;
        positive("vortex.overlap", self.overlap)?;
        not_negative("vortex.remesh_cutoff", self.remesh_cutoff)?;
        if self.remesh_cutoff >= 1.0 {
            return wrong(
                "vortex.remesh_cutoff",
                format!(
                    "{} would drop every element; use a small fraction such as 1e-4",
                    self.remesh_cutoff
                ),
            );
        }
        if !(8..=1 << 20).contains(&self.around) {
            return wrong(
                "vortex.around",
                format!("{} elements around a ring are outside 8 to 1048576", self.around),
            );
        }
        if self.layers > 200 {
            return wrong("vortex.layers", format!("{} layers is more than 200", self.layers));
        }
        if self.viscosity > 0.0 && self.diffusion == Diffusion::None {
            return wrong(
                "vortex.viscosity",
                "viscosity needs vortex.diffusion = \"pse\" or \"core-spreading\"".to_owned(),
            );
        }
        if self.diffusion != Diffusion::None && self.viscosity == 0.0 {
            return wrong(
                "vortex.diffusion",
                "diffusion needs a vortex.viscosity above 0".to_owned(),
            );
        }
        if self.core != CoreName::Gaussian && self.diffusion == Diffusion::CoreSpreading {
            return wrong(
                "vortex.diffusion",
                "core-spreading is exact for the gaussian core only; set vortex.core = \"gaussian\"".to_owned(),
            );
        }
        if self.layers == 0 && self.diffusion == Diffusion::Pse {
            return wrong(
                "vortex.diffusion",
                "a single filament has no neighbours to exchange strength with: use layers, or core-spreading"
                    .to_owned(),
            );
        }
        if self.layers == 0 && self.remesh_every > 0 {
            return wrong(
                "vortex.remesh_every",
                "a single filament cannot be remeshed: use vortex.layers of 1 or more".to_owned(),
            );
        }
        if self.rings.is_empty() && self.knots.is_empty() && self.particles.is_empty() {
            return wrong(
                "vortex.rings",
                "there are no vortices: add [[vortex.rings]], [[vortex.knots]] or [[vortex.particles]]".to_owned(),
            );
        }
        files("vortex", &self.particles)?;
        for (k, ring) in self.rings.iter().enumerate() {
            ring.check(&format!("vortex.rings.{k}"))?;
        }
        for (k, knot) in self.knots.iter().enumerate() {
            knot.check(&format!("vortex.knots.{k}"))?;
        }
        Ok(())
    }
}

impl Ring {
    fn check(&self, at: &str) -> Result<(), Wrong> {
        positive(&format!("{at}.radius"), self.radius)?;
        positive(&format!("{at}.core"), self.core)?;
        if self.core >= 0.5 * self.radius {
            return wrong(
                &format!("{at}.core"),
                format!(
                    "{} is too large for the radius {}: it must be below half of it",
                    self.core, self.radius
                ),
            );
        }
        finite(&format!("{at}.circulation"), self.circulation)?;
        place(&format!("{at}.centre"), self.centre)?;
        direction(&format!("{at}.axis"), self.axis)?;
        not_negative(&format!("{at}.ripple"), self.ripple)?;
        if self.ripple > 0.5 {
            return wrong(
                &format!("{at}.ripple"),
                format!("{} is above 0.5, half of the radius", self.ripple),
            );
        }
        Ok(())
    }
}

impl Knot {
    fn check(&self, at: &str) -> Result<(), Wrong> {
        positive(&format!("{at}.radius"), self.radius)?;
        positive(&format!("{at}.tube"), self.tube)?;
        positive(&format!("{at}.core"), self.core)?;
        if self.tube >= self.radius {
            return wrong(
                &format!("{at}.tube"),
                format!("{} closes the hole of the torus of radius {}", self.tube, self.radius),
            );
        }
        if 2.0 * self.core >= self.tube {
            return wrong(
                &format!("{at}.core"),
                format!(
                    "{} makes the strands overlap: it must be below half of the tube radius {}",
                    self.core, self.tube
                ),
            );
        }
        finite(&format!("{at}.circulation"), self.circulation)?;
        place(&format!("{at}.centre"), self.centre)?;
        if self.turns_around == 0 || self.turns_around > 50 || self.turns_through > 50 {
            return wrong(&format!("{at}.turns_around"), "turns must be from 1 to 50".to_owned());
        }
        if greatest_common_divisor(self.turns_around, self.turns_through) != 1 {
            return wrong(
                &format!("{at}.turns_through"),
                format!(
                    "{} and {} turns have a common divisor: such a knot is not one closed line",
                    self.turns_around, self.turns_through
                ),
            );
        }
        Ok(())
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

impl Gravity {
    fn check(&self) -> Result<(), Wrong> {
        finite("gravity.constant", self.constant)?;
        not_negative("gravity.softening", self.softening)?;
        for (k, body) in self.bodies.iter().enumerate() {
            let at = format!("gravity.bodies.{k}");
            not_negative(&format!("{at}.mass"), body.mass)?;
            place(&format!("{at}.position"), body.position)?;
            place(&format!("{at}.velocity"), body.velocity)?;
        }
        for (k, cluster) in self.plummer.iter().enumerate() {
            cluster.check(&format!("gravity.plummer.{k}"))?;
        }
        for (k, disk) in self.disks.iter().enumerate() {
            disk.check(&format!("gravity.disks.{k}"))?;
        }
        let parts = [
            self.bodies.len(),
            self.plummer.len(),
            self.disks.len(),
            self.particles.len(),
        ];
        if parts.iter().sum::<usize>() == 0 {
            return wrong(
                "gravity.bodies",
                "there are no bodies: add [[gravity.bodies]], [[gravity.plummer]], [[gravity.disks]] or \
                 [[gravity.particles]]"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

impl Plummer {
    fn check(&self, at: &str) -> Result<(), Wrong> {
        count(&format!("{at}.count"), self.count)?;
        positive(&format!("{at}.mass"), self.mass)?;
        positive(&format!("{at}.radius"), self.radius)?;
        place(&format!("{at}.centre"), self.centre)?;
        place(&format!("{at}.velocity"), self.velocity)
    }
}

impl Disk {
    fn check(&self, at: &str) -> Result<(), Wrong> {
        count(&format!("{at}.count"), self.count)?;
        not_negative(&format!("{at}.mass"), self.mass)?;
        positive(&format!("{at}.central_mass"), self.central_mass)?;
        positive(&format!("{at}.radius"), self.radius)?;
        not_negative(&format!("{at}.height"), self.height)?;
        place(&format!("{at}.centre"), self.centre)?;
        place(&format!("{at}.velocity"), self.velocity)?;
        direction(&format!("{at}.axis"), self.axis)
    }
}

fn wrong(key: &str, why: String) -> Result<(), Wrong> {
    Err((key.to_owned(), why))
}

fn finite(key: &str, value: f64) -> Result<(), Wrong> {
    if value.is_finite() {
        Ok(())
    } else {
        wrong(key, format!("{value} is not a finite number"))
    }
}

fn positive(key: &str, value: f64) -> Result<(), Wrong> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        wrong(key, format!("{value} is not a finite number above 0"))
    }
}

fn not_negative(key: &str, value: f64) -> Result<(), Wrong> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        wrong(key, format!("{value} is not a finite number of at least 0"))
    }
}

fn count(key: &str, value: usize) -> Result<(), Wrong> {
    if (1..=MOST).contains(&value) {
        Ok(())
    } else {
        wrong(key, format!("{value} is outside 1 to {MOST}"))
    }
}

fn tolerance_in_range(key: &str, value: f64) -> Result<(), Wrong> {
    if (1e-12..=1e-2).contains(&value) {
        Ok(())
    } else {
        wrong(key, format!("{value} is outside 1e-12 to 1e-2"))
    }
}

fn place(key: &str, value: Vec3) -> Result<(), Wrong> {
    if value.iter().all(|x| x.is_finite()) {
        Ok(())
    } else {
        wrong(key, format!("{value:?} has a component that is not finite"))
    }
}

fn direction(key: &str, value: Vec3) -> Result<(), Wrong> {
    place(key, value)?;
    if norm(value) > 1e-100 {
        Ok(())
    } else {
        wrong(key, "a direction cannot be zero".to_owned())
    }
}
