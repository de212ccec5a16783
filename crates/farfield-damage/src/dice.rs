//! Reproducible random choices.

/// Marsaglia's xorshift generator: tests must not depend on the generator of the code they test.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// A generator whose sequence depends only on `seed`.
    pub fn new(seed: u64) -> Self {
        // Spreads the bits of the seed. The state is odd because a generator at zero stays there.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// 64 random bits.
    pub fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `n`; zero for `n = 0`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.roll() % n.max(1) as u64) as usize
    }

    /// A random element of `from`.
    ///
    /// # Panics
    /// If `from` is empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dice_repeat_and_reach_every_side() {
        let throw = |seed| {
            let mut dice = Dice::new(seed);
            std::array::from_fn::<usize, 200, _>(|_| dice.below(6))
        };
        assert_eq!(throw(1), throw(1));
        assert_ne!(throw(1), throw(2));
        assert!((0..6).all(|side| throw(0).contains(&side)));
        assert_eq!(Dice::new(3).below(0), 0);
    }
}
