//! How far work may go: how much memory there is for it, and how it ends wherever it is.

mod memory;
mod unwinding;

pub use memory::{Allowance, Memory};
pub use unwinding::Unfinished;
#[doc(hidden)]
pub use unwinding::{NowAndThen, count, count_steps, count_turn, count_turns, end_if_stopped, in_any_case};
