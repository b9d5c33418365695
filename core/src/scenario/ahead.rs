//! Work on many parts, on several threads where there are several cores. What comes of it is the same on one: each part
//! is worked on by itself, and what comes of the parts is taken in their order.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::mpsc::{SyncSender, channel, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use crate::effort::{self, Counted};
use crate::limits::count_turn;

/// What is worked on together: some tenths of a millisecond, of which a few stay in the caches.
pub(crate) const AT_ONCE: usize = 256;

/// Parts up to which threads are not worth it: to start them, and to find in memory what another core wrote, takes
/// processor time.
const FEW: usize = 80;

/// Cores that this process may use. To ask takes as long as many parts: the system answers from a dozen files.
static CORES: OnceLock<usize> = OnceLock::new();

/// Threads that work at most: whoever takes what they have done is one thread.
const MOST_THREADS: usize = 4;

/// For each thread, parts that are worked on or wait to be taken, at most.
const AHEAD: usize = 2;

/// Takes one after another what comes of a part; says whether more of it is wanted.
pub(crate) type Give<'g, T> = &'g mut dyn FnMut(T) -> bool;

/// Works on parts, some of them ahead, and takes what comes of each on this thread, in their order, up to an error.
/// Whatever a part gives is taken before it gives more than once more, so that no more is held of a long one.
pub(crate) fn in_order<P: Send, T: Send, E>(
    parts: impl IntoIterator<Item = P>,
    work: impl Fn(P, Give<'_, T>) + Sync,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let mut parts = parts.into_iter().fuse();
    let first: Vec<P> = parts.by_ref().take(FEW + 1).collect();
    // Work that is counted comes to the same on one thread, and who has a pool of threads has said how many there are.
    let is_counted = || effort::left(Counted::States).is_some();
    let is_free = first.len() > FEW && rayon::current_thread_index().is_none() && !is_counted();
    // For WebAssembly nobody knows of any.
    let cores = if is_free { *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from)) } else { 1 };
    let threads = if cores > 1 { cores.min(MOST_THREADS) } else { 0 };
    on_threads(threads, first.into_iter().chain(parts), work, take)
}

/// The same on so many threads beside this one, as far as the system has them.
fn on_threads<P: Send, T: Send, E>(
    threads: usize,
    mut parts: impl Iterator<Item = P>,
    work: impl Fn(P, Give<'_, T>) + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let (here, (ask, asked)) = (effort::here(), channel::<(P, SyncSender<Option<T>>)>());
    let asked = Mutex::new(asked);
    let next = || asked.lock().unwrap_or_else(PoisonError::into_inner).recv();
    let works = || {
        here.within(|| {
            while let Ok((part, given)) = next() {
                count_turn();
                work(part, &mut |done| given.send(Some(done)).is_ok());
                // Behind an error nobody waits for it.
                drop(given.send(None));
            }
        });
    };
    thread::scope(|scope| {
        let begin = |_| thread::Builder::new().spawn_scoped(scope, works).ok();
        let threads: Vec<_> = (0..threads).map_while(begin).collect();
        if threads.is_empty() {
            return parts.try_for_each(|part| {
                let mut taken = Ok(());
                work(part, &mut |done| {
                    taken = if taken.is_ok() { take(done) } else { return false };
                    taken.is_ok()
                });
                taken
            });
        }
        let mut take_all = || {
            let mut ahead = VecDeque::new();
            loop {
                while ahead.len() < AHEAD * threads.len()
                    && let Some(part) = parts.next()
                {
                    count_turn();
                    let (give, given) = sync_channel(1);
                    // Where all have panicked, nothing comes of it.
                    drop(ask.send((part, give)));
                    ahead.push_back(given);
                }
                let Some(given) = ahead.front() else { return Ok(()) };
                match given.recv() {
                    Ok(Some(done)) => take(done)?,
                    Ok(None) => drop(ahead.pop_front()),
                    // It has panicked, which goes on below.
                    Err(_) => return Ok(()),
                }
            }
        };
        let taken = take_all();
        // Whoever is told of no more parts ends.
        drop(ask);
        for thread in threads {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        taken
    })
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::effort::Effort;
    use crate::limits::end_if_stopped;

    /// What is taken of numbers that are cut into parts of so many, up to one that is an error.
    fn taken(threads: usize, numbers: &[u32], cut: usize, error: u32) -> (Vec<u32>, Result<(), u32>) {
        let mut all = Vec::new();
        let work = |part: &[u32], give: Give<'_, u32>| _ = part.iter().all(|number| give(number * 3));
        let ended = on_threads(threads, numbers.chunks(cut), work, |number| {
            if number == error * 3 {
                return Err(number);
            }
            all.push(number);
            Ok(())
        });
        (all, ended)
    }

    proptest! {
        #[test]
        fn what_is_taken_does_not_depend_on_threads_and_cuts_and_ends_at_the_first_error(
            numbers in prop::collection::vec(0_u32..60, 0..200), cut in 1_usize..40, error in 0_u32..80,
        ) {
            let alone = taken(0, &numbers, numbers.len().max(1), error);
            for threads in [0, 1, 2, 5] {
                prop_assert_eq!(&taken(threads, &numbers, cut, error), &alone);
            }
        }
    }

    #[test]
    fn a_panic_and_a_stop_in_a_part_go_on_to_whoever_asked_for_it() {
        let panics = |number: u32, _: Give<'_, ()>| assert_ne!(number, 3, "of the test");
        let ended = catch_unwind(AssertUnwindSafe(|| on_threads(2, 0..9, panics, |()| Ok::<_, ()>(()))));
        assert!(ended.is_err());
        let effort = Arc::new(Effort::all_or_nothing());
        let stops = |number: u32, _: Give<'_, ()>| {
            if number == 3 {
                effort.stop();
            }
            end_if_stopped();
        };
        let ended = effort.within(|| on_threads(2, 0..9, stops, |()| Ok::<_, ()>(())));
        assert_eq!(ended, Err(effort::EarlyEnd::Stopped));
    }
}
