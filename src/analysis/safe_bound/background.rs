//! What kernels of lower priorities can add to the waits of a chain: `docs/analysis.md`, "Lower priorities in the
//! waits".
//!
//! While a kernel of the chain waits, no block of a lower priority is assigned. So of each lower stream, blocks of one
//! kernel at most run in a wait, those that ran when it began; and no block runs in more waits than its length allows.

use super::weights::ONE;
use crate::limits::count_steps;
use crate::proven::OrMost;

/// Prices of which a bound for each number of waits is computed.
const MOST_PRICES: usize = 32;

/// Blocks of one lower kernel, as many as count in a wait.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// What they weigh in a wait, in 1 / [`ONE`].
    weight: u128,
    /// Their longest time \[ns\].
    time: u128,
    /// In how many waits they can weigh as much.
    count: u64,
}

/// The kernels of lower priorities, by stream.
#[derive(Debug, Default)]
pub(in crate::analysis) struct Background {
    streams: Vec<(usize, Vec<Slot>)>,
}

impl Background {
    /// Adds a kernel of `blocks` blocks that run up to `time` ns and weigh `weight` each, of which an empty GPU holds
    /// `resident`; `times`: how often it may be launched, [`u64::MAX`] if that is not known.
    pub(in crate::analysis) fn add(
        &mut self,
        stream: usize,
        (blocks, time, weight): (u64, u64, u64),
        resident: u64,
        times: u64,
    ) {
        let place = self.streams.iter().position(|(known, _)| *known == stream).unwrap_or(self.streams.len());
        if place == self.streams.len() {
            self.streams.push((stream, Vec::new()));
        }
        let of_blocks = |blocks: u64| u128::from(blocks) * u128::from(weight);
        let (most, time) = (of_blocks(blocks.min(resident)).min(u128::from(ONE)), u128::from(time));
        let all = of_blocks(blocks).saturating_mul(u128::from(times));
        if let Some(full) = all.checked_div(most) {
            let slots = &mut self.streams[place].1;
            slots.push(Slot { weight: most, time, count: u64::try_from(full).or_most() });
            slots.push(Slot { weight: all % most, time, count: 1 });
        }
    }

    /// The most that these blocks can add to so many waits, in 1 / [`ONE`] ns. A wait that `begins_with_launch`, the
    /// first one, finds only blocks that began before that instant.
    pub(in crate::analysis) fn most(&self, waits: u64, begins_with_launch: bool) -> u128 {
        let all = self.in_waits(waits, 0);
        if !begins_with_launch || waits == 0 {
            return all;
        }
        all.min(self.in_waits(1, 1).saturating_add(self.in_waits(waits - 1, 0)))
    }

    /// The same, of blocks that run `less` ns less. It is the least of several sums, each of which is enough: at a
    /// price for what a wait has of weight, of which there is 1, a block is worth what it is longer than that, and of
    /// each stream what is worth most is in the waits.
    fn in_waits(&self, waits: u64, less: u128) -> u128 {
        self.prices(less).into_iter().map(|price| self.at_price(price, waits, less)).min().unwrap_or(0)
    }

    fn prices(&self, less: u128) -> Vec<u128> {
        let slots = || self.streams.iter().flat_map(|(_, slots)| slots);
        let mut prices: Vec<u128> = slots().map(|slot| slot.time.saturating_sub(less)).chain([0]).collect();
        prices.sort_unstable();
        prices.dedup();
        count_steps(prices.len() * slots().count());
        prices
    }

    fn at_price(&self, price: u128, waits: u64, less: u128) -> u128 {
        let mut total = price.saturating_mul(u128::from(ONE)).saturating_mul(u128::from(waits));
        for (_, slots) in &self.streams {
            let mut left = waits;
            for (worth, count) in worths(slots, price + less) {
                let taken = count.min(left);
                total = total.saturating_add(worth.saturating_mul(u128::from(taken)));
                left -= taken;
            }
        }
        total
    }

    /// What [`Self::most`] says of no wait, of one, and so on up to so many.
    pub(super) fn up_to(&self, waits: usize) -> Vec<u128> {
        let prices = self.prices(0);
        let mut most = vec![u128::MAX; waits + 1];
        // Each of them is enough.
        for &price in prices.iter().step_by(prices.len().div_ceil(MOST_PRICES)) {
            let mut of_wait = vec![price.saturating_mul(u128::from(ONE)); waits];
            for (_, slots) in &self.streams {
                let mut rest = &mut of_wait[..];
                for (worth, count) in worths(slots, price) {
                    let taken = usize::try_from(count).or_most().min(rest.len());
                    let (waits, others) = rest.split_at_mut(taken);
                    for wait in waits {
                        *wait = wait.saturating_add(worth);
                    }
                    rest = others;
                }
            }
            let mut total = 0_u128;
            most[0] = 0;
            for (most, of_wait) in most[1..].iter_mut().zip(of_wait) {
                total = total.saturating_add(of_wait);
                *most = total.min(*most);
            }
        }
        most
    }
}

/// What the blocks of one stream are worth in a wait at a price \[ns\], the most first, and in how many waits.
fn worths(slots: &[Slot], price: u128) -> Vec<(u128, u64)> {
    let worth = |slot: &Slot| slot.weight.saturating_mul(slot.time.saturating_sub(price));
    let mut worths: Vec<(u128, u64)> = slots.iter().map(|slot| (worth(slot), slot.count)).collect();
    worths.sort_unstable_by_key(|(worth, _)| std::cmp::Reverse(*worth));
    worths
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HALF: u64 = ONE / 2;

    fn background(kernels: &[(usize, u64, u64, u64, u64)]) -> Background {
        let mut background = Background::default();
        for &(stream, blocks, time, weight, resident) in kernels {
            background.add(stream, (blocks, time, weight), resident, 1);
        }
        background
    }

    #[test]
    fn a_kernel_is_in_no_more_waits_than_it_has_blocks_for() {
        // Two blocks fill the GPU: two waves of 10 ns, then one of 4 ns.
        let background = background(&[(0, 4, 10, HALF, 2), (0, 2, 4, HALF, 2)]);
        let most = [0, 1, 2, 3, 5].map(|waits| background.most(waits, false));
        assert_eq!(most, [0, 10, 20, 24, 24].map(|ns| ns * u128::from(ONE)));
    }

    #[test]
    fn two_streams_share_what_a_wait_has() {
        // Half a wait of 20 ns, and the other half of the other stream's 10 ns.
        let background = background(&[(0, 4, 10, HALF, 2), (1, 1, 20, HALF, 2)]);
        assert_eq!([1, 2].map(|waits| background.most(waits, false)), [15, 25].map(|ns| ns * u128::from(ONE)));
        // What ran at a launch began before it.
        assert_eq!(background.most(1, true), 14 * u128::from(ONE));
    }

    #[test]
    fn of_a_stream_that_may_be_overloaded_every_wait_has_the_longest() {
        let mut background = Background::default();
        background.add(0, (2, 10, HALF), 2, u64::MAX);
        assert_eq!(background.most(7, false), 70 * u128::from(ONE));
    }

    /// By trying everything, with weights in quarters of a wait: kernels are (stream, blocks, time, resident).
    fn tried(kernels: &[(usize, u64, u64, u64)], left: &mut [u64], waits: u64) -> u64 {
        fn wait(kernels: &[(usize, u64, u64, u64)], left: &mut [u64], (stream, room): (usize, u64), waits: u64) -> u64 {
            if stream == 2 {
                return tried(kernels, left, waits - 1);
            }
            let mut most = wait(kernels, left, (stream + 1, room), waits);
            for kernel in (0..kernels.len()).filter(|&kernel| kernels[kernel].0 == stream) {
                let (_, _, time, resident) = kernels[kernel];
                for taken in 1..=room.min(resident).min(left[kernel]) {
                    left[kernel] -= taken;
                    most = most.max(taken * time + wait(kernels, left, (stream + 1, room - taken), waits));
                    left[kernel] += taken;
                }
            }
            most
        }
        if waits == 0 { 0 } else { wait(kernels, left, (0, 4), waits) }
    }

    proptest! {
        #[test]
        fn nothing_that_can_be_tried_is_more(
            kernels in prop::collection::vec((0_usize..2, 1_u64..6, 1_u64..20, 1_u64..6), 1..4), waits in 0_u64..3,
        ) {
            let mut background = Background::default();
            for &(stream, blocks, time, resident) in &kernels {
                background.add(stream, (blocks, time, ONE / 4), resident, 1);
            }
            let mut left: Vec<u64> = kernels.iter().map(|kernel| kernel.1).collect();
            let tried = tried(&kernels, &mut left, waits);
            prop_assert!(background.most(waits, false) >= u128::from(tried) * u128::from(ONE / 4));
            let up_to: Vec<u128> = (0..=waits).map(|waits| background.most(waits, false)).collect();
            prop_assert_eq!(background.up_to(up_to.len() - 1), up_to);
        }
    }
}
