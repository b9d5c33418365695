//! How far work may go: how much memory there is for it, and how it is called off wherever it is.

mod calling_off;
mod memory;

pub(crate) use calling_off::NowAndThen;
pub use calling_off::{CallOff, Unfinished, look};
pub use memory::{Allowance, Memory};
