//! The worked examples of RTNS 2020: Table 1 with Figs. 2 to 4, and the counterexamples of Theorem 5.

use std::fmt::Write;

use super::super::made::{Failure, File, Made};
use crate::device::Device;
use crate::draw::PictureOptions;
use crate::effort::Progress;
use crate::formats::{Column, csv_of, csv_text};
use crate::hosts::{Policy, RunOptions, Strategy, TaskRun, run_tasks};
use crate::pictures::task_gantt::gantt;
use crate::pictures::{Vertex, chunk_cycle, demand_plot};
use crate::tables::TaskRunReport;
use crate::tasks::{
    Reservation, ReservationTest, Reservations, TaskSet, TaskTime, TaskVerdict, Timing, chunks, hyperperiod,
};

pub(super) const TAU_1: Timing = Timing::new(3, 10, 10);

/// Table 1 with the reservations of Example 2.
pub(super) fn table_1(device: &Device) -> Result<TaskSet, Failure> {
    let text = include_str!("../../../witnesses/rtns2020/table-1.json");
    Ok(TaskSet::from_json("witnesses/rtns2020/table-1.json", text, device)?)
}

pub(super) fn run_of_figure_2(set: &TaskSet, device: Device) -> Result<TaskRun, Failure> {
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
    let device = Device::builtin("tx2")?.ok_or("the TX2 is not built in")?;
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
pub(super) fn chunks_of_tau_1(reservation: Reservation, end: TaskTime) -> Vec<TauChunk> {
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
    let eliminated: Vec<String> =
        chunks_found.iter().filter(|chunk| !chunk.is_kept).map(|chunk| format!("v{}", chunk.number)).collect();
    let converted =
        chunks::converted(&TAU_1, reservation).map_err(|_| "tau1 has a chunk in each job, and few of them")?;
    Ok(Made {
        files: vec![
            File { name: format!("{name}-requirement.svg"), text: requirement.to_svg() },
            File { name: format!("{name}-approximation.svg"), text: approximation.to_svg() },
            File { name: format!("{name}.csv"), text: csv },
        ],
        finding: format!(
            "{} chunks; eliminated are {}. On the edges stands the time between the starts of chunks. By Definition 2, \
             tau1 becomes (C, D', T') = ({}, {}, {}).",
            chunks_found.len(),
            eliminated.join(" and "),
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

pub(super) const COUNTEREXAMPLES: [Counterexample; 2] = [
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
        files.push(File {
            name: format!("{name}-{half}-sbf.svg"),
            text: demand_plot(&title, tasks, *reservation, END)?.to_svg(),
        });
        // Theorem 4 compares the demand of the converted tasks with t, the supply of a processor of one's own.
        let converted: Result<Vec<Timing>, TaskVerdict> =
            tasks.iter().map(|task| chunks::converted(task, *reservation)).collect();
        let converted = converted.map_err(|_| "both sets have a chunk in each job, and few of them")?;
        let title = format!("Theorem 4 (chunks): {words}");
        let text = demand_plot(&title, &converted, Reservation::new(0, 1, 1), END)?.to_svg();
        files.push(File { name: format!("{name}-{half}-chunks.svg"), text });
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
    files.push(File { name: format!("{name}.csv"), text: csv });
    Ok(Made { files, finding })
}
