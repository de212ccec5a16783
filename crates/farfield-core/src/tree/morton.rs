//! Morton keys: the cell of a point in a cube of `2^levels` cells per side, with the bits of its coordinates
//! interleaved.

/// The largest number of levels in a key (three bits each).
pub const KEY_LEVELS: u32 = 10;

/// Spreads the low ten bits of `v` to every third bit.
#[inline(always)]
fn spread(v: u32) -> u32 {
    let v = v & 0x3ff;
    let v = (v | (v << 16)) & 0x0300_00ff;
    let v = (v | (v << 8)) & 0x0300_f00f;
    let v = (v | (v << 4)) & 0x030c_30c3;
    (v | (v << 2)) & 0x0924_9249
}

/// The key of a point in the cube with the given corner and side. Points on or beyond a face belong to the cell next
/// to it. Bit 0 of each group of three is x, bit 1 y, bit 2 z.
#[inline(always)]
pub fn key(point: [f64; 3], corner: [f64; 3], inverse_side: f64, levels: u32) -> u32 {
    let cells = (1u32 << levels) as f64;
    let cell = |axis: usize| -> u32 {
        let c = (point[axis] - corner[axis]) * inverse_side * cells;
        (c.max(0.0) as u32).min((1 << levels) - 1)
    };
    key_of_cell([cell(0), cell(1), cell(2)])
}

/// The key of a cell given by its coordinates.
#[inline(always)]
pub fn key_of_cell(cell: [u32; 3]) -> u32 {
    spread(cell[0]) | spread(cell[1]) << 1 | spread(cell[2]) << 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_interleave_from_the_coarsest_level_down() {
        // The cell (1, 0, 1) of 2 x 2 x 2 cells, then (0, 1, 1) inside it.
        let point = [0.5 + 0.125, 0.25 + 0.125, 0.75 + 0.125];
        assert_eq!(key(point, [0.0; 3], 1.0, 1), 0b101);
        assert_eq!(key(point, [0.0; 3], 1.0, 2), 0b101_110);
        assert_eq!(key([1.0; 3], [0.0; 3], 1.0, 10), (1 << 30) - 1);
        assert_eq!(key([-1e-9, 2.0, f64::MIN_POSITIVE], [0.0; 3], 1.0, 1), 0b010);
    }

    #[test]
    fn every_cell_of_a_level_has_its_own_key() {
        let mut keys: Vec<u32> = (0..512)
            .map(|i| {
                key(
                    [(i % 8) as f64 + 0.5, (i / 8 % 8) as f64 + 0.5, (i / 64) as f64 + 0.5],
                    [0.0; 3],
                    0.125,
                    3,
                )
            })
            .collect();
        keys.sort_unstable();
        assert_eq!(keys, (0..512).collect::<Vec<_>>());
    }
}
