//! Weights of blocks such that whatever keeps a head out weighs at least 1; and by them, **lower priorities in the
//! waits**.
//!
//! Fixed point, always rounded up: larger weights keep the condition, so the bound stays a bound.
//!
//! Registers: where warps take unlike numbers of them, a head whose warps take `r` is surely let in as long as enough
//! of the `floor(F / r)` places of each sub-partition are left, of which another warp spoils `ceil(r' / r)` at most,
//! however warps are dealt. So each `r` is a resource of its own, of which only heads with such warps can find too
//! little.
//!
//! Claim on lower priorities: to n waits of a chain they add no more than, for any price p >= 0, n p plus, for each
//! stream, the n largest values among w (`C_j` - p), where each kernel j stands for as many waits of w = min(`r_j`
//! `v_j`, 1) as its `g_j` `v_j` is enough for (Coq: `lower_blocks_by_stream`). Assumption: in a wait no lower block is
//! assigned.

use num_integer::gcd;

use crate::analysis::merged_resources::{Pool, kinds_of_warps, pool, registers_per_warp};
use crate::device::{Device, RegisterFile};
use crate::limits::count_steps;
use crate::proven::{OrMost, Proven};

/// The weight 1. Divisible by 1 to 16, so that the shares of small GPUs are exact.
pub(in crate::analysis) const ONE: u64 = 720_720 << 13;

/// Steps of a resource, and classes of blocks, above which weights are not lowered one by one.
const MOST_UNITS: u64 = 2_048;
const MOST_CLASSES: usize = 48;

/// Kernels whose blocks take the same and may use the same number of SMs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analysis) struct Class {
    pub(in crate::analysis) needs: Pool,
    pub(in crate::analysis) allowed: u64,
}

/// What is known of a device and its classes before any weights are chosen.
#[derive(Debug)]
pub(in crate::analysis) struct Weights<'a> {
    /// Limits of one SM.
    limits: Pool,
    sms: u64,
    classes: &'a [Class],
    /// Where warps take unlike numbers of registers: these numbers, and how many such warps an SM has places for.
    kinds: Vec<(u32, u64)>,
}

/// One resource of an SM, counted in the largest unit of which all blocks take whole numbers.
#[derive(Debug)]
pub(super) struct Resource {
    /// How much of it blocks that are on an SM together can take.
    pub(super) units: u64,
    /// L: how much they must leave to a head.
    limit: u64,
    /// By class: `n_j`.
    pub(super) needs: Vec<u64>,
    /// By class: whether a head can find too little of it.
    is_asked: Vec<bool>,
}

impl Resource {
    /// `t_h` = L - `n_h` + 1: the units that keep a block of class `head` out of an SM; `None`: it needs nothing of it.
    pub(super) fn threshold(&self, head: usize) -> Option<u64> {
        // It fits on an empty SM, so this is at least 1.
        self.is_asked[head].then(|| (self.limit + 1).saturating_sub(self.needs[head]).max(1))
    }
}

/// A head h that is kept out on one SM: at least `t_h` units of a resource are taken there, which have to weigh the
/// share of one of its SMs.
struct Constraint {
    resource: usize,
    /// `t_h`.
    threshold: u64,
    /// 1 / `S_h`.
    share: u64,
}

impl<'a> Weights<'a> {
    pub(in crate::analysis) fn new(device: &Device, classes: &'a [Class]) -> Self {
        let file = RegisterFile::of(device);
        let needs = || classes.iter().map(|class| &class.needs);
        let kinds = kinds_of_warps(needs()).into_iter().map(|kind| (kind, u64::from(file.places(kind))));
        let kinds = Some(kinds.collect::<Vec<_>>()).filter(|kinds| kinds.len() > 1).unwrap_or_default();
        Self { limits: pool(device, 1, needs()), sms: u64::from(device.sms), classes, kinds }
    }

    /// Of SMs that hold one block each, which needs 1 of everything.
    pub(super) fn of_places(sms: u32, classes: &'a [Class]) -> Self {
        Self { limits: [1; 4], sms: u64::from(sms), classes, kinds: Vec::new() }
    }

    /// Weights for the classes in `order`, lowered one by one in that order, against the heads of the classes marked
    /// in `heads`. `blocks` says how many blocks of each class there are. Other classes get the weight 0.
    pub(in crate::analysis) fn lowered(&self, order: &[usize], heads: &[bool], blocks: &[u64]) -> Vec<u64> {
        let resources = self.resources(order);
        let constraints = self.constraints(&resources, order, heads);
        let mut weights = vec![0; self.classes.len()];
        for &class in order {
            weights[class] = sufficient(class, &resources, &constraints);
        }
        if order.len() <= MOST_CLASSES {
            for &class in order {
                weights[class] = least(class, order, &weights, &resources, &constraints, blocks[class]);
            }
        }
        weights
    }

    /// How many SMs blocks of a class may use.
    pub(in crate::analysis) fn allowed(&self, class: usize) -> u64 {
        self.classes[class].allowed.max(1)
    }

    /// How many blocks of a class an empty GPU holds, at least 1.
    pub(in crate::analysis) fn resident(&self, class: usize) -> u64 {
        let Class { needs, .. } = self.classes[class];
        let of = |(limit, need): (u64, u64)| limit.checked_div(need);
        let places = self.kinds.iter().find(|(kind, _)| *kind == registers_per_warp(&needs)).map(|(_, places)| *places);
        let by_registers = places.and_then(|places| places.checked_div(needs[0]));
        let per_sm = self.limits.into_iter().zip(needs).filter_map(of).chain(by_registers).min().unwrap_or(1);
        (per_sm * self.allowed(class)).max(1)
    }

    /// Whether one block of either class surely keeps one of the other out of an SM.
    pub(in crate::analysis) fn exclude_each_other(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.classes[one].needs, &self.classes[other].needs);
        // Of the places for warps of a kind, others take as many as their registers are without a rest, at best.
        let of_kind = |needs: &Pool, kind: u32| needs[0] * u64::from(registers_per_warp(needs) / kind);
        let by_kind = self.kinds.iter().map(|&(kind, places)| (places, (of_kind(one, kind), of_kind(other, kind))));
        let by_amount = self.limits.into_iter().zip(one.iter().copied().zip(other.iter().copied()));
        by_amount.chain(by_kind).any(|(limit, (one, other))| one > 0 && other > 0 && one + other > limit)
    }

    /// Whether so many blocks of these classes can be on the GPU at once, as far as the resources of all SMs together
    /// tell.
    pub(super) fn may_be_together(&self, blocks: impl Iterator<Item = (usize, u64)>) -> bool {
        let mut taken = Pool::default();
        for (class, blocks) in blocks {
            for (taken, need) in taken.iter_mut().zip(self.classes[class].needs) {
                *taken = taken.saturating_add(need.saturating_mul(blocks));
            }
        }
        let has_room = |(taken, limit): (&u64, &u64)| *taken <= limit.saturating_mul(self.sms);
        taken.iter().zip(&self.limits).all(has_room)
    }

    pub(super) fn resources(&self, order: &[usize]) -> Vec<Resource> {
        let resource = |units: u64, limit: u64, needs: &dyn Fn(&Pool) -> u64, is_asked: &dyn Fn(&Pool) -> bool| {
            let of_class = |class: &Class| needs(&class.needs);
            let unit = order.iter().map(|&class| of_class(&self.classes[class])).fold(0, gcd);
            let in_units = |amount: u64| amount.checked_div(unit).unwrap_or(0);
            Resource {
                units: in_units(units),
                limit: in_units(limit),
                needs: self.classes.iter().map(|class| in_units(of_class(class))).collect(),
                is_asked: self.classes.iter().map(|class| is_asked(&class.needs)).collect(),
            }
        };
        // Registers are the last of the amounts.
        let amounts = self.limits.len() - usize::from(!self.kinds.is_empty());
        let amounts = (0..amounts).map(|index| {
            resource(self.limits[index], self.limits[index], &|needs| needs[index], &|needs| needs[index] > 0)
        });
        let kinds = self.kinds.iter().map(|&(kind, places)| {
            let needs = |needs: &Pool| needs[0] * u64::from(registers_per_warp(needs).div_ceil(kind));
            // Whole pieces of this size are no more than all registers have; each warp spoils one more.
            let units = self.limits[3] / u64::from(kind) + self.limits[0];
            resource(units.max(places), places, &needs, &|needs| registers_per_warp(needs) == kind)
        });
        amounts.chain(kinds).collect()
    }

    fn constraints(&self, resources: &[Resource], order: &[usize], heads: &[bool]) -> Vec<Constraint> {
        let mut constraints: Vec<Constraint> = Vec::new();
        for &head in order.iter().filter(|&&head| heads[head]) {
            // Cannot be zero: a mask that leaves no SM is refused.
            let share = ONE.div_ceil(self.classes[head].allowed.max(1));
            for (index, resource) in resources.iter().enumerate() {
                let threshold = resource.threshold(head);
                constraints.extend(threshold.map(|threshold| Constraint { resource: index, threshold, share }));
            }
        }
        constraints
    }
}

/// `v_j` = max over heads h and resources of `n_j` / (`S_h` `t_h`), or the largest 1 / `S_h` if that is less: enough
/// whatever the others are, if they are chosen by this too.
fn sufficient(class: usize, resources: &[Resource], constraints: &[Constraint]) -> u64 {
    let of = |constraint: &Constraint| {
        let need = resources[constraint.resource].needs[class];
        let part = (u128::from(constraint.share) * u128::from(need)).div_ceil(u128::from(constraint.threshold));
        u64::try_from(part).or_most()
    };
    let whole = constraints.iter().map(|constraint| constraint.share).max().unwrap_or(0);
    constraints.iter().map(of).max().unwrap_or(0).min(whole)
}

/// The least weight of `class` that keeps the condition while all other weights stay as they are.
fn least(
    class: usize,
    order: &[usize],
    weights: &[u64],
    resources: &[Resource],
    constraints: &[Constraint],
    blocks: u64,
) -> u64 {
    let others: Vec<usize> = order.iter().copied().filter(|&other| other != class).collect();
    let mut least = 0;
    for (index, resource) in resources.iter().enumerate() {
        let need = resource.needs[class];
        if need == 0 || constraints.iter().all(|constraint| constraint.resource != index) {
            continue;
        }
        if resource.units > MOST_UNITS {
            return weights[class];
        }
        let cheapest = cheapest_sums(resource, &others, weights);
        for constraint in constraints.iter().filter(|constraint| constraint.resource == index) {
            let most = (resource.units / need).min(blocks);
            count_steps(index_of(most * constraint.threshold));
            for count in 1..=most {
                let own = count * need;
                let from = constraint.threshold.saturating_sub(own);
                let cheapest_others = (from..=resource.units - own).filter_map(|sum| cheapest[index_of(sum)]).min();
                let missing = cheapest_others.map_or(0, |others| constraint.share.saturating_sub(others));
                least = least.max(missing.div_ceil(count));
            }
        }
    }
    least.min(weights[class])
}

/// By sum: the least weight of blocks of the given classes that take exactly that many units of a resource.
fn cheapest_sums(resource: &Resource, classes: &[usize], weights: &[u64]) -> Vec<Option<u64>> {
    let mut cheapest: Vec<Option<u64>> = vec![None; index_of(resource.units) + 1];
    count_steps(cheapest.len() * classes.len());
    cheapest[0] = Some(0);
    for sum in 1..cheapest.len() {
        let with = |class: usize| {
            let need = index_of(resource.needs[class]);
            let rest = sum.checked_sub(need).filter(|_| need > 0)?;
            cheapest[rest]?.checked_add(weights[class])
        };
        cheapest[sum] = classes.iter().copied().filter_map(with).min();
    }
    cheapest
}

fn index_of(units: u64) -> usize {
    usize::try_from(units).proven("at most `MOST_UNITS` where they are used as an index")
}

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
///
/// What kernels of lower priorities can add to the waits of a chain: `docs/analysis.md`, "Lower priorities in the
/// waits".
///
/// While a kernel of the chain waits, no block of a lower priority is assigned. So of each lower stream, blocks of one
/// kernel at most run in a wait, those that ran when it began; and no block runs in more waits than its length allows.
#[derive(Debug, Default)]
pub(in crate::analysis) struct LowerInWaits {
    streams: Vec<(usize, Vec<Slot>)>,
}

impl LowerInWaits {
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

    /// As [`Self::most`], of blocks that run `less` ns less. For every price this is a safe sum: the price for each
    /// wait and, of each stream, as many values as there are waits, the largest ones, of weight times what the block
    /// takes longer than the price. The smallest of these sums is given.
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

    fn tx2() -> Device {
        Device::builtin("tx2").unwrap().unwrap()
    }

    fn class(warps: u64) -> Class {
        Class { needs: [warps, 1, 0, 0], allowed: 2 }
    }

    #[test]
    fn equal_blocks_weigh_one_place_each() {
        let classes = [class(16)];
        let device = tx2();
        let weights = Weights::new(&device, &classes);
        assert_eq!(weights.lowered(&[0], &[true], &[100]), [ONE / 8]);
    }

    #[test]
    fn a_large_head_is_kept_out_by_little() {
        // 1024 threads are kept out of an SM by 3 blocks of 512, or by one of 1024 and one of 512.
        let classes = [class(16), class(32)];
        let device = tx2();
        let weights = Weights::new(&device, &classes);
        let chosen = weights.lowered(&[0, 1], &[true, true], &[100, 100]);
        let (small, large) = (chosen[0], chosen[1]);
        for (smalls, larges) in [(3, 0), (1, 1), (0, 2)] {
            assert!(smalls * small + larges * large >= ONE / 2, "{smalls} and {larges}: {chosen:?}");
        }
        assert!(small <= ONE.div_ceil(6));
    }

    const HALF: u64 = ONE / 2;

    fn lower_in_waits(kernels: &[(usize, u64, u64, u64, u64)]) -> LowerInWaits {
        let mut lower = LowerInWaits::default();
        for &(stream, blocks, time, weight, resident) in kernels {
            lower.add(stream, (blocks, time, weight), resident, 1);
        }
        lower
    }

    #[test]
    fn a_kernel_is_in_no_more_waits_than_it_has_blocks_for() {
        // Two blocks fill the GPU: two waves of 10 ns, then one of 4 ns.
        let lower = lower_in_waits(&[(0, 4, 10, HALF, 2), (0, 2, 4, HALF, 2)]);
        let most = [0, 1, 2, 3, 5].map(|waits| lower.most(waits, false));
        assert_eq!(most, [0, 10, 20, 24, 24].map(|ns| ns * u128::from(ONE)));
    }

    #[test]
    fn two_streams_share_what_a_wait_has() {
        // Half a wait of 20 ns, and the other half of the other stream's 10 ns.
        let lower = lower_in_waits(&[(0, 4, 10, HALF, 2), (1, 1, 20, HALF, 2)]);
        assert_eq!([1, 2].map(|waits| lower.most(waits, false)), [15, 25].map(|ns| ns * u128::from(ONE)));
        // What ran at a launch began before it.
        assert_eq!(lower.most(1, true), 14 * u128::from(ONE));
    }

    #[test]
    fn of_a_stream_that_may_be_overloaded_every_wait_has_the_longest() {
        let mut lower = LowerInWaits::default();
        lower.add(0, (2, 10, HALF), 2, u64::MAX);
        assert_eq!(lower.most(7, false), 70 * u128::from(ONE));
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
            let mut lower = LowerInWaits::default();
            for &(stream, blocks, time, resident) in &kernels {
                lower.add(stream, (blocks, time, ONE / 4), resident, 1);
            }
            let mut left: Vec<u64> = kernels.iter().map(|kernel| kernel.1).collect();
            let tried = tried(&kernels, &mut left, waits);
            prop_assert!(lower.most(waits, false) >= u128::from(tried) * u128::from(ONE / 4));
            let up_to: Vec<u128> = (0..=waits).map(|waits| lower.most(waits, false)).collect();
            prop_assert_eq!(lower.up_to(up_to.len() - 1), up_to);
        }
    }
}
