//! Parameters as one text with commas, as the examiner took them until June 2017.

use crate::json::{Node, Problem};
use crate::time::{Duration, MAX_INPUT_NS};

/// A kernel of a `multikernel.so`: `"K1,500000000,7,512"` is its name, nanoseconds, blocks and threads.
pub(super) struct TextKernel {
    pub(super) name: String,
    pub(super) duration: Duration,
    pub(super) blocks: u32,
    /// As that version rounded them up, to whole warps.
    pub(super) threads: u32,
}

/// Threads of a warp, to which that version rounded up.
const WARP: u32 = 32;

/// Reads kernels one after another, of four parts each.
pub(super) fn kernels(node: Node<'_>) -> Result<Vec<TextKernel>, Problem> {
    let text = node.text()?;
    let parts: Vec<&str> = text.split(',').collect();
    let (kernels, rest) = parts.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(node.expected(
            "a list of kernels, or a text with name, nanoseconds, blocks and threads of each, as in \"K1,1000000,1,512\"",
        ));
    }
    let kernel = |[name, duration, blocks, threads]: &[&str; 4]| {
        Ok(TextKernel {
            name: (*name).to_owned(),
            duration: nanoseconds(node, duration)?,
            blocks: count(node, blocks)?,
            threads: count(node, threads)?.next_multiple_of(WARP),
        })
    };
    kernels.iter().map(kernel).collect()
}

/// `"500000000,4096"` of a `sharedmem_timer_spin.so`: nanoseconds, and 32-bit words of shared memory.
pub(super) fn spin_and_words(node: Node<'_>) -> Result<(Duration, u32), Problem> {
    let text = node.text()?;
    let Some((duration, words)) = text.split_once(',') else {
        return Err(node.expected("an object, or nanoseconds and 32-bit words as in \"500000000,4096\""));
    };
    Ok((nanoseconds(node, duration)?, number(node, words, 0)?))
}

fn nanoseconds(node: Node<'_>, part: &str) -> Result<Duration, Problem> {
    let ns = part.trim().parse().ok().filter(|&ns| ns <= MAX_INPUT_NS);
    ns.map(Duration::from_ns)
        .ok_or_else(|| node.problem(format!("expected nanoseconds, from 0 to 2^63, found {part:?}")))
}

fn count(node: Node<'_>, part: &str) -> Result<u32, Problem> {
    number(node, part, 1)
}

/// A number from `least` on.
fn number(node: Node<'_>, part: &str, least: i32) -> Result<u32, Problem> {
    let number = part.trim().parse::<i32>().ok().filter(|number| *number >= least);
    let wrong = || node.problem(format!("expected a whole number from {least} to {}, found {part:?}", i32::MAX));
    number.map(i32::unsigned_abs).ok_or_else(wrong)
}
