//! Jobs of a task against a reservation (RTNS 2020, Algorithm 1).

use super::hyperperiod::hyperperiod;
use super::reservation::Reservation;
use super::task_set::Timing;
use super::task_time::TaskTime;
use crate::limits::{count_turn, end_if_stopped};

/// Part of one instance of a reservation that lies between release and deadline of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) start: TaskTime,
    pub(super) end: TaskTime,
}

impl Chunk {
    pub(super) fn length(self) -> TaskTime {
        self.end - self.start
    }
}

/// A job with its release and absolute deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) release: TaskTime,
    pub(super) deadline: TaskTime,
}

impl Job {
    pub(super) fn chunks(self, reservation: Reservation) -> impl Iterator<Item = Chunk> {
        let served = reservation.served(self.release, self.deadline).inspect(|_| count_turn());
        served.map(|(start, end)| Chunk { start, end })
    }
}

/// After what time releases of a task and the reservation repeat; `None` if that does not fit 62 bits.
pub(super) fn cycle(task: &Timing, reservation: Reservation) -> Option<TaskTime> {
    hyperperiod([task.period, reservation.period])
}

/// The jobs of a synchronous periodic task that are released in [0, `end`).
pub(super) fn jobs(task: &Timing, end: TaskTime) -> impl Iterator<Item = Job> + use<> {
    let Timing { period, deadline, .. } = *task;
    let job = move |job| Job { release: job * period, deadline: job * period + deadline };
    (0..end.div_ceil(period)).inspect(|_| end_if_stopped()).map(job)
}
