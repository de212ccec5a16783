//! Exchange of occupied grid cells between ranks whose points are in the same or neighbouring cells.
//!
//! Every rank knows the bounding box of every rank's cells. If two boxes overlap, the two ranks send each other their
//! cells in the overlap. A rank thus communicates only with nearby ranks.

use super::{Ranks, words};

/// A cell of a grid: its indices along the three axes.
pub type Cell = [i64; 3];

/// The cells of the other ranks within `margin` cells of the bounding box of `own`, in the order of ranks. `own` are
/// this rank's cells, each once. Called by all ranks together.
pub fn of_others(ranks: &dyn Ranks, own: &[Cell], margin: i64) -> Vec<(usize, Vec<Cell>)> {
    if ranks.size() == 1 {
        return Vec::new();
    }
    let box_of_own = Extent::of(own);
    let boxes = words::integers(&ranks.all_gather(&words::of_integers(&box_of_own.numbers())));
    let boxes = boxes.as_chunks::<6>().0.iter().map(Extent::from_numbers);
    let tell = |(rank, extent): (usize, Extent)| {
        if rank == ranks.rank() || !extent.grown(margin).meets(&box_of_own) {
            return None;
        }
        let near = extent.grown(margin);
        let told: Vec<Cell> = own.iter().copied().filter(|cell| near.holds(*cell)).collect();
        Some((rank, words::of_integers(told.as_flattened())))
    };
    let outgoing = boxes.enumerate().filter_map(tell).collect();
    let received = ranks.send(outgoing).into_iter();
    received
        .map(|(rank, bytes)| (rank, words::integers(&bytes).as_chunks().0.to_vec()))
        .collect()
}

/// The bounding box of cells.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Extent {
    low: Cell,
    high: Cell,
}

impl Extent {
    fn of(cells: &[Cell]) -> Self {
        let none = Self {
            low: [i64::MAX; 3],
            high: [i64::MIN; 3],
        };
        cells.iter().fold(none, |all, cell| Self {
            low: std::array::from_fn(|axis| all.low[axis].min(cell[axis])),
            high: std::array::from_fn(|axis| all.high[axis].max(cell[axis])),
        })
    }

    fn numbers(&self) -> Vec<i64> {
        [self.low, self.high].as_flattened().to_vec()
    }

    fn from_numbers(numbers: &[i64; 6]) -> Self {
        let [a, b, c, d, e, f] = *numbers;
        Self {
            low: [a, b, c],
            high: [d, e, f],
        }
    }

    fn grown(&self, margin: i64) -> Self {
        if self.low[0] > self.high[0] {
            return *self;
        }
        Self {
            low: self.low.map(|c| c.saturating_sub(margin)),
            high: self.high.map(|c| c.saturating_add(margin)),
        }
    }

    fn meets(&self, other: &Self) -> bool {
        (0..3).all(|axis| self.low[axis] <= other.high[axis] && other.low[axis] <= self.high[axis])
    }

    fn holds(&self, cell: Cell) -> bool {
        (0..3).all(|axis| (self.low[axis]..=self.high[axis]).contains(&cell[axis]))
    }
}
