//! Pictures of the tracers, elements or bodies from several views, and their animation.

use super::slices;
use super::trails::Trails;
use super::views::Viewpoint;
use crate::case::{Case, FilmName};
use crate::error::Error;
use crate::model::{Cloud as Points, Snapshot};
use crate::vec3::{self, Vec3};
use farfield_plot::scene::{Bounds, Cloud, ColourMap, Exposure, Scene};
use farfield_plot::{Animation, Color, Film, FilmKind, Image, Volume};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Colours of the parts: rings, knots, galaxies.
const PARTS: [Color; 6] = [
    Color::hex(0xFF_8A3C),
    Color::hex(0x3F_B8FF),
    Color::hex(0xB9_F06A),
    Color::hex(0xE9_6BFF),
    Color::hex(0xFF_D84A),
    Color::hex(0x4C_FFC8),
];
/// The frame rate of the animation.
const FRAMES_PER_SECOND: f64 = 20.0;
/// Up to this many points are drawn as large dots.
const FEW: usize = 60;

/// Draws the pictures of a run: `frames/oblique/frame-000100.png` and so on.
pub struct Pictures {
    title: String,
    views: Vec<Viewpoint>,
    image: [u32; 2],
    animated: bool,
    film: Option<FilmName>,
    folder: PathBuf,
    /// Whether points travel along z, as vortices do; pictures then have z to the right.
    travelling: bool,
    /// The smallest half extent of pictures.
    reach: Vec3,
    /// The bounding box of the initial state.
    home: Bounds,
    exposures: Vec<Exposure>,
    trails: Trails,
}

impl Pictures {
    /// Pictures in the folder of a run. The exposure is measured on the initial state and then fixed.
    ///
    /// # Errors
    /// [`Error::Plot`] if the initial state cannot be drawn.
    pub fn new(case: &Case, folder: &Path, initial: &Snapshot) -> Result<Self, Error> {
        let points: &[Vec3] = initial.clouds.first().map_or(&[], |cloud| &cloud.points);
        let output = &case.output;
        let named = output.views.iter().map(|view| Viewpoint::Named(*view));
        let mut pictures = Self {
            title: case.title.clone(),
            views: named.chain(output.view.iter().cloned().map(Viewpoint::Own)).collect(),
            image: output.image,
            animated: output.animation,
            film: output.film,
            folder: folder.join("frames"),
            travelling: case.vortex.is_some(),
            reach: output.reach,
            home: Bounds::of_most(points, 0.995),
            exposures: Vec::new(),
            trails: Trails::new(output.trails),
        };
        if let Some(cloud) = initial.clouds.first() {
            let parts = parts_of(cloud);
            let frame = pictures.frame(&cloud.points);
            let few = cloud.points.len() <= FEW;
            let measure = |view: &Viewpoint| {
                let camera = view.camera(frame, 0.0, pictures.travelling);
                let exposure = pictures.scene(&parts, &[], "").measure(&camera)?;
                // A few bodies should be clearly visible one by one; of many, the structures that they form.
                Ok(if few { exposure.brighter(1.0) } else { exposure })
            };
            let measured: Result<Vec<Exposure>, Error> = pictures.views.par_iter().map(measure).collect();
            pictures.exposures = measured?;
        }
        Ok(pictures)
    }

    /// Draws the pictures of one step.
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
                why: format!("cannot create this folder: {error}"),
            })?;
            let image = image.render(self.image[0], self.image[1]);
            image.write_png(folder.join(format!("frame-{step:06}.png")))?;
        }
        let Some(cloud) = snapshot.clouds.first() else {
            return Ok(());
        };
        let parts = parts_of(cloud);
        let frame = self.frame(&cloud.points);
        let trails = self.trails.behind(&parts, cloud.points.len() <= FEW);
        let draw = |(view, exposure): (&Viewpoint, &Exposure)| -> Result<(), Error> {
            let caption = self.caption(view, time, &frame);
            let scene = self.scene(&parts, &trails, &caption).exposure(*exposure);
            let image = scene.render(&view.camera(frame, time, self.travelling))?;
            let folder = self.folder.join(view.name());
            std::fs::create_dir_all(&folder).map_err(|error| Error::Folder {
                folder: folder.clone(),
                why: format!("cannot create this folder: {error}"),
            })?;
            Ok(image.write_png(folder.join(format!("frame-{step:06}.png")))?)
        };
        self.views.par_iter().zip(&self.exposures).try_for_each(draw)?;
        self.trails.keep(parts);
        Ok(())
    }

    /// The time, and the centre of the picture if it moves with the points, which would otherwise seem to stay in
    /// place.
    fn caption(&self, view: &Viewpoint, time: f64, frame: &Bounds) -> String {
        let (start, now) = (self.home.center(), frame.center());
        let moved = vec3::norm(vec3::sub(now, start)) > 0.02 * vec3::norm(vec3::sub(frame.max, frame.min));
        if !(view.follows() && moved) {
            return format!("t = {time:.2}");
        }
        let far = (0..3).max_by(|&i, &j| (now[i] - start[i]).abs().total_cmp(&(now[j] - start[j]).abs()));
        let axis = far.unwrap_or(2);
        format!("centre at {} = {:.2}, t = {time:.2}", ["x", "y", "z"][axis], now[axis])
    }

    /// Makes the animation and the film of all pictures of the first view, including those of earlier sessions.
    pub fn animate(&mut self) -> Result<(), Error> {
        let film = self.film.filter(|_| Film::is_possible());
        let Some(view) = self.views.first().filter(|_| self.animated || film.is_some()) else {
            return Ok(());
        };
        let of_slices = self.folder.join(slices::FIRST);
        let folder = if of_slices.is_dir() {
            of_slices
        } else {
            self.folder.join(view.name())
        };
        let files = frames_in(&folder)?;
        if files.len() < 2 {
            return Ok(());
        }
        let run = self.folder.parent().unwrap_or(&self.folder);
        if self.animated {
            let mut animation = Animation::create(run.join("animation.gif"), FRAMES_PER_SECOND)?;
            for file in &files {
                animation.push(&Image::read_png(file)?)?;
            }
            animation.finish()?;
        }
        if let Some(kind) = film {
            let path = run.join(format!("film.{}", kind.extension()));
            let kind = match kind {
                FilmName::Mp4 => FilmKind::Mp4,
                FilmName::Webm => FilmKind::Webm,
            };
            let mut film = Film::new(path, kind, FRAMES_PER_SECOND);
            for file in &files {
                film.push(&Image::read_png(file)?)?;
            }
            film.finish()?;
        }
        Ok(())
    }

    fn scene<'a>(&self, parts: &'a [Vec<Vec3>], trails: &'a [Vec<Vec3>], caption: &str) -> Scene<'a> {
        let few = parts.iter().map(Vec::len).sum::<usize>() <= FEW;
        let mut scene = Scene::new(self.image[0], self.image[1])
            .title(self.title.clone())
            .caption(caption)
            .axes(true)
            .scale_bar(true);
        let colours = |k: usize| match (parts.len(), few) {
            (1, false) => ColourMap::Inferno,
            _ => ColourMap::Shades(PARTS[k % PARTS.len()]),
        };
        for (k, points) in trails.iter().enumerate() {
            let (size, weight) = if few { (2.0, 0.006) } else { (1.5, 0.12) };
            scene = scene.cloud(Cloud::new(points).colours(colours(k)).point_size(size).weight(weight));
        }
        for (k, points) in parts.iter().enumerate() {
            let size = if few { 14.0 } else { 2.0 };
            scene = scene.cloud(Cloud::new(points).colours(colours(k)).point_size(size));
        }
        scene
    }

    /// The box that a picture shows: centred on the points, large enough for the initial state and most points.
    fn frame(&self, points: &[Vec3]) -> Bounds {
        // Stragglers may leave the picture. For stars only few may, because their tidal tails should be visible.
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
}

/// The pictures in a folder, in the order of their steps.
fn frames_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = std::fs::read_dir(folder).map_err(|error| Error::Folder {
        folder: folder.to_owned(),
        why: format!("cannot list the pictures: {error}"),
    })?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "png"))
        .collect();
    files.sort();
    Ok(files)
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
