//! Weights of blocks such that whatever keeps a head out weighs at least 1.
//!
//! Fixed point, always rounded up: larger weights keep the condition, so the bound stays a bound.

use crate::analysis::pool::{Pool, pool};
use crate::device::Device;
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
}

/// One resource of an SM, counted in the largest unit of which all blocks take whole numbers.
#[derive(Debug)]
pub(super) struct Resource {
    /// What an SM has of it.
    pub(super) units: u64,
    /// By class.
    pub(super) needs: Vec<u64>,
}

/// A head that is kept out on one SM: at least `threshold` units of a resource are taken there, and its share of the
/// weight 1 is what one of its SMs has to weigh.
struct Constraint {
    resource: usize,
    threshold: u64,
    share: u64,
}

impl<'a> Weights<'a> {
    pub(in crate::analysis) fn new(device: &Device, classes: &'a [Class]) -> Self {
        Self { limits: pool(device, 1), sms: u64::from(device.sms), classes }
    }

    /// Of SMs that hold one block each, which needs 1 of everything.
    pub(super) fn of_places(sms: u32, classes: &'a [Class]) -> Self {
        Self { limits: [1; 4], sms: u64::from(sms), classes }
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
        let per_sm = self.limits.into_iter().zip(needs).filter_map(of).min().unwrap_or(1);
        (per_sm * self.allowed(class)).max(1)
    }

    /// Whether one block of either class keeps one of the other out of an SM.
    pub(in crate::analysis) fn exclude_each_other(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.classes[one].needs, &self.classes[other].needs);
        self.limits
            .iter()
            .zip(one.iter().zip(other))
            .any(|(limit, (one, other))| *one > 0 && *other > 0 && one + other > *limit)
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
        let resource = |index: usize| {
            let unit = order.iter().map(|&class| self.classes[class].needs[index]).fold(0, gcd);
            let needs = self.classes.iter().map(|class| class.needs[index].checked_div(unit).unwrap_or(0)).collect();
            Resource { units: self.limits[index].checked_div(unit).unwrap_or(0), needs }
        };
        (0..self.limits.len()).map(resource).collect()
    }

    fn constraints(&self, resources: &[Resource], order: &[usize], heads: &[bool]) -> Vec<Constraint> {
        let mut constraints: Vec<Constraint> = Vec::new();
        for &head in order.iter().filter(|&&head| heads[head]) {
            // Cannot be zero: a mask that leaves no SM is refused.
            let share = ONE.div_ceil(self.classes[head].allowed.max(1));
            for (index, resource) in resources.iter().enumerate().filter(|(_, resource)| resource.needs[head] > 0) {
                // It fits on an empty SM, so this is at least 1.
                let threshold = (resource.units + 1).saturating_sub(resource.needs[head]).max(1);
                constraints.push(Constraint { resource: index, threshold, share });
            }
        }
        constraints
    }
}

/// A weight that is enough whatever the others are, if they are chosen by this too: each block's part of the
/// threshold, times the share; and a whole share is always enough.
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

pub(in crate::analysis) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
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
}
