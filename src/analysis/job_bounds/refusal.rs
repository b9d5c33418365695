//! Why a scenario has no bounds on the jobs of its threads.

use thiserror::Error;

use crate::analysis::assumptions::Departure;

/// How many threads are analysed together, at most: each is looked at beside each other, which took 13 s for 5,000.
pub(super) const MOST_THREADS: usize = 2_000;

/// Why no bound over all phasings is given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SporadicRefusal {
    /// No period.
    #[error("{thread:?} has no period, so nothing is known of how often its jobs come")]
    NoPeriod {
        /// Label of the thread.
        thread: String,
    },
    /// It neither has a period nor waits for its work, and does not end.
    #[error(
        "{thread:?} goes on without a period and does not wait in each iteration for all that it has submitted: a \
         period, or a wait at the end of an iteration, is missing"
    )]
    Unpaced {
        /// Label of the thread.
        thread: String,
    },
    /// It meets others at a barrier in a way of which nothing is known.
    #[error(
        "{thread:?} meets others at a barrier: only threads are known that all have the same period (and number of \
         iterations) or all run once, come to each barrier equally often, and have given releases and no time limit"
    )]
    Barrier {
        /// Label of the thread.
        thread: String,
    },
    /// It shares a core and meets others at a barrier.
    #[error("{thread:?} shares a core and meets others at a barrier: nothing is known of the two together")]
    CoreAtBarrier {
        /// Label of the thread.
        thread: String,
    },
    /// Calls of a thread wait while another one frees memory.
    #[error(
        "calls of {thread:?} wait while {by:?} frees memory (cudaFree, cudaFreeHost; H2): nothing is known of how long"
    )]
    HeldByFree {
        /// Label of the thread.
        thread: String,
        /// Label of the one that frees memory.
        by: String,
    },
    /// Too many steps in one job.
    #[error("one job of {thread:?} has too many operations and pauses: no more than 512 are analysed together")]
    TooManySteps {
        /// Label of the thread.
        thread: String,
    },
    /// Too many threads: each is looked at beside each other.
    #[error("{threads} threads or streams do jobs: no more than {} are analysed together", MOST_THREADS)]
    TooManyThreads {
        /// How many there are.
        threads: usize,
    },
    /// More streams than channels, in contexts that take turns.
    #[error(
        "streams may have to wait for a hardware channel while contexts take turns: the bound knows one of the two at a \
         time"
    )]
    Channels,
    /// An SM mask and an MPS percentage.
    #[error("{}", Departure::MaskedClient)]
    MaskedClient,
    /// Green contexts that have SMs in common, or are used together.
    #[error(
        "{thread:?} uses SMs of several green contexts, or of one and of what is in none, by itself or with others that it \
         shares SMs, streams, events, barriers, cores, copy engines or channels with: only what one green context runs by itself is \
         bounded"
    )]
    SharedSms {
        /// Label of the thread.
        thread: String,
    },
    /// Times too long.
    #[error("a period, jitter or load is beyond 2^62 ns")]
    TooLong,
    /// Some response is not proven to be within its period, nor, where jobs queue in one stream, within a few of them.
    #[error(
        "no bound is found: a job of {thread:?} may not be done when the next one comes (too much load, or the bound \
         is too coarse)"
    )]
    BeyondPeriod {
        /// Label of the thread.
        thread: String,
    },
}
