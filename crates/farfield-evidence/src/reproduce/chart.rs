//! Lines of charts through rows of measurements.

use farfield_plot::{LineChart, Series};

pub trait Lines {
    /// Adds a line through the points of the rows that have one. Without any point there is no line.
    fn line<R>(self, name: impl Into<String>, rows: &[R], point: impl Fn(&R) -> Option<(f64, f64)>) -> Self;
}

impl Lines for LineChart {
    fn line<R>(self, name: impl Into<String>, rows: &[R], point: impl Fn(&R) -> Option<(f64, f64)>) -> Self {
        let points: Vec<_> = rows.iter().filter_map(point).collect();
        if points.is_empty() {
            return self;
        }
        self.series(Series::new(name).points(&points))
    }
}
