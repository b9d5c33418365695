//! The turns of the printed algorithm on what was analysed.

use std::num::NonZeroU32;

use thiserror::Error;

use super::analyse::Analysis;
use super::printed;
use super::task::TimeOverflow;

/// Turns above which they are not listed.
const MOST_STEPS: usize = 100_000;

/// Why the turns of an analysis are not listed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StepsError {
    /// The algorithm is not for such a scenario.
    #[error("Algorithm 2 is for equal blocks without SM masks only")]
    NotForIt,
    /// There are too many.
    #[error(
        "Algorithm 2 takes more than {MOST_STEPS} steps on this scenario, or its h more than {} pairs in them",
        MOST_STEPS * printed::PAIRS_OF_A_STEP
    )]
    TooMany,
    /// Times cannot be represented.
    #[error(transparent)]
    Time(#[from] TimeOverflow),
}

impl Analysis<'_> {
    /// Every turn of the printed algorithm's loop on the analysed kernels.
    ///
    /// # Errors
    /// [`StepsError`]
    pub fn printed_steps(&self) -> Result<Vec<printed::Turn>, StepsError> {
        let g_max = self.g_max.and_then(NonZeroU32::new).ok_or(StepsError::NotForIt)?;
        printed::steps(g_max, &self.merged, MOST_STEPS)?.ok_or(StepsError::TooMany)
    }
}
