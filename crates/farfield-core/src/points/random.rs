//! The random number generator behind the point sets.

/// A small, fast, reproducible random number generator.
///
/// The generator is xoshiro256++ by Blackman and Vigna; its 256 bits of state are filled from the seed with
/// splitmix64. It is meant for benchmarks and tests, not for cryptography.
///
/// [`next_u64`](Self::next_u64) and [`uniform`](Self::uniform) return the same bits on every platform.
/// [`normal`](Self::normal) does so if the platforms' natural logarithms agree.
///
/// ```
/// use farfield_core::points::Random;
///
/// let mut random = Random::new(1);
/// let first = random.uniform();
/// assert!((0.0..1.0).contains(&first));
/// assert_eq!(first, Random::new(1).uniform());
/// ```
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
    /// The second number of the latest pair of normal numbers.
    spare: Option<f64>,
}

impl Random {
    /// A generator with seed `seed`.
    pub fn new(seed: u64) -> Self {
        let mut word = seed;
        Self {
            state: std::array::from_fn(|_| splitmix64(&mut word)),
            spare: None,
        }
    }

    /// Stream `stream` of seed `seed`. Streams do not overlap: stream `k` starts `k` times 2^128 steps after stream 0,
    /// which is `Random::new(seed)`.
    ///
    /// The cost is proportional to `stream`, about a microsecond each.
    pub fn stream(seed: u64, stream: u32) -> Self {
        let mut random = Self::new(seed);
        for _ in 0..stream {
            random.jump();
        }
        random
    }

    /// Stratified random indices below `length`: one from each of `most` stretches, or all indices if there are at
    /// most `most`.
    pub(crate) fn one_of_each_stretch(mut self, length: usize, most: usize) -> impl Iterator<Item = usize> {
        let count = length.min(most);
        (0..count).map(move |k| {
            let (low, high) = (k * length / count, (k + 1) * length / count);
            low + (self.next_u64() % (high - low) as u64) as usize
        })
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number uniform in [0, 1): a multiple of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * STEP
    }

    /// A number of the standard normal distribution, by Marsaglia's polar method.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let (x, y, square) = self.in_disc();
        let scale = (-2.0 * square.ln() / square).sqrt();
        self.spare = Some(y * scale);
        x * scale
    }

    /// A point `(x, y)` uniform in the unit disc, and `x * x + y * y`, which is neither 0 nor 1.
    #[inline]
    pub(super) fn in_disc(&mut self) -> (f64, f64, f64) {
        loop {
            let x = 2.0 * self.uniform() - 1.0;
            let y = 2.0 * self.uniform() - 1.0;
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return (x, y, square);
            }
        }
    }

    /// A point uniform on the unit sphere, by Marsaglia's method of 1972: square roots only.
    #[inline]
    pub(super) fn on_sphere(&mut self) -> [f64; 3] {
        let (x, y, square) = self.in_disc();
        let scale = 2.0 * (1.0 - square).sqrt();
        [x * scale, y * scale, 1.0 - 2.0 * square]
    }

    /// Advances by 2^128 steps.
    fn jump(&mut self) {
        // The coefficients of x^(2^128) modulo the generator's characteristic polynomial.
        const POLYNOMIAL: [u64; 4] = [
            0x180e_c6d3_3cfd_0aba,
            0xd5a6_1266_f0c9_392c,
            0xa958_2618_e03f_c9aa,
            0x39ab_dc45_29b1_661c,
        ];
        let mut ahead = [0_u64; 4];
        for word in POLYNOMIAL {
            for bit in 0..64 {
                if word >> bit & 1 == 1 {
                    for (sum, part) in ahead.iter_mut().zip(self.state) {
                        *sum ^= part;
                    }
                }
                self.next_u64();
            }
        }
        self.state = ahead;
        self.spare = None;
    }
}

/// One step of splitmix64.
fn splitmix64(word: &mut u64) -> u64 {
    *word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*word ^ (*word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    // From an implementation in another language, which jumps by powers of the bit matrix of a step.
    const GOLDEN: [u64; 3] = [0xcfc5_d07f_6f03_c29b, 0xbf42_4132_963f_e08d, 0x19a3_7d57_57aa_f520];
    const GOLDEN_STREAM_1: [u64; 3] = [0xdafd_92f1_adff_c5b9, 0x89d5_ed68_28f5_becf, 0xc81a_7b85_673e_9dac];
    const GOLDEN_UNIFORM: [f64; 2] = [0.8116121588818848, 0.7471047161582187];
    const GOLDEN_NORMAL: [f64; 4] = [
        0.7497765692000015,
        0.5945638545653684,
        -0.42669737721760126,
        0.26274935681340256,
    ];

    #[test]
    fn splitmix_gives_the_published_numbers() {
        let mut word = 1_234_567;
        let numbers: [u64; 5] = std::array::from_fn(|_| splitmix64(&mut word));
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ]
        );
    }

    #[test]
    fn xoshiro_gives_the_published_numbers() {
        let mut random = Random {
            state: [1, 2, 3, 4],
            spare: None,
        };
        let numbers: [u64; 5] = std::array::from_fn(|_| random.next_u64());
        assert_eq!(
            numbers,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386,
                9_228_616_714_210_784_205
            ]
        );
    }

    #[test]
    fn numbers_of_a_seed_match_the_reference() {
        let mut random = Random::new(1);
        assert_eq!([random.next_u64(), random.next_u64(), random.next_u64()], GOLDEN);
        let mut random = Random::stream(1, 1);
        assert_eq!(
            [random.next_u64(), random.next_u64(), random.next_u64()],
            GOLDEN_STREAM_1
        );
        let mut random = Random::new(1);
        assert_eq!([random.uniform(), random.uniform()], GOLDEN_UNIFORM);
        let mut random = Random::new(1);
        for expected in GOLDEN_NORMAL {
            let got = random.normal();
            assert!(
                (got - expected).abs() <= 4.0 * f64::EPSILON * expected.abs(),
                "{got} instead of {expected}"
            );
        }
    }

    #[test]
    fn seeds_and_streams_differ() {
        assert_ne!(Random::new(1).next_u64(), Random::new(2).next_u64());
        assert_ne!(Random::stream(1, 1).next_u64(), Random::stream(1, 2).next_u64());
        assert_eq!(Random::stream(7, 0).next_u64(), Random::new(7).next_u64());
    }

    #[test]
    fn uniform_numbers_are_uniform() {
        let n = 200_000;
        let mut random = Random::new(3);
        let mut counts = [0_usize; 16];
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let u = random.uniform();
            assert!((0.0..1.0).contains(&u));
            counts[(u * 16.0) as usize] += 1;
            sum += u;
            squares += u * u;
        }
        let n = n as f64;
        assert!((sum / n - 0.5).abs() < 3e-3);
        assert!((squares / n - 1.0 / 3.0).abs() < 3e-3);
        let expected = n / 16.0;
        let chi_squared: f64 = counts
            .iter()
            .map(|&count| (count as f64 - expected).powi(2) / expected)
            .sum();
        // The 99.9 % point for 15 degrees of freedom.
        assert!(chi_squared < 37.7, "{chi_squared}");
    }

    #[test]
    fn normal_numbers_are_normal() {
        let n = 200_000;
        let mut random = Random::new(4);
        let mut moments = [0.0; 4];
        let mut within_one = 0;
        let mut previous = 0.0;
        let mut product = 0.0;
        for _ in 0..n {
            let x = random.normal();
            for (power, moment) in (1..).zip(&mut moments) {
                *moment += x.powi(power);
            }
            within_one += usize::from(x.abs() < 1.0);
            product += x * previous;
            previous = x;
        }
        let n = n as f64;
        for (moment, (expected, tolerance)) in moments.iter().zip([(0.0, 0.01), (1.0, 0.015), (0.0, 0.04), (3.0, 0.1)])
        {
            assert!(
                (moment / n - expected).abs() < tolerance,
                "{} instead of {expected}",
                moment / n
            );
        }
        assert!((within_one as f64 / n - 0.682_689).abs() < 5e-3);
        assert!((product / n).abs() < 0.01);
    }

    #[test]
    fn strata_cover_everything_in_order() {
        let few = Random::new(1).one_of_each_stretch(100_000, 100).collect::<Vec<_>>();
        assert!(few.iter().enumerate().all(|(k, at)| *at / 1000 == k));
        assert!(Random::new(1).one_of_each_stretch(5, 100).eq(0..5));
    }
}
