//! What RTNS 2020 prints of Table 1, Examples 2 to 4 and Theorem 5.

use super::super::made::Failure;
use super::worked::{COUNTEREXAMPLES, TAU_1, TauChunk, chunks_of_tau_1, run_of_figure_2, table_1};
use crate::device::Device;
use crate::printed::{Printed, Value};
use crate::tasks::{Allocation, Reservation, ReservationTest, Reservations, TaskTime, Timing, chunks, hyperperiod};

fn units(time: TaskTime) -> Value {
    Value::Number(time.as_f64(), "")
}

fn number(number: u32) -> Value {
    Value::from(number)
}

/// Of each task of Table 1: C, D = T, and its cores.
const TABLE_1: [(u32, u32, &str); 4] = [(3, 10, "1"), (5, 15, "1"), (4, 12, "1 & 2"), (1, 10, "2")];

fn cores(allocation: Allocation) -> String {
    match allocation {
        Allocation::Sm(sm) => (sm + 1).to_string(),
        Allocation::All => "1 & 2".to_owned(),
    }
}

fn tuple(reservation: Reservation) -> String {
    let Reservation { offset, budget, period } = reservation;
    format!("({offset}, {budget}, {period})")
}

pub(super) fn table_1_and_example_2() -> Result<Vec<Printed>, Failure> {
    let device = Device::builtin("tx2")?.ok_or("the TX2 is not built in")?;
    let set = table_1(&device)?;
    let mut values = Vec::new();
    for (row, (task, (wcet, period, alloc))) in (1..).zip(set.tasks.iter().zip(TABLE_1)) {
        let place = format!("Table 1, row {row}");
        let Timing { wcet: c, deadline: d, period: t } = task.timing;
        values.extend([
            Printed::new(&*place, format!("C_{row}"), number(wcet), units(c)),
            Printed::new(&*place, format!("D_{row}"), number(period), units(d)),
            Printed::new(&*place, format!("T_{row}"), number(period), units(t)),
            Printed::new(place, format!("alloc of tau{row}"), alloc, cores(task.allocation)),
        ]);
    }
    let Reservations { single, all } = set.reservations.ok_or("Example 2 has reservations")?;
    let run = run_of_figure_2(&set, device)?;
    let jobs = |task: u32| run.jobs.iter().filter(move |job| job.task == task);
    let mut late = Vec::new();
    for job in run.jobs.iter().filter(|job| job.is_late()) {
        let is_last = jobs(job.task).all(|other| other.number <= job.number);
        let which = if is_last { "the last".to_owned() } else { format!("number {}", job.number + 1) };
        late.push(format!("{which} of {}", set.tasks[job.task as usize].name));
    }
    values.extend([
        Printed::new("Example 2", "R^L", "(0, 8, 12)", tuple(single)),
        Printed::new("Example 2", "R^B", "(8, 4, 12)", tuple(all)),
        Printed::new("Example 2, last sentence", "instances that miss", "the last of tau1", late.join(", ")),
    ]);
    Ok(values)
}

fn chunk(chunks: &[TauChunk], number: usize) -> Result<&TauChunk, Failure> {
    Ok(chunks.iter().find(|chunk| chunk.number == number).ok_or("tau1 has as many chunks")?)
}

pub(super) fn examples_3_and_4() -> Result<Vec<Printed>, Failure> {
    let reservation = Reservation::new(0, 8, 12);
    let end = hyperperiod([TAU_1.period, reservation.period]).ok_or("the hyperperiod is short")?;
    let chunks = chunks_of_tau_1(reservation, end);
    let length = |number: usize| chunk(&chunks, number).map(|chunk| units(chunk.end - chunk.start));
    let of_job = |job: u64| -> Vec<String> {
        chunks.iter().filter(|chunk| chunk.job == job).map(|chunk| format!("v{}", chunk.number)).collect()
    };
    let eliminated: Vec<String> =
        chunks.iter().filter(|chunk| !chunk.is_kept).map(|chunk| format!("v{}", chunk.number)).collect();
    let apart = chunk(&chunks, 2)?.start - chunk(&chunks, 1)?.start;
    Ok(vec![
        Printed::new("Example 3", "execution time of v1", 3_u32, units(TAU_1.wcet)),
        Printed::new("Example 3", "deadline of v1", 8_u32, length(1)?),
        Printed::new("Example 3", "from v1 to v2", 12_u32, units(apart)),
        Printed::new("Example 3", "deadline of v2", 8_u32, length(2)?),
        Printed::new("Example 3", "chunks of the fourth job", "v4, v5", of_job(4).join(", ")),
        Printed::new("Example 3", "deadline of v4", 2_u32, length(4)?),
        Printed::new("Example 3", "deadline of v5", 4_u32, length(5)?),
        Printed::new("Example 4", "eliminated", "v4, v7", eliminated.join(", ")),
    ])
}

pub(super) fn theorem_5() -> Result<Vec<Printed>, Failure> {
    let mut values = Vec::new();
    let triple = |task: Timing| format!("({}, {}, {})", task.wcet, task.deadline, task.period);
    for (example, which) in COUNTEREXAMPLES.iter().zip(["first", "second"]) {
        let place = format!("Theorem 5, {which} example");
        for (test, theorem, printed) in [(ReservationTest::Sbf, 3, true), (ReservationTest::Chunks, 4, false)] {
            let passes = test.apply(&example.tasks, example.reservation).is_yes();
            values.push(Printed::new(&*place, format!("schedulable according to Theorem {theorem}"), printed, passes));
        }
    }
    let [left, _] = &COUNTEREXAMPLES;
    for (number, (task, printed)) in (1..).zip(left.tasks.iter().zip(["(4, 5, 10)", "(6, 16, 20)"])) {
        let converted = chunks::converted(task, left.reservation).map_err(|_| "both have a chunk in each job")?;
        let what = format!("tau{number} converted: (C, D, T)");
        values.push(Printed::new("Theorem 5, first example", what, printed, triple(converted)));
    }
    Ok(values)
}
