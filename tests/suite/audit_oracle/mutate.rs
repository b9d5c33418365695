//! Traces in which one thing was changed.

use std::sync::Arc;

use gpusched::audit::{ObservedKernel, ObservedRun, ObservedWork};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How many kinds of mutants there are.
pub(crate) const KINDS: u32 = 10;

/// A mutant of `observation` and what was done to it; `None` if this kind does not apply.
pub(crate) fn mutant(observation: &ObservedRun, sample: u64, kind: u32) -> Option<(ObservedRun, &'static str)> {
    let mut random = ChaCha8Rng::seed_from_u64(0x6d75_7461_6e74 + u64::from(kind));
    random.set_stream(sample);
    let mut mutant = observation.clone();
    let sms = mutant.device.sms;
    let kernels: Vec<usize> =
        (0..mutant.operations.len()).filter(|&k| mutant.operations[k].kernel().is_some()).collect();
    let chosen = kernels.get(random.random_range(0..kernels.len().max(1)))?;
    let other = kernels.get(random.random_range(0..kernels.len().max(1)))?;
    let shift = [1, 1_000, 500_000, 1_000_000, 2_000_000][random.random_range(0..5)];
    let number = random.random_range(0..kernel(&mut mutant, *chosen)?.blocks.len().max(1));
    let what = match kind {
        0 | 1 => {
            let shift = if kind == 0 { -shift } else { shift };
            let blocks = Arc::make_mut(&mut kernel(&mut mutant, *chosen)?.blocks);
            blocks.times.get_mut(number)?.iter_mut().for_each(|time| *time = time.saturating_add(shift));
            "a block moved in time"
        }
        2 => {
            let to = random.random_range(0..sms);
            let blocks = Arc::make_mut(&mut kernel(&mut mutant, *chosen)?.blocks);
            let sm = blocks.sms.get_mut(number)?;
            if *sm == to {
                return None;
            }
            *sm = to;
            "a block moved to another SM"
        }
        3 => {
            *Arc::make_mut(&mut kernel(&mut mutant, *chosen)?.blocks).sms.get_mut(number)? = sms;
            "a block moved to an SM that does not exist"
        }
        4 => {
            // Two blocks change places: SM and start, each keeping its length.
            let one = *kernel(&mut mutant, *chosen)?.blocks.times.get(number)?;
            let with = random.random_range(0..kernel(&mut mutant, *other)?.blocks.len().max(1));
            let two = *kernel(&mut mutant, *other)?.blocks.times.get(with)?;
            let sm_one = kernel(&mut mutant, *chosen)?.blocks.sms[number];
            let sm_two = kernel(&mut mutant, *other)?.blocks.sms[with];
            if (one[0], sm_one) == (two[0], sm_two) {
                return None;
            }
            let blocks = Arc::make_mut(&mut kernel(&mut mutant, *chosen)?.blocks);
            (blocks.times[number], blocks.sms[number]) =
                ([two[0], two[0].saturating_add(one[1].since(one[0]))], sm_two);
            let blocks = Arc::make_mut(&mut kernel(&mut mutant, *other)?.blocks);
            (blocks.times[with], blocks.sms[with]) = ([one[0], one[0].saturating_add(two[1].since(two[0]))], sm_one);
            "two blocks swapped"
        }
        5 => {
            let shape = &mut kernel(&mut mutant, *chosen)?.shape;
            shape.threads = shape.threads.checked_mul(2).filter(|&threads| threads <= 1024)?;
            "threads doubled"
        }
        6 => {
            let shape = &mut kernel(&mut mutant, *chosen)?.shape;
            (shape.shared_memory_bytes, shape.registers_per_thread) = match random.random_range(0..2) {
                0 if shape.shared_memory_bytes > 0 && shape.shared_memory_bytes <= 24_576 => {
                    (shape.shared_memory_bytes * 2, shape.registers_per_thread)
                }
                1 if shape.registers_per_thread > 0 && shape.threads <= 512 => {
                    (shape.shared_memory_bytes, shape.registers_per_thread * 2)
                }
                _ => return None,
            };
            "shared memory or registers doubled"
        }
        7 => {
            let blocks = Arc::make_mut(&mut kernel(&mut mutant, *chosen)?.blocks);
            blocks.times.pop()?;
            blocks.sms.pop()?;
            "a block left out"
        }
        8 => {
            let shift = if random.random_bool(0.5) { -shift } else { shift };
            let copies = mutant.operations.iter_mut().filter_map(|operation| match &mut operation.work {
                ObservedWork::Copy(copy) => copy.times_ns.as_mut(),
                _ => None,
            });
            copies.last()?.iter_mut().for_each(|time| *time = time.saturating_add(shift));
            "a copy moved in time"
        }
        _ => {
            let blocks = Arc::make_mut(&mut kernel(&mut mutant, *chosen)?.blocks);
            let end = &mut blocks.times.get_mut(number)?[1];
            *end = end.saturating_add(shift);
            "a block made longer"
        }
    };
    Some((mutant, what))
}

fn kernel(observation: &mut ObservedRun, operation: usize) -> Option<&mut ObservedKernel> {
    match &mut observation.operations.get_mut(operation)?.work {
        ObservedWork::Kernel(kernel) => Some(kernel),
        _ => None,
    }
}
