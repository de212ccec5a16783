//! The rates of change of vortex strengths.

use super::array::{Array, Place, same_length};
use crate::{Error, Precision};
use farfield_cuda::resident;
use rayon::prelude::*;

/// The rate of change of the strength $\gamma$ of an element where the velocity gradient is $G$:
/// $(cG+tG^T)\gamma+\lambda(|\gamma|\omega/|\omega|-\gamma)$, where $\omega$ is the curl of the velocity plus the
/// element's own vorticity $k\gamma/\sigma^3$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrengthLaw {
    /// $c$
    pub classical: f64,
    /// $t$
    pub transpose: f64,
    /// $\lambda$
    pub relaxation: f64,
    /// $k$
    pub own_vorticity: f64,
    /// $\sigma$, unless each element has its own.
    pub size: f64,
}

impl StrengthLaw {
    /// The rates of change of strengths, from the velocity gradients at the elements, row by row; `sizes` if each
    /// element has its own. All arrays and the result lie in the same memory.
    ///
    /// # Errors
    /// [`Error::Length`] if lengths do not match, [`Error::Unsupported`] if the arrays lie in different memories,
    /// [`Error::Driver`] if the device failed.
    pub fn rates<T: Precision>(
        &self,
        strengths: &Array<T>,
        gradients: &Array<T>,
        sizes: Option<&Array<T>>,
    ) -> Result<Array<T>, Error> {
        let count = strengths.len() / 3;
        same_length(9 * count, gradients.len())?;
        if let Some(sizes) = sizes {
            same_length(count, sizes.len())?;
        }
        let place = match &strengths.place {
            Place::Host(values) => {
                let sizes = sizes.map(Array::on_host).transpose()?;
                Place::Host(self.on_host(values, gradients.on_host()?, sizes))
            }
            Place::Gpu { memory, array, .. } => {
                let law = resident::StrengthLaw {
                    classical: T::from_f64(self.classical),
                    transpose: T::from_f64(self.transpose),
                    relaxation: T::from_f64(self.relaxation),
                    own_vorticity: T::from_f64(self.own_vorticity),
                    size: T::from_f64(self.size),
                };
                let sizes = sizes.map(|sizes| sizes.on(memory)).transpose()?;
                let rates = memory
                    .resident
                    .strength_rates(&law, array, gradients.on(memory)?, sizes)?;
                Place::gpu(memory, rates)
            }
        };
        Ok(Array { place })
    }

    fn on_host<T: Precision>(&self, strengths: &[T], gradients: &[T], sizes: Option<&[T]>) -> Vec<T> {
        let mut rates = vec![T::ZERO; strengths.len()];
        let one = |(i, rate): (usize, &mut [T])| {
            let s: [f64; 3] = std::array::from_fn(|k| strengths[3 * i + k].to_f64());
            let g: [f64; 9] = std::array::from_fn(|k| gradients[9 * i + k].to_f64());
            let size = sizes.map_or(self.size, |sizes| sizes[i].to_f64());
            let of_element = self.of_element(s, &g, size);
            rate.iter_mut()
                .zip(of_element)
                .for_each(|(rate, value)| *rate = T::from_f64(value));
        };
        rates
            .par_chunks_exact_mut(3)
            .enumerate()
            .with_min_len(1 << 12)
            .for_each(one);
        rates
    }

    fn of_element(&self, s: [f64; 3], g: &[f64; 9], size: f64) -> [f64; 3] {
        let classical = |i: usize| g[3 * i] * s[0] + g[3 * i + 1] * s[1] + g[3 * i + 2] * s[2];
        let transpose = |i: usize| g[i] * s[0] + g[3 + i] * s[1] + g[6 + i] * s[2];
        let mut rate: [f64; 3] = std::array::from_fn(|i| self.classical * classical(i) + self.transpose * transpose(i));
        if self.relaxation != 0.0 {
            let own = self.own_vorticity / (size * size * size);
            let curl = [g[7] - g[5], g[2] - g[6], g[3] - g[1]];
            let vorticity: [f64; 3] = std::array::from_fn(|k| curl[k] + own * s[k]);
            let (turned, length) = (norm(vorticity), norm(s));
            if turned > 0.0 {
                for k in 0..3 {
                    rate[k] += self.relaxation * (vorticity[k] * (length / turned) - s[k]);
                }
            }
        }
        rate
    }
}

fn norm(a: [f64; 3]) -> f64 {
    (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    const NOTHING: StrengthLaw = StrengthLaw {
        classical: 0.0,
        transpose: 0.0,
        relaxation: 0.0,
        own_vorticity: 0.0,
        size: 1.0,
    };

    fn rate(law: StrengthLaw, strength: [f64; 3], gradient: [f64; 9]) -> Vec<f64> {
        let store = |values: &[f64]| Memory::host().store(values.to_vec()).unwrap();
        let rates = law.rates(&store(&strength), &store(&gradient), None).unwrap();
        rates.values().unwrap().to_vec()
    }

    #[test]
    fn both_forms_of_stretching_multiply_by_the_gradient_or_its_transpose() {
        let gradient = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        let classical = StrengthLaw {
            classical: 1.0,
            ..NOTHING
        };
        assert_eq!(rate(classical, [1.0, 10.0, 100.0], gradient), [321.0, 654.0, 987.0]);
        let transpose = StrengthLaw {
            transpose: 1.0,
            ..NOTHING
        };
        assert_eq!(rate(transpose, [1.0, 10.0, 100.0], gradient), [741.0, 852.0, 963.0]);
    }

    #[test]
    fn relaxation_turns_strengths_and_keeps_their_size() {
        let law = StrengthLaw {
            relaxation: 1.0,
            ..NOTHING
        };
        // The curl of the velocity is 3 along y.
        let along_y = [0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(rate(law, [1.0, 0.0, 0.0], along_y), [-1.0, 1.0, 0.0]);
        assert_eq!(rate(law, [0.0, 2.0, 0.0], along_y), [0.0; 3]);
        assert_eq!(rate(law, [1.0, 2.0, 3.0], [0.0; 9]), [0.0; 3]);
        // Its own vorticity is 24 / 2^3 = 3 along x; the curl of the velocity is 3 along y.
        let own = StrengthLaw {
            own_vorticity: 24.0,
            size: 2.0,
            ..law
        };
        let [x, y, _] = rate(own, [1.0, 0.0, 0.0], along_y)[..] else {
            panic!()
        };
        assert!(
            (x - (0.5f64.sqrt() - 1.0)).abs() < 1e-15 && (y - 0.5f64.sqrt()).abs() < 1e-15,
            "{x} {y}"
        );
    }
}
