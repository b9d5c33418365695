//! `gpusched replay-log`

use std::io::Write;

use anyhow::bail;
use clap::Args;
use gpusched::gpu::Ended;
use gpusched::plot::FinishMark;
use gpusched::replay::{Replay, ReplayReport, replay, replay_csv, replay_table};
use gpusched::report::Summary;
use gpusched::scenario::ReadOptions;
use gpusched::time::Instant;
use gpusched::workload::OperationId;

use super::figure_options::{Figure, FigureOptions};
use super::log_input::LogOptions;
use super::output::{Format, note};
use super::{Answer, output};

/// Simulate a measured run again, and set measured against simulated.
#[derive(Debug, Args)]
pub(crate) struct ReplayLog {
    #[command(flatten)]
    logs: LogOptions,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    figure: FigureOptions,
}

impl ReplayLog {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let mut input = self.logs.read()?;
        if input.runs.len() > 1 {
            let names: Vec<String> = input.runs.iter().map(|run| format!("{:?}", run.run.scenario_name)).collect();
            bail!("these are logs of {} runs: {}; replay one at a time", names.len(), names.join(", "));
        }
        let Some(mut run) = input.runs.pop() else { bail!("no log holds a kernel") };
        if run.processes() > 1 {
            run.notes.push("benchmarks ran in several processes; they are replayed as threads of one".to_owned());
        }
        if run.scenario.is_none() {
            run.notes.push("no scenario: launches, block times and streams are those of the logs alone".to_owned());
        }
        let options = ReadOptions { placement: self.logs.placement(), ..ReadOptions::default() };
        let known = run.scenario.as_ref().map(|(scenario, pairing)| (scenario, pairing));
        let result = replay(&run.run, &run.device, known, &options, &self.logs.tolerances())?;
        run.notes.iter().for_each(|text| note(text));
        if let Some(figure) = self.figure.figure(&result.scenario)? {
            draw(&result, &figure)?;
        }
        let mut out = output::stdout();
        match self.format {
            Format::Json => {
                serde_json::to_writer_pretty(&mut out, &ReplayReport::new(&result, &input.dropped, &run.notes))?;
                writeln!(out)?;
            }
            Format::Csv => replay_csv(&result, &mut out)?,
            Format::Table => write!(out, "{}", replay_table(&result))?,
        }
        out.flush()?;
        Ok(Answer::Done)
    }
}

/// Draws what was measured above what was simulated.
fn draw(result: &Replay, figure: &Figure<'_>) -> anyhow::Result<()> {
    let (measured, simulated) = result.traces()?;
    let ns = |ns: i64| Instant::from_ns(u64::try_from(ns).unwrap_or(0));
    let marks: Vec<FinishMark> = result
        .kernels
        .iter()
        .filter_map(|kernel| {
            let lower = ns(kernel.simulated_finish_ns?);
            let launched = result.trace.kernel_of(OperationId(kernel.id));
            let name = launched.map_or_else(|| kernel.name.to_string(), |launched| launched.title.to_string());
            Some(FinishMark { name, upper: ns(kernel.measured_finish_ns), lower })
        })
        .collect();
    let mut upper = result.scenario.clone();
    upper.name = format!("measured: {}", result.scenario.name);
    let mut lower = result.scenario.clone();
    "simulated".clone_into(&mut lower.name);
    let summary = |scenario, trace| Summary { scenario, trace, ended: Ended::Done };
    figure.write_comparison(&summary(&upper, &measured), &summary(&lower, &simulated), &marks)
}
