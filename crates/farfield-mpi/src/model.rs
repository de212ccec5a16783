//! A model of the scaling of sums over ranks: work, bytes and messages of a rank, for uniform points in a cube.
//!
//! A rank has $n=N/P$ points in a cube, whose side is the unit of length; all ranks together fill a cube of side
//! $P^{1/3}$. The smallest boxes with more points than equivalent sources, $K$, are those of the deepest level $l$
//! with $N/8^l>K$. A box of side $s$ is far if its centre is $\sqrt3 s/(2\theta)$ from the rank's cube. So sources
//! arrive unchanged from a layer of that thickness, and equivalent sources from layers that double in thickness for
//! each level above, up to the cube of all ranks. The model describes a rank in the middle; ranks at the sides
//! receive less.

use crate::equivalent::Sphere;
use crate::tuning::Far;

/// The speed of a rank and of the network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Seconds that a single rank takes for a million points.
    pub seconds_per_million: f64,
    /// The additional cost of an own point if there are several ranks (cutting, distributing, coarse tree, equivalent
    /// sources, moving results), relative to a point of a single rank.
    pub sharing_cost: f64,
    /// The cost of a received source, relative to a point of a single rank.
    pub received_cost: f64,
    /// Latency of a message in seconds.
    pub latency: f64,
    /// Bandwidth of a rank in bytes per second.
    pub bandwidth: f64,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            // Fitted to first sums of a million points per rank on 1, 2, 4 and 8 cores of a Xeon: 2.1, 4.0, 4.5 and
            // 5.1 s (AVX-512, tolerance 1e-6, double precision).
            seconds_per_million: 2.1,
            sharing_cost: 0.6,
            received_cost: 0.84,
            latency: 2e-6,
            bandwidth: 1e10,
        }
    }
}

/// The forecast for one rank, for planning and one evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// The number of ranks.
    pub ranks: f64,
    /// Its own points.
    pub own: f64,
    /// Sources received unchanged.
    pub received: f64,
    /// Equivalent sources received.
    pub equivalent: f64,
    /// Bytes received.
    pub bytes: f64,
    /// Messages received.
    pub messages: f64,
    /// Seconds of the engines and of all other computation.
    pub engine: f64,
    /// Seconds of communication.
    pub network: f64,
}

impl Forecast {
    /// The forecast for a sum over `n` points in a cube on `ranks` ranks.
    pub fn new(n: f64, ranks: f64, tolerance: f64, machine: &Machine) -> Self {
        let far = Far::new::<3>(tolerance, 0, false);
        let count = Sphere::<3>::count_of(far.order) as f64;
        let own = n / ranks;
        // The distance from which a box is far, in units of its side: half diagonal over theta.
        let apart = 0.5 * 3f64.sqrt() / far.theta;
        let across = ranks.cbrt();
        let level = (n / count).ln().max(0.0) / 8f64.ln();
        let side = across / 2f64.powf(level.ceil() - 1.0).max(1.0);
        // The volume of other ranks within a distance of the rank's cube.
        let within = |distance: f64| (1.0 + distance * (across - 1.0).min(2.0)).min(across).powi(3) - 1.0;
        let received = own * within(apart * side);
        let mut equivalent = 0.0;
        let mut boxes_side = side;
        let mut segments = 0.0;
        while within(apart * boxes_side) < (ranks - 1.0) * (1.0 - 1e-9) {
            let boxes = (within(2.0 * apart * boxes_side) - within(apart * boxes_side)) / boxes_side.powi(3);
            equivalent += count * boxes;
            if boxes_side > 1.0 {
                segments += boxes;
            }
            boxes_side *= 2.0;
        }
        // Messages from near ranks, from far segments, and up and down the tree of segments.
        let near = within(apart).min(ranks - 1.0);
        let halvings = ranks.log2().ceil();
        let messages = near + segments + 2.0 * halvings;
        // Strengths forward, results back, and strengths of received sources; positions of points and of boxes once.
        let bytes = 8.0 * (2.0 * own + received + equivalent) + 24.0 * (own + received) + 32.0 * equivalent / count;
        let rate = machine.seconds_per_million * 1e-6;
        let sharing = if ranks > 1.0 { 1.0 + machine.sharing_cost } else { 1.0 };
        let all_know = 112.0 * ranks / machine.bandwidth + 60.0 * halvings * machine.latency;
        Self {
            ranks,
            own,
            received,
            equivalent,
            bytes,
            messages,
            engine: rate * (sharing * own + machine.received_cost * (received + equivalent)),
            network: bytes / machine.bandwidth + 4.0 * messages * machine.latency + all_know,
        }
    }

    /// Seconds from raw points to results.
    pub fn seconds(&self) -> f64 {
        self.engine + self.network
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_rank_grow_like_its_surface_and_messages_logarithmically() {
        let machine = Machine::default();
        let of = |n: f64, ranks: f64| Forecast::new(n, ranks, 1e-6, &machine);
        // Eight times the points on the same number of ranks: eight times the own points, four times the layers.
        let (few, many) = (of(1e9, 512.0), of(8e9, 512.0));
        let growth = (many.received + many.equivalent) / (few.received + few.equivalent);
        assert!((3.0..5.0).contains(&growth), "{growth}");
        // Eight times the ranks, with the same number of points each.
        let steps: Vec<f64> = [64.0, 512.0, 4096.0, 32768.0]
            .iter()
            .map(|p| of(1e6 * p, *p).messages)
            .collect();
        assert!(steps[3] - steps[2] < 1.5 * (steps[2] - steps[1]) + 10.0, "{steps:?}");
    }

    #[test]
    fn layers_are_as_thick_as_measured() {
        // The measured means on eight ranks with 200,000 points each: 177,500 unchanged sources, 913 far boxes.
        let forecast = Forecast::new(1.6e6, 8.0, 1e-6, &Machine::default());
        assert!(
            (forecast.received / 177_500.0 - 1.0).abs() < 0.2,
            "{}",
            forecast.received
        );
        let boxes = forecast.equivalent / Sphere::<3>::count_of(Far::new::<3>(1e-6, 0, false).order) as f64;
        assert!((boxes / 913.0 - 1.0).abs() < 0.2, "{boxes}");
    }

    #[test]
    fn first_sums_take_as_long_as_measured() {
        // A million points per rank, one thread each. The received sources are measured, so that only the costs are
        // tested.
        let Machine {
            seconds_per_million,
            sharing_cost,
            received_cost,
            ..
        } = Machine::default();
        for (received, measured) in [(372_000.0, 4.03), (711_000.0, 4.49), (954_000.0, 5.06)] {
            let seconds = seconds_per_million * (1.0 + sharing_cost + received_cost * 1e-6 * received);
            assert!((seconds / measured - 1.0_f64).abs() < 0.05, "{seconds} {measured}");
        }
    }

    #[test]
    fn one_rank_receives_nothing() {
        let alone = Forecast::new(1e6, 1.0, 1e-6, &Machine::default());
        assert_eq!((alone.received, alone.equivalent, alone.messages), (0.0, 0.0, 0.0));
    }
}
