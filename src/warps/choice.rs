//! Which warps a work-conserving scheduler may pick in a cycle.

use super::histogram::Histogram;
use super::kernel_string::KernelString;
use super::pick::Pick;

/// Calls `found` with every selection that a work-conserving scheduler may make for one unit: all warps that hold it,
/// and as many of the others that are ready for it as it has room for. Nothing is found where nobody is ready.
pub(super) fn for_each_choice(
    string: &KernelString,
    histogram: &Histogram,
    unit: usize,
    found: &mut impl FnMut(&[Pick]),
) {
    let mut picks = Vec::new();
    let (mut waiting, mut room) = (Vec::new(), string.units()[unit].capacity);
    let mut waiting_warps = 0_u32;
    for (step, ready) in ready_steps(string, histogram, unit) {
        if string.steps()[step].held {
            picks.push(Pick { step, warps: ready });
            // More holders than places is a histogram that no schedule reaches; whatever it gives is never used.
            room = room.saturating_sub(ready);
        } else {
            waiting.push(Pick { step, warps: ready });
            waiting_warps += ready;
        }
    }
    let take = room.min(waiting_warps);
    if take > 0 || !picks.is_empty() {
        compositions(&waiting, waiting_warps, take, &mut picks, found);
    }
}

/// The steps on `unit` for which warps are ready, and how many are.
fn ready_steps(string: &KernelString, histogram: &Histogram, unit: usize) -> impl Iterator<Item = (usize, u32)> {
    let on_unit = (0..).zip(string.steps()).filter(move |(_, step)| step.unit == unit);
    on_unit.map(|(step, _)| (step, histogram.ready(step))).filter(|&(_, ready)| ready > 0)
}

/// All ways to take `take` of the waiting warps, who are `total`, appended to what `picks` holds already.
fn compositions(waiting: &[Pick], total: u32, take: u32, picks: &mut Vec<Pick>, found: &mut impl FnMut(&[Pick])) {
    let Some((first, rest)) = waiting.split_first().filter(|_| take > 0) else {
        found(picks);
        return;
    };
    let behind = total - first.warps;
    for warps in take.saturating_sub(behind)..=take.min(first.warps) {
        if warps > 0 {
            picks.push(Pick { step: first.step, warps });
        }
        compositions(rest, behind, take - warps, picks, found);
        if warps > 0 {
            picks.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Unit;
    use super::*;

    fn choices(text: &str, capacity: &str, left: &[u32]) -> Vec<Vec<(usize, u32)>> {
        let units = [Unit { sigma: capacity.parse().unwrap(), ..Unit::new('L') }, Unit::new('C')];
        let string = KernelString::parse(text, &units).unwrap();
        let mut all = Vec::new();
        for_each_choice(&string, &Histogram(left.to_vec()), 0, &mut |picks| {
            all.push(picks.iter().map(|pick| (pick.step, pick.warps)).collect());
        });
        all
    }

    #[test]
    fn a_unit_is_filled_as_far_as_warps_are_ready() {
        // One warp is ready for step 0, two for step 2.
        assert_eq!(choices("LCL", "1", &[1, 1, 3]), [vec![(2, 1)], vec![(0, 1)]]);
        assert_eq!(choices("LCL", "2", &[1, 1, 3]), [vec![(2, 2)], vec![(0, 1), (2, 1)]]);
        assert_eq!(choices("LCL", "4", &[1, 1, 3]), [vec![(0, 1), (2, 2)]]);
        assert_eq!(choices("LCL", "1", &[0, 3, 3]), Vec::<Vec<_>>::new());
    }
}
