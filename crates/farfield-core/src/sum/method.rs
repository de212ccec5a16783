//! The methods of summation.

use std::fmt;

/// The method of a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
#[allow(clippy::manual_non_exhaustive, reason = "the hidden variant is used")]
pub enum Method {
    /// The fastest, by the cost model.
    #[default]
    Auto,
    /// Every pair.
    Direct,
    /// Multipoles of distant boxes at each target.
    Treecode,
    /// The treecode with the FMM's neighbour lists instead of an opening angle (Yokota and Barba), for reproductions.
    /// Unstable.
    #[doc(hidden)]
    TreecodeOnNeighbours,
    /// The fast multipole method.
    Fmm,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 4] = [Method::Auto, Method::Direct, Method::Treecode, Method::Fmm];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Direct => "direct",
            Method::Treecode => "treecode",
            Method::TreecodeOnNeighbours => "treecode-on-neighbours",
            Method::Fmm => "fmm",
        }
    }

    /// Whether it needs a tree.
    pub(crate) fn has_tree(self) -> bool {
        matches!(self, Method::Treecode | Method::TreecodeOnNeighbours | Method::Fmm)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
