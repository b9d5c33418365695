//! Which SM gets the next block, by the policies that [`Placement`] names.
//!
//! The simulated GPU asks how many blocks each SM gets (`distribute`); the trace keeps these counts and expands them to
//! single blocks when asked (`choose`). Both follow from the same few numbers, so the rule stands here, below both.

mod choose;
mod deal;
mod distribute;
mod part;
mod random;

pub(crate) use choose::{Sequence, Start};
pub(crate) use deal::by_number;
pub(crate) use distribute::distribute;
pub use part::Part;

pub use crate::device::Placement;
