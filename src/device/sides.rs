//! How far grids and blocks extend along x, y and z.

use thiserror::Error;

use crate::named::named;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Sided: ALL {
        /// A grid, of blocks.
        Grid = "grid",
        /// A block, of threads.
        Block = "block",
    }
}

/// A grid or block that extends too far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub(crate) enum SidesError {
    /// A side is longer than any GPU takes.
    #[error("{side} {} along {}, where a {} of a CUDA GPU has at most {most}", of.unit(), axis_name(*axis), of.name())]
    Side {
        /// Of what.
        of: Sided,
        /// 0, 1 or 2: x, y or z.
        axis: usize,
        /// How long it is.
        side: u32,
        /// How long it may be.
        most: u32,
    },
    /// More blocks or threads than are counted here.
    #[error("the product of these numbers is more than {MOST}")]
    Product,
    /// More sides than a space has.
    #[error("{0} sides, where x, y and z are three")]
    Axes(usize),
}

const AXES: [&str; 3] = ["x", "y", "z"];

fn axis_name(axis: usize) -> &'static str {
    AXES.get(axis).copied().unwrap_or("a fourth axis")
}

/// Blocks of a grid that are counted here at most.
const MOST: u32 = i32::MAX as u32;

impl Sided {
    /// Where [`Self::most`] is stated.
    pub(crate) const SOURCE: &'static str = "CUDA C++ Programming Guide v12.9 (NVIDIA, 2025), table \"Technical \
        Specifications per Compute Capability\": one number for all of them, from 5.0 on; those of 3.0 to 3.7 were the same (v10.2, \
        2019). deviceQuery prints them for a TX2";

    const fn unit(self) -> &'static str {
        match self {
            Self::Grid => "blocks",
            Self::Block => "threads",
        }
    }

    /// The longest sides along x, y and z, the same for every GPU of compute capability 3.0 or later. A device limits
    /// the threads of a block besides.
    pub(crate) const fn most(self) -> [u32; 3] {
        match self {
            Self::Grid => [i32::MAX as u32, 65_535, 65_535],
            Self::Block => [1_024, 1_024, 64],
        }
    }

    /// How many blocks or threads something with one to three sides has.
    ///
    /// # Errors
    /// [`SidesError`] if it extends too far.
    pub(crate) fn count(self, sides: &[u32]) -> Result<u32, SidesError> {
        if sides.len() > AXES.len() {
            return Err(SidesError::Axes(sides.len()));
        }
        let mut count = 1_u32;
        for (axis, (&side, most)) in sides.iter().zip(self.most()).enumerate() {
            if side > most {
                return Err(SidesError::Side { of: self, axis, side, most });
            }
            count = count.checked_mul(side).filter(|&count| count <= MOST).ok_or(SidesError::Product)?;
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_limited_as_device_query_prints_it() {
        // Section 2.2 of the thesis: (1024, 1024, 64) and (2147483647, 65535, 65535).
        for (of, sides) in [
            (Sided::Block, [1024, 1, 1]),
            (Sided::Block, [1, 1024, 1]),
            (Sided::Block, [16, 1, 64]),
            (Sided::Grid, [2_147_483_647, 1, 1]),
            (Sided::Grid, [1, 65_535, 1]),
            (Sided::Grid, [1, 1, 65_535]),
        ] {
            assert_eq!(of.count(&sides), Ok(sides.iter().product()));
            let axis = sides.iter().rposition(|&side| side > 16).expect("one is long");
            let mut longer = sides;
            longer[axis] += 1;
            let refused = of.count(&longer);
            assert!(matches!(refused, Err(SidesError::Side { axis: at, .. }) if at == axis), "{longer:?}: {refused:?}");
        }
    }

    #[test]
    fn a_product_that_is_too_large_is_refused() {
        assert_eq!(Sided::Grid.count(&[65_536, 32_768]), Err(SidesError::Product));
        assert_eq!(Sided::Grid.count(&[65_535, 65_535, 65_535]), Err(SidesError::Product));
        assert_eq!(Sided::Grid.count(&[1, 1, 1, 1]), Err(SidesError::Axes(4)));
    }
}
