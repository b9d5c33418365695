//! `gpusched analyze`

use std::io::Write;
use std::num::NonZeroU32;

use anyhow::bail;
use clap::Args;
use gpusched::analysis::{Analysis, analyse, printed};
use gpusched::hosts::simulate;
use gpusched::report::{Summary, analysis_csv, analysis_table, steps_text};

use super::output::{Format, note};
use super::run_options::RunOptions;
use super::runnable_times_option::RunnableTimesOption;
use super::{Answer, output};

/// Steps of the printed algorithm above which they are not shown.
const MOST_STEPS: usize = 100_000;

/// Response-time analysis on one merged SM: when each kernel finishes, whether that is exact, and by when it has
/// finished even if blocks run shorter than stated.
#[derive(Debug, Args)]
pub(crate) struct Analyze {
    #[command(flatten)]
    run: RunOptions,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Show h, `t_a` and `g_f` after every step of the thesis' Algorithm 2 (equal blocks only)
    #[arg(long)]
    steps: bool,
    #[command(flatten)]
    runnable_times: RunnableTimesOption,
    /// Exit status 1 if a kernel with a deadline is not schedulable, or a deadline is not known to be met
    #[arg(long)]
    check: bool,
}

impl Analyze {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        if self.steps && self.format == Format::Csv {
            bail!("--steps is shown as text and in JSON only: leave out --format csv");
        }
        let runnable_times = self.runnable_times.table()?;
        let scenario = self.run.read(false)?;
        let analysis = analyse(&scenario)?;
        let steps = if self.steps { Some(steps(&analysis)?) } else { None };
        if let Some(table) = runnable_times {
            let run = simulate(&scenario)?;
            let summary = Summary { scenario: &scenario, trace: &run.trace, ended: run.ended };
            table.write(&summary, Some(&analysis))?;
        }
        for text in &analysis.notes {
            note(text);
        }
        let mut out = output::stdout();
        match self.format {
            Format::Json => {
                let mut document = serde_json::to_value(&analysis)?;
                if let Some(steps) = &steps {
                    document["steps"] = serde_json::to_value(steps)?;
                }
                writeln!(out, "{document}")?;
            }
            Format::Csv => analysis_csv(&analysis, &mut out)?,
            Format::Table => {
                write!(out, "{}", analysis_table(&analysis))?;
                if let Some(steps) = &steps {
                    write!(out, "\n{}", steps_text(&analysis, steps))?;
                }
            }
        }
        out.flush()?;
        let missed =
            analysis.kernels.iter().any(|kernel| kernel.deadline_ns.is_some() && kernel.schedulable != Some(true));
        Ok(if self.check && missed { Answer::No } else { Answer::Done })
    }
}

fn steps(analysis: &Analysis<'_>) -> anyhow::Result<Vec<printed::Turn>> {
    let Some(g_max) = analysis.g_max.and_then(NonZeroU32::new) else {
        bail!("--steps: Algorithm 2 is for equal blocks without SM masks only");
    };
    match printed::steps(g_max, &analysis.merged, MOST_STEPS)? {
        Some(steps) => Ok(steps),
        None => bail!("--steps: Algorithm 2 takes more than {MOST_STEPS} steps on this scenario"),
    }
}
