//! What no schedule gives: tasks that miss their deadlines by any policy, as more is asked for than there is.

use super::segment_task_set::{GpuWait, SegmentTask, SegmentTaskSet};
use super::segment_test::GpuPolicy;
use super::task_bound::TaskBound;

/// Which tasks of a set, or which of its resources, are asked for too much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Overload {
    /// By task: why jobs miss their deadline, if that is known of this task.
    pub(crate) tasks: Vec<Option<&'static str>>,
    /// Why some task misses its deadline, of which it is not told which.
    pub(crate) some: Option<String>,
}

impl Overload {
    /// Of a set whose tasks share the GPU by a policy, wait for it in this way, and have these bounds by a sound test.
    pub(crate) fn of(set: &SegmentTaskSet, policy: GpuPolicy, waiting: GpuWait, bounds: &[TaskBound]) -> Self {
        let mut overload = Self { tasks: vec![None; set.tasks.len()], some: None };
        for (task, missed) in set.tasks.iter().zip(&mut overload.tasks) {
            if task.priority.is_some() && task.alone_ns() > u128::from(task.deadline.as_ns()) {
                *missed = Some("C + G exceeds the deadline");
            }
        }
        for cpu in 0..set.cpus {
            overload.look_at_core(set, (policy, waiting), (cpu, bounds));
        }
        let promised = || set.tasks.iter().filter(|task| task.priority.is_some());
        if promised().map(|task| share(task, task.exec_ns())).sum::<u128>() > ONE {
            overload
                .some
                .get_or_insert_with(|| "the GPU is asked for more than it has (utilization above 1)".to_owned());
        }
        overload
    }

    /// Whether some task is known to miss its deadline, whichever it is.
    pub(crate) fn is_certain(&self) -> bool {
        self.some.is_some() || self.tasks.iter().any(Option::is_some)
    }

    /// The tasks of a core from the most urgent down to the first with which they ask for more than the core has. If
    /// those above it get what they ask for, it does not.
    fn look_at_core(
        &mut self,
        set: &SegmentTaskSet,
        (policy, waiting): (GpuPolicy, GpuWait),
        (cpu, bounds): (u32, &[TaskBound]),
    ) {
        // Who has a lock is above all others of its core. Without one the GPU works on for a task that asks for it when
        // a more urgent one takes its core; only the most urgent keeps the core until the GPU is done.
        let has_lock = matches!(policy, GpuPolicy::Mpcp | GpuPolicy::FmlpPlus);
        let mut keeps_core = waiting == GpuWait::Busy;
        let of_core = set.by_urgency().into_iter().filter(|&task| set.tasks[task].cpu == cpu);
        let (mut sum, mut above_get_theirs) = (0_u128, true);
        for number in of_core {
            let task = &set.tasks[number];
            let busy = if keeps_core { task.exec_ns() } else { 0 };
            keeps_core &= has_lock;
            sum = sum.saturating_add(share(task, task.cpu_ns() + task.misc_ns() + busy));
            if sum > ONE {
                if above_get_theirs {
                    self.tasks[number].get_or_insert("its core is asked for more than it has (utilization above 1)");
                } else {
                    let why = || format!("core {cpu} is asked for more than it has (utilization above 1)");
                    self.some.get_or_insert_with(why);
                }
                return;
            }
            // What never waits for the GPU, and what is done within its deadline, gets all that it asks for.
            above_get_theirs &= !task.uses_gpu() || bounds.get(number).is_some_and(|bound| bound.bound().is_some());
        }
    }
}

/// The whole of a core.
const ONE: u128 = 1 << 64;

/// The share of a core that `ns` in each period are, rounded down, so that a sum above [`ONE`] is one.
fn share(task: &SegmentTask, ns: u128) -> u128 {
    (ns.min(1 << 63) << 64) / u128::from(task.period.as_ns().max(1))
}
