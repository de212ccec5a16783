//! Pictures of the tracers, elements or bodies, from several sides, and their animation.

use super::slices;
use crate::case::{Case, View};
use crate::error::Error;
use crate::model::{Cloud as Points, Snapshot};
use crate::vec3::Vec3;
use farfield_plot::scene::{Bounds, Camera, Cloud, ColourMap, Exposure, Scene};
use farfield_plot::{Animation, Color, Image, Volume};
use rayon::prelude::*;
use std::path::PathBuf;

/// Colours of the parts: rings, knots, galaxies.
const PARTS: [Color; 6] = [
    Color::hex(0xFF_8A3C),
    Color::hex(0x3F_B8FF),
    Color::hex(0xB9_F06A),
    Color::hex(0xE9_6BFF),
    Color::hex(0xFF_D84A),
    Color::hex(0x4C_FFC8),
];
/// Of the animation.
const FRAMES_PER_SECOND: f64 = 20.0;
/// Up to this many points are drawn as large dots, without a trail.
const FEW: usize = 60;

/// Draws the pictures of a run: `frames/oblique/frame-000100.png` and so on.
pub struct Pictures {
    title: String,
    views: Vec<View>,
    image: [u32; 2],
    animated: bool,
    folder: PathBuf,
    /// Vortices travel along z, so pictures have z to the right; disks lie in the xy plane.
    travelling: bool,
    /// How far from the middle pictures show at least.
    reach: Vec3,
    /// The box around the initial state.
    home: Bounds,
    exposures: Vec<Exposure>,
}

impl Pictures {
    /// Into the folder of a run. How bright points are shown is measured on the initial state, and kept.
    ///
    /// # Errors
    /// [`Error::Plot`] if the initial state cannot be drawn.
    pub fn new(case: &Case, folder: &std::path::Path, initial: &Snapshot) -> Result<Self, Error> {
        let points: &[Vec3] = initial.clouds.first().map_or(&[], |cloud| &cloud.points);
        let mut pictures = Self {
            title: case.title.clone(),
            views: case.output.views.clone(),
            image: case.output.image,
            animated: case.output.animation,
            folder: folder.join("frames"),
            travelling: case.vortex.is_some(),
            reach: case.output.reach,
            home: Bounds::of_most(points, 0.995),
            exposures: Vec::new(),
        };
        if let Some(cloud) = initial.clouds.first() {
            let parts = parts_of(cloud);
            let frame = pictures.frame(&cloud.points);
            let measure = |view: &View| pictures.scene(&parts, "").measure(&pictures.camera(*view, frame));
            pictures.exposures = pictures.views.par_iter().map(measure).collect::<Result<_, _>>()?;
        }
        Ok(pictures)
    }

    /// Draws one moment.
    pub fn draw(&mut self, step: u64, time: f64, snapshot: &Snapshot) -> Result<(), Error> {
        slices::draw(&self.folder, step, time, &snapshot.slices, self.image)?;
        if let Some(glow) = &snapshot.glow
            && !self.views.is_empty()
        {
            let image = Volume {
                size: glow.size,
                values: &glow.magnitude,
                distance: &glow.distance,
                bright: glow.bright,
                view: [-70.0, 18.0],
            };
            let folder = self.folder.join("volume");
            std::fs::create_dir_all(&folder).map_err(|error| Error::Folder {
                folder: folder.clone(),
                why: format!("cannot make this folder: {error}"),
            })?;
            let image = image.render(self.image[0], self.image[1]);
            image.write_png(folder.join(format!("frame-{step:06}.png")))?;
        }
        let Some(cloud) = snapshot.clouds.first() else {
            return Ok(());
        };
        let parts = parts_of(cloud);
        let frame = self.frame(&cloud.points);
        let draw = |(view, exposure): (&View, &Exposure)| -> Result<(), Error> {
            let scene = self.scene(&parts, &format!("t = {time:.2}")).exposure(*exposure);
            let image = scene.render(&self.camera(*view, frame))?;
            let folder = self.folder.join(view.name());
            std::fs::create_dir_all(&folder).map_err(|error| Error::Folder {
                folder: folder.clone(),
                why: format!("cannot make this folder: {error}"),
            })?;
            Ok(image.write_png(folder.join(format!("frame-{step:06}.png")))?)
        };
        self.views.par_iter().zip(&self.exposures).try_for_each(draw)
    }

    /// Puts all pictures of the first view one after the other, those of earlier sessions included.
    pub fn animate(&mut self) -> Result<(), Error> {
        let Some(view) = self.views.first().filter(|_| self.animated) else {
            return Ok(());
        };
        let of_slices = self.folder.join(slices::FIRST);
        let folder = if of_slices.is_dir() {
            of_slices
        } else {
            self.folder.join(view.name())
        };
        let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
            .map_err(|error| Error::Folder {
                folder: folder.clone(),
                why: format!("cannot look for pictures: {error}"),
            })?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "png"))
            .collect();
        files.sort();
        if files.len() < 2 {
            return Ok(());
        }
        let run = self.folder.parent().unwrap_or(&self.folder);
        let mut animation = Animation::create(run.join("animation.gif"), FRAMES_PER_SECOND)?;
        for file in files {
            animation.push(&Image::read_png(&file)?)?;
        }
        Ok(animation.finish()?)
    }

    fn scene<'a>(&self, parts: &'a [Vec<Vec3>], caption: &str) -> Scene<'a> {
        let few = parts.iter().map(Vec::len).sum::<usize>() <= FEW;
        let mut scene = Scene::new(self.image[0], self.image[1])
            .title(self.title.clone())
            .caption(caption)
            .axes(true);
        for (k, points) in parts.iter().enumerate() {
            let colours = if parts.len() == 1 {
                ColourMap::Inferno
            } else {
                ColourMap::Shades(PARTS[k % PARTS.len()])
            };
            let size = if few { 14.0 } else { 2.0 };
            scene = scene.cloud(Cloud::new(points).colours(colours).point_size(size));
        }
        scene
    }

    /// The box to be seen: about the middle of the points, as large as the initial state and most points need.
    fn frame(&self, points: &[Vec3]) -> Bounds {
        // Stragglers may leave the picture. Of stars that are few, but the tails they form are what is looked for.
        let now = Bounds::of_most(points, if self.travelling { 0.94 } else { 0.985 });
        let centre = if points.len() > FEW {
            now.center()
        } else {
            self.home.center()
        };
        let half: Vec3 = std::array::from_fn(|axis| {
            let home = 0.5 * (self.home.max[axis] - self.home.min[axis]);
            let reach = (now.max[axis] - centre[axis]).max(centre[axis] - now.min[axis]);
            home.max(reach).max(self.reach[axis]).max(1e-9)
        });
        Bounds {
            min: std::array::from_fn(|axis| centre[axis] - half[axis]),
            max: std::array::from_fn(|axis| centre[axis] + half[axis]),
        }
    }

    fn camera(&self, view: View, bounds: Bounds) -> Camera {
        let z_to_the_right = [1.0, 0.0, 0.0];
        match (view, self.travelling) {
            (View::Oblique, true) => Camera::framing(bounds, 65.0, 28.0).up(z_to_the_right),
            (View::Oblique, false) => Camera::framing(bounds, -60.0, 35.0),
            (View::Side, true) => Camera::framing(bounds, 90.0, 0.0).up(z_to_the_right),
            (View::Side, false) => Camera::framing(bounds, -90.0, 2.0),
            (View::Axis, _) => Camera::framing(bounds, -90.0, 89.9),
        }
    }
}

/// The points of each part.
fn parts_of(cloud: &Points) -> Vec<Vec<Vec3>> {
    let count = cloud.groups.iter().max().map_or(1, |most| *most as usize + 1);
    let mut parts = vec![Vec::new(); count];
    for (point, group) in cloud.points.iter().zip(&cloud.groups) {
        parts[*group as usize].push(*point);
    }
    parts
}
