//! How much longer a task may take until a test no longer proves its set.

use super::segment_task_set::{GpuSegment, SegmentTask, SegmentTaskSet, TaskSegment};
use super::segment_test::SegmentTest;
use crate::effort;
use crate::limits::count_turn;
use crate::time::Duration;

/// Growth of a task is counted in these parts of its time.
const PARTS: u128 = 100_000;

impl SegmentTest {
    /// The slack of each task: how much longer a job of it may take, all its segments longer in one proportion, while
    /// the others stay as they are and the test still proves that all meet their deadlines. Found by bisection, to a
    /// hundred-thousandth of C + G.
    ///
    /// That the set is proven with the longer task is what makes it safe: bounds hold for jobs that take less, so no
    /// growth up to it makes a job late. It need not be the most where a larger one passes after a smaller one failed.
    ///
    /// `None` of best-effort tasks, and of all where the test proves nothing of the set as it is, or nothing at all.
    /// What is stopped by [`effort`] is not found.
    pub fn slack(self, set: &SegmentTaskSet) -> Vec<Option<Duration>> {
        let proves = |set: &SegmentTaskSet| self.proves(&self.bounds(set));
        if !proves(set) {
            return vec![None; set.tasks.len()];
        }
        let mut longer = set.clone();
        let mut of_task = |number: usize, task: &SegmentTask| {
            task.priority?;
            let mut passes = |growth: u128| {
                longer.tasks[number] = grown(task, growth)?;
                Some(effort::check().is_ok() && proves(&longer))
            };
            let room = u128::from(task.deadline.as_ns()).checked_sub(task.alone_ns())?;
            let (mut low, mut high) = (0, (room * PARTS).checked_div(task.alone_ns())?);
            while low < high {
                count_turn();
                let middle = low + (high - low).div_ceil(2);
                if passes(middle)? { low = middle } else { high = middle - 1 }
            }
            longer.tasks[number] = task.clone();
            effort::check().ok()?;
            // Each segment was rounded up; what all of them are together is rounded down.
            u64::try_from(task.alone_ns() * low / PARTS).ok().map(Duration::from_ns)
        };
        set.tasks.iter().enumerate().map(|(number, task)| of_task(number, task)).collect()
    }
}

/// A task with all its segments longer by so many parts of them; `None` past the longest time there is.
fn grown(task: &SegmentTask, growth: u128) -> Option<SegmentTask> {
    let longer = |time: Duration| {
        let more = (u128::from(time.as_ns()) * growth).div_ceil(PARTS);
        time.checked_add(Duration::from_ns(u64::try_from(more).ok()?))
    };
    let segments = task.segments.iter().map(|segment| {
        Some(match *segment {
            TaskSegment::Cpu(time) => TaskSegment::Cpu(longer(time)?),
            TaskSegment::Gpu(GpuSegment { misc, exec }) => {
                TaskSegment::Gpu(GpuSegment { misc: longer(misc)?, exec: longer(exec)? })
            }
        })
    });
    Some(SegmentTask { segments: segments.collect::<Option<_>>()?, ..task.clone() })
}
