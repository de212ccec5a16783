//! Real solid harmonics as the far field: tables and memory, made once per plan.

use super::layout::Layout;
use super::m2l::Ways;
use super::operators::strengths_scratch;
use crate::expansion::coefficient_count;
use crate::expansion::harmonics::Recurrence;
use crate::expansion::translation::{self, Translations};
use crate::kernel::{FarOutputs, FarSources, Side};
use crate::p2p::Pairs;
use crate::pages::{give_back, zeroed};
use crate::parallel::ScratchPool;
use crate::simd::{Real, SimdLevel, lanes_len};
use crate::tree::lists::{SHIFTS, shift_of};
use crate::tuning::truncation::class_of;

/// The orders of harmonic expansions.
#[derive(Debug, Clone)]
pub(crate) struct HarmonicOrders {
    /// The highest degree kept in expansions.
    pub highest: usize,
    /// For each level and shift, the highest degree of M2L.
    pub m2l: Vec<[u8; SHIFTS]>,
}

/// Expansions in real solid harmonics, and the tables of their operators.
#[derive(Debug)]
pub(crate) struct Harmonics<T: Real> {
    pub(super) simd: SimdLevel,
    pairs: Pairs,
    /// Strength vectors evaluated at once.
    pub(super) vectors: usize,
    pub orders: HarmonicOrders,
    /// Nanoseconds of a translation by rotations; see [`crate::cost::OperatorCosts::m2l`].
    m2l_cost: [f64; 3],
    pub(super) tables: Tables<T>,
    /// The translation of each block of M2L work.
    pub(super) m2l_ways: Ways<T>,
    pub(super) ends: Ends<T>,
    pub multipoles: Vec<T>,
    pub(super) locals: Vec<T>,
    pub(super) scratch: ScratchPool<T>,
    /// Whether memory is returned to the system as soon as it is not needed.
    pub is_sparing: bool,
}

/// The tables of translations of one order.
#[derive(Debug)]
pub(crate) struct Tables<T: Real> {
    pub recurrence: Recurrence<T>,
    pub m2m: Translations<T>,
    pub m2l: Translations<T>,
    pub l2l: Translations<T>,
    /// For each shift, its index among the directions of `m2l`.
    pub m2l_direction: Vec<u16>,
}

impl<T: Real> Tables<T> {
    pub fn new(order: usize) -> Self {
        let shifts = m2l_shifts();
        let mut m2l_direction = vec![u16::MAX; SHIFTS];
        for (direction, shift) in shifts.iter().enumerate() {
            m2l_direction[*shift] = direction as u16;
        }
        let vectors: Vec<[i32; 3]> = shifts.iter().map(|shift| shift_of(*shift)).collect();
        Self {
            recurrence: Recurrence::new(order + 2),
            m2m: Translations::m2m(order),
            m2l: Translations::m2l(order, &vectors),
            l2l: Translations::l2l(order),
            m2l_direction,
        }
    }
}

impl<T: Real> Harmonics<T> {
    /// Expansions of all boxes of `layout` for `vectors` strength vectors of the kernel of `pairs`; `m2l_cost` as in
    /// [`crate::cost::OperatorCosts::m2l`].
    pub fn new(
        simd: SimdLevel,
        pairs: Pairs,
        vectors: usize,
        layout: &Layout<T>,
        orders: HarmonicOrders,
        m2l_cost: [f64; 3],
    ) -> Self {
        let streams = vectors * pairs.kernel.form().expansions();
        let (tables, ends) = (Tables::new(orders.highest), Ends::new(&pairs, orders.highest, streams));
        let m2l_ways = Ways::new(simd, &layout.lists.m2l, &orders.m2l, m2l_cost, streams, &tables);
        let numbers = layout.tree.nodes.len() * streams * coefficient_count(orders.highest);
        Self {
            simd,
            pairs,
            vectors,
            orders,
            m2l_cost,
            tables,
            multipoles: zeroed(T::ZERO, numbers),
            locals: zeroed(T::ZERO, numbers),
            scratch: ScratchPool::new(ends.scratch.max(m2l_ways.scratch())),
            ends,
            m2l_ways,
            is_sparing: false,
        }
    }

    /// Uses these orders from now on.
    pub fn set_orders(&mut self, layout: &Layout<T>, orders: HarmonicOrders) {
        let changed = orders.highest != self.orders.highest;
        self.orders = orders;
        if changed {
            // The old memory is freed before the new memory is allocated.
            (self.multipoles, self.locals) = (Vec::new(), Vec::new());
            self.tables = Tables::new(self.orders.highest);
            self.ends = Ends::new(&self.pairs, self.orders.highest, self.streams());
            self.scratch = ScratchPool::new(self.ends.scratch);
        }
        self.m2l_ways = Ways::new(
            self.simd,
            &layout.lists.m2l,
            &self.orders.m2l,
            self.m2l_cost,
            self.streams(),
            &self.tables,
        );
        self.scratch.enlarge(self.m2l_ways.scratch());
        if changed {
            let numbers = layout.tree.nodes.len() * self.box_stride();
            self.multipoles = zeroed(T::ZERO, numbers);
            self.locals = zeroed(T::ZERO, numbers);
        }
    }

    /// Additional bytes that expansions of a higher order take.
    pub fn bytes_at(&self, layout: &Layout<T>, order: usize) -> u64 {
        let coefficients = coefficient_count(order).saturating_sub(coefficient_count(self.orders.highest));
        (2 * layout.tree.nodes.len() * self.streams() * coefficients * size_of::<T>()) as u64
    }

    /// Returns the memory that an evaluation fills to the system, until the next evaluation.
    pub fn give_back(&mut self) {
        for values in [&mut self.multipoles, &mut self.locals] {
            give_back(values);
        }
    }

    /// Expansions per strength vector and box.
    pub(super) fn components(&self) -> usize {
        self.pairs.kernel.form().expansions()
    }

    /// Expansions per box.
    pub fn streams(&self) -> usize {
        self.vectors * self.components()
    }

    /// Values per box in `multipoles` and `locals`.
    pub fn box_stride(&self) -> usize {
        self.streams() * coefficient_count(self.orders.highest)
    }

    /// Sums per target of one strength vector.
    pub(super) fn sums(&self) -> usize {
        self.pairs.sums()
    }
}

/// The operators between points and expansions of one order, and the memory a thread needs for them.
#[derive(Debug)]
pub(super) struct Ends<T> {
    pub multipole_sources: FarSources<T>,
    pub local_sources: FarSources<T>,
    pub local_outputs: FarOutputs<T>,
    pub multipole_outputs: FarOutputs<T>,
    scratch: usize,
}

impl<T: Real> Ends<T> {
    fn new(pairs: &Pairs, order: usize, streams: usize) -> Self {
        let form = pairs.kernel.form();
        let [multipole_sources, local_sources] =
            [Side::Multipole, Side::Local].map(|side| FarSources::new(form, order, side));
        let [local_outputs, multipole_outputs] =
            [Side::Local, Side::Multipole].map(|side| FarOutputs::new(form, pairs.derivatives, order, side));
        let scratch = lanes_len(translation::workspace_len(order))
            .max(strengths_scratch(&multipole_sources, order, streams))
            .max(strengths_scratch(&local_sources, order, streams))
            + local_outputs.derived_len().max(multipole_outputs.derived_len());
        Self {
            multipole_sources,
            local_sources,
            local_outputs,
            multipole_outputs,
            scratch,
        }
    }
}

/// The shifts between boxes that do not touch.
fn m2l_shifts() -> Vec<usize> {
    (0..SHIFTS).filter(|k| class_of(shift_of(*k)).is_some()).collect()
}
