//! The order of a round of turns: rules T1 and T6.

use crate::canonical::Canonical;
use crate::workload::InterleaveLevel;

/// T6: the order in which contexts of these levels get their turns in one round, by number; as `nvgpu` builds its
/// runlists. For each context of low level: for each of medium level all of high level and then that one, then all of
/// high level, then the low one.
pub fn runlist(levels: &[InterleaveLevel]) -> Vec<usize> {
    let of = |level| -> Vec<usize> { (0..levels.len()).filter(|&number| levels[number] == level).collect() };
    let [low, medium, high] = InterleaveLevel::ALL.map(of);
    let mut above_low = Vec::new();
    for &number in &medium {
        above_low.extend_from_slice(&high);
        above_low.push(number);
    }
    if low.is_empty() {
        return if medium.is_empty() { high } else { above_low };
    }
    let mut round = Vec::new();
    for &number in &low {
        round.extend_from_slice(&above_low);
        round.extend_from_slice(&high);
        round.push(number);
    }
    round
}

/// The runlist, and whose turn it was last.
#[derive(Debug, Clone)]
pub(super) struct Runlist {
    order: Vec<usize>,
    /// The place behind that of the last turn.
    next: usize,
}

impl Runlist {
    /// Nobody has had a turn.
    pub(super) fn new(levels: &[InterleaveLevel]) -> Self {
        Self { order: runlist(levels), next: 0 }
    }

    /// As when it was made.
    pub(super) fn clear(&mut self) {
        self.next = 0;
    }

    /// Writes the state.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        let Self { order: _, next } = self;
        to.length(*next);
    }

    /// T1: the place of the next turn, and whose it is, of those contexts that have work.
    pub(super) fn peek(&self, has_work: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        let places = (self.next..self.order.len()).chain(0..self.next);
        places.map(|place| (place, self.order[place])).find(|&(_, context)| has_work(context))
    }

    /// Whose the turns of a round are, from the next one on; the last is that of the last turn.
    pub(super) fn round(&self) -> impl Iterator<Item = usize> + '_ {
        self.order[self.next..].iter().chain(&self.order[..self.next]).copied()
    }

    /// The turn at `place` was given.
    pub(super) fn go_on_behind(&mut self, place: usize) {
        self.next = (place + 1) % self.order.len().max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(levels: &[usize]) -> Vec<usize> {
        runlist(&levels.iter().map(|&level| InterleaveLevel::ALL[level]).collect::<Vec<_>>())
    }

    #[test]
    fn the_orders_are_those_of_nvgpus_own_unit_tests() {
        assert_eq!(order(&[0, 0]), [0, 1]);
        assert_eq!(order(&[1, 1]), [0, 1]);
        assert_eq!(order(&[2, 2]), [0, 1]);
        assert_eq!(order(&[0, 0, 1, 1]), [2, 3, 0, 2, 3, 1]);
        assert_eq!(order(&[1, 1, 2, 2]), [2, 3, 0, 2, 3, 1]);
        assert_eq!(order(&[0, 0, 2, 2]), [2, 3, 0, 2, 3, 1]);
        // h1 h2 m1 h1 h2 m2 h1 h2 l1, and the same before l2.
        let before_low = [4, 5, 2, 4, 5, 3, 4, 5];
        assert_eq!(order(&[0, 0, 1, 1, 2, 2]), [&before_low[..], &[0], &before_low, &[1]].concat());
        assert!(order(&[]).is_empty());
    }

    #[test]
    fn turns_go_on_behind_the_last_and_pass_by_contexts_without_work() {
        let mut runlist = Runlist::new(&[InterleaveLevel::Low; 3]);
        assert_eq!(runlist.peek(|context| context != 0), Some((1, 1)));
        runlist.go_on_behind(1);
        assert_eq!(runlist.peek(|_| true), Some((2, 2)));
        assert_eq!(runlist.peek(|context| context == 1), Some((1, 1)));
        assert_eq!(runlist.peek(|_| false), None);
    }
}
