//! In which order threads launch at one instant, where that is known.

/// In which order threads launch kernels that they can launch at one instant, such as the order in which the calls
/// returned in a measurement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaunchOrder {
    ranks: Vec<Vec<i64>>,
}

impl LaunchOrder {
    /// `ranks` has a list for each thread, by its index, with a number for each of its launches, in their order. Of
    /// several launches that are possible at one instant the one with the lowest number comes first, of equals that of
    /// the thread that was declared first. Threads whose next launch has none act in declaration order.
    pub const fn new(ranks: Vec<Vec<i64>>) -> Self {
        Self { ranks }
    }

    /// The number of a thread's launch, counted from 0.
    pub(super) fn rank(&self, thread: usize, launch: usize) -> Option<i64> {
        self.ranks.get(thread)?.get(launch).copied()
    }
}

/// Whose turn it is of threads with these ranks, which stand in declaration order; `None`: there is none.
pub(super) fn first(ranks: impl Iterator<Item = Option<i64>>) -> Option<usize> {
    let mut ranks = ranks.enumerate();
    let (mut first, Some(mut lowest)) = ranks.next()? else { return Some(0) };
    for (position, rank) in ranks {
        if let Some(rank) = rank.filter(|rank| *rank < lowest) {
            (first, lowest) = (position, rank);
        }
    }
    Some(first)
}
