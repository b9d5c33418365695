//! The worked examples of RTNS 2020, drawn and beside what is printed of them: Table 1 with Figs. 2 to 4, and the
//! counterexamples of Theorem 5.

use std::fmt::Write;

use super::super::made::{Failure, File, Made, tx2};
use crate::device::Device;
use crate::draw::PictureOptions;
use crate::effort::Progress;
use crate::formats::{Column, csv_of, csv_text};
use crate::hosts::{Policy, RunOptions, Strategy, TaskRun, run_tasks};
use crate::pictures::task_gantt::gantt;
use crate::pictures::{Vertex, chunk_cycle, demand_plot};
use crate::printed::{Printed, Value};
use crate::tables::TaskRunReport;
use crate::tasks::{
    Allocation, Reservation, ReservationTest, Reservations, TaskSet, TaskTime, TaskVerdict, Timing, chunks, hyperperiod,
};

const TAU_1: Timing = Timing::new(3, 10, 10);

/// Table 1 with the reservations of Example 2.
pub(super) fn table_1(device: &Device) -> Result<TaskSet, Failure> {
    let text = include_str!("../../../witnesses/rtns2020/table-1.json");
    Ok(TaskSet::from_json("witnesses/rtns2020/table-1.json", text, device)?)
}

fn run_of_figure_2(set: &TaskSet, device: Device) -> Result<TaskRun, Failure> {
    let options = RunOptions {
        strategy: Strategy::Gang,
        policy: Policy::Edf,
        horizon: None,
        seed: 0,
        synchronization: TaskTime::ZERO,
        device,
    };
    Ok(run_tasks(set, &options, Progress::NONE)?)
}

pub(super) fn figure_2(name: &'static str) -> Result<Made, Failure> {
    let device = tx2()?;
    let threads_per_sm = device.per_sm.threads;
    let set = table_1(&device)?;
    let run = run_of_figure_2(&set, device)?;
    let end = run.horizon.max(run.trace.end().into());
    let untitled = PictureOptions { title: false, ..PictureOptions::default() };
    let picture = gantt(&set, &run, set.reservations, end, threads_per_sm, untitled)
        .map_err(|drawn| format!("{drawn} jobs and launches are too many to draw"))?;
    let report = TaskRunReport { set: &set, run: &run, strategy: "gang", policy: "edf" };
    let late: Vec<String> = run
        .jobs
        .iter()
        .filter(|job| job.is_late())
        .map(|job| {
            let finish = job.finish.map_or_else(|| "never".to_owned(), |finish| format!("at {finish}"));
            let task = &set.tasks[job.task as usize].name;
            format!(
                "job {} of {task}, released at {}, deadline {}, done {finish}",
                job.number + 1,
                job.release,
                job.deadline
            )
        })
        .collect();
    let finding = format!(
        "On the simulated GPU, {} of {} jobs released in [0, {}) miss their deadlines: {}.",
        late.len(),
        run.jobs.len(),
        run.horizon,
        late.join("; ")
    );
    Ok(Made::of(name, &picture, csv_of(&report), finding))
}

/// A chunk of tau1: its number, its job, from when to when it lasts, and whether Definition 1 keeps it.
pub(super) struct TauChunk {
    pub(super) number: usize,
    pub(super) job: u64,
    pub(super) start: TaskTime,
    pub(super) end: TaskTime,
    pub(super) is_kept: bool,
    /// Whether its job has no other.
    is_whole: bool,
}

/// All chunks of tau1 in a hyperperiod.
fn chunks_of_tau_1(reservation: Reservation, end: TaskTime) -> Vec<TauChunk> {
    let mut found = Vec::new();
    for job in 1..=end / TAU_1.period {
        let release = (job - 1) * TAU_1.period;
        let parts: Vec<(TaskTime, TaskTime)> = reservation.served(release, release + TAU_1.deadline).collect();
        // Definition 1: the longest; the earliest of equal ones.
        let longest = parts.iter().map(|&(start, end)| end - start).max();
        let kept = parts.iter().position(|&(start, end)| Some(end - start) == longest);
        let is_whole = parts.len() == 1;
        for (index, (start, end)) in parts.into_iter().enumerate() {
            let number = found.len() + 1;
            found.push(TauChunk { number, job, start, end, is_kept: kept == Some(index), is_whole });
        }
    }
    found
}

/// The chunks that Definition 1 does not keep.
fn eliminated(chunks: &[TauChunk]) -> Vec<String> {
    chunks.iter().filter(|chunk| !chunk.is_kept).map(|chunk| format!("v{}", chunk.number)).collect()
}

/// Vertices with the distances between them, round the end of the hyperperiod.
fn vertices(chunks: &[&TauChunk], cycle: TaskTime, wcet: impl Fn(&TauChunk) -> String) -> Vec<Vertex> {
    let starts = chunks.iter().map(|chunk| chunk.start);
    let next = starts.clone().skip(1).chain(starts.take(1).map(|first| first + cycle));
    let vertex = |(chunk, next): (&&TauChunk, TaskTime)| Vertex {
        name: format!("v{}", chunk.number),
        wcet: wcet(chunk),
        deadline: chunk.end - chunk.start,
        to_next: next - chunk.start,
    };
    chunks.iter().zip(next).map(vertex).collect()
}

pub(super) fn figures_3_and_4(name: &'static str) -> Result<Made, Failure> {
    let reservation = Reservations::split(12, 8).single;
    let end = hyperperiod([TAU_1.period, reservation.period]).ok_or("the hyperperiod is short")?;
    let chunks_found = chunks_of_tau_1(reservation, end);
    let columns = [
        Column::data("chunk", |chunk: &&TauChunk| format!("v{}", chunk.number).into()),
        Column::data("job", |chunk| chunk.job.into()),
        Column::data("start", |chunk| chunk.start.into()),
        Column::data("end", |chunk| chunk.end.into()),
        Column::data("length", |chunk| (chunk.end - chunk.start).into()),
        Column::data("kept", |chunk| chunk.is_kept.into()),
    ];
    let csv = csv_text(&columns, &chunks_found);
    let all: Vec<&TauChunk> = chunks_found.iter().collect();
    let kept: Vec<&TauChunk> = chunks_found.iter().filter(|chunk| chunk.is_kept).collect();
    // How a job's C is divided among its chunks is not known; Definition 1 gives all of it to the one that is kept.
    let of_part = |chunk: &TauChunk| {
        if chunk.is_whole { TAU_1.wcet.to_string() } else { format!("C of v{}", chunk.number) }
    };
    let requirement = chunk_cycle("Fig. 3: tau1*, each chunk with (C, D)", &vertices(&all, end, of_part));
    let approximation = chunk_cycle(
        "Fig. 4: tau1**, each job's longest chunk with (C, D)",
        &vertices(&kept, end, |_| TAU_1.wcet.to_string()),
    );
    let converted =
        chunks::converted(&TAU_1, reservation).map_err(|_| "tau1 has a chunk in each job, and few of them")?;
    Ok(Made {
        files: vec![
            File::svg(format!("{name}-requirement"), &requirement),
            File::svg(format!("{name}-approximation"), &approximation),
            File::csv(name, csv),
        ],
        finding: format!(
            "{} chunks; eliminated are {}. On the edges stands the time between the starts of chunks. By Definition 2, \
             tau1 becomes (C, D', T') = ({}, {}, {}).",
            chunks_found.len(),
            eliminated(&chunks_found).join(" and "),
            converted.wcet,
            converted.deadline,
            converted.period
        ),
    })
}

/// Until where demand is drawn: the right set's hyperperiod, with the reservation's period.
const END: TaskTime = TaskTime::from_units(60);

/// One set of Theorem 5: which half of Fig. 5, tasks, reservation.
pub(super) struct Counterexample {
    half: &'static str,
    pub(super) tasks: [Timing; 2],
    pub(super) reservation: Reservation,
}

const COUNTEREXAMPLES: [Counterexample; 2] = [
    Counterexample {
        half: "left",
        tasks: [Timing::new(4, 10, 5), Timing::new(6, 40, 40)],
        reservation: Reservation::new(0, 16, 20),
    },
    Counterexample { half: "right", tasks: [TAU_1, Timing::new(4, 15, 15)], reservation: Reservation::new(0, 8, 12) },
];

impl Counterexample {
    fn words(&self) -> String {
        let task = |task: &Timing| format!("({}, {}, {})", task.wcet, task.deadline, task.period);
        let Reservation { offset, budget, period } = self.reservation;
        format!("{}, {} in R({offset}, {budget}, {period})", task(&self.tasks[0]), task(&self.tasks[1]))
    }
}

pub(super) fn figure_5(name: &'static str) -> Result<Made, Failure> {
    let mut files = Vec::new();
    let mut csv = "set,test,accepted,reason\n".to_owned();
    let mut finding = "| set | sbf (Theorem 3) | chunks (Theorem 4) | exact |\n| --- | --- | --- | --- |\n".to_owned();
    for example in &COUNTEREXAMPLES {
        let Counterexample { half, tasks, reservation } = example;
        let words = example.words();
        let title = format!("Theorem 3 (sbf): {words}");
        files.push(File::svg(format!("{name}-{half}-sbf"), &demand_plot(&title, tasks, *reservation, END)?));
        // Theorem 4 compares the demand of the converted tasks with t, the supply of a processor of one's own.
        let converted: Result<Vec<Timing>, TaskVerdict> =
            tasks.iter().map(|task| chunks::converted(task, *reservation)).collect();
        let converted = converted.map_err(|_| "both sets have a chunk in each job, and few of them")?;
        let title = format!("Theorem 4 (chunks): {words}");
        let picture = demand_plot(&title, &converted, Reservation::new(0, 1, 1), END)?;
        files.push(File::svg(format!("{name}-{half}-chunks"), &picture));
        write!(finding, "| {words} |")?;
        for test in [ReservationTest::Sbf, ReservationTest::Chunks, ReservationTest::Exact] {
            let verdict = test.apply(tasks, *reservation);
            let reason = match &verdict {
                TaskVerdict::No(reason) => reason.text(|task| format!("tau{}", task + 1)),
                TaskVerdict::Yes => String::new(),
                TaskVerdict::Unknown(note) => note.clone(),
            };
            writeln!(csv, "\"{words}\",{},{},\"{reason}\"", test.name(), verdict.is_yes())?;
            let answer = if verdict.is_yes() { "yes".to_owned() } else { format!("no: {reason}") };
            write!(finding, " {answer} |")?;
        }
        writeln!(finding)?;
    }
    finding += "\nSo the theorem holds, with its first set the other way round than printed.\n";
    files.push(File::csv(name, csv));
    Ok(Made { files, finding })
}

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
    let device = tx2()?;
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
    let apart = chunk(&chunks, 2)?.start - chunk(&chunks, 1)?.start;
    Ok(vec![
        Printed::new("Example 3", "execution time of v1", 3_u32, units(TAU_1.wcet)),
        Printed::new("Example 3", "deadline of v1", 8_u32, length(1)?),
        Printed::new("Example 3", "from v1 to v2", 12_u32, units(apart)),
        Printed::new("Example 3", "deadline of v2", 8_u32, length(2)?),
        Printed::new("Example 3", "chunks of the fourth job", "v4, v5", of_job(4).join(", ")),
        Printed::new("Example 3", "deadline of v4", 2_u32, length(4)?),
        Printed::new("Example 3", "deadline of v5", 4_u32, length(5)?),
        Printed::new("Example 4", "eliminated", "v4, v7", eliminated(&chunks).join(", ")),
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
