//! Options for scenarios that are AMALTHEA models.

use std::collections::BTreeMap;

use anyhow::bail;
use clap::Args;
use clap::builder::PossibleValuesParser;
use gpusched::scenario::amalthea::{AmaltheaOptions, Frequency, TickBound};

use super::needs;

/// Where help lists them; a heading for the whole struct would go on to the options after it.
const HEADING: &str = "AMALTHEA models";

/// Which runnables of a model run on the GPU, and what the model does not say of them.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModelOptions {
    /// Runnables to launch, in this order [default: all that have the custom property `GridSize`, in the model's order]
    #[arg(long, help_heading = HEADING, value_name = "A,B,...", value_delimiter = ',')]
    runnables: Vec<String>,
    /// Blocks of a runnable's kernel, in place of the model's `GridSize`
    #[arg(long, help_heading = HEADING, value_name = "NAME=N", value_parser = parse_size)]
    grid_size: Vec<(String, u32)>,
    /// Threads of one block of a runnable's kernel, in place of the model's `BlockSize` [default: the model's, or 512]
    #[arg(long, help_heading = HEADING, value_name = "NAME=N", value_parser = parse_size)]
    block_size: Vec<(String, u32)>,
    /// Processing unit, or processing unit definition, whose ticks and frequency count [default: the model's GPU]
    #[arg(long, help_heading = HEADING, value_name = "NAME")]
    processing_unit: Option<String>,
    /// How fast ticks pass, for example 1.3GHz [default: the processing unit's frequency]
    #[arg(long, help_heading = HEADING, value_name = "FREQUENCY", value_parser = Frequency::parse)]
    frequency: Option<Frequency>,
    /// Which number of a runnable's ticks is the time of a block [default: upper]
    #[arg(long, help_heading = HEADING, value_name = "BOUND", value_parser = PossibleValuesParser::new(TickBound::ALL.map(TickBound::name)))]
    ticks: Option<String>,
    /// Leave out the copies around the runnables
    #[arg(long, help_heading = HEADING)]
    without_copies: bool,
    /// Launch each runnable once, at t = 0, in place of the model's stimuli
    #[arg(long, help_heading = HEADING)]
    one_job: bool,
}

fn parse_size(text: &str) -> Result<(String, u32), String> {
    const EXPECTED: &str = "expected NAME=N with a whole number N of at least 1, for example SFM=16";
    let (name, number) = text.rsplit_once('=').ok_or(EXPECTED)?;
    let number = number.trim().parse().ok().filter(|&number| number > 0).ok_or(EXPECTED)?;
    Ok((name.to_owned(), number))
}

fn sizes(option: &str, given: &[(String, u32)]) -> anyhow::Result<BTreeMap<String, u32>> {
    let mut sizes = BTreeMap::new();
    for (name, size) in given {
        if sizes.insert(name.clone(), *size).is_some() {
            bail!("{option} is given twice for {name:?}");
        }
    }
    Ok(sizes)
}

impl ModelOptions {
    /// The options as the library has them.
    pub(crate) fn options(&self) -> anyhow::Result<AmaltheaOptions> {
        Ok(AmaltheaOptions {
            runnables: self.runnables.clone(),
            grid_sizes: sizes("--grid-size", &self.grid_size)?,
            block_sizes: sizes("--block-size", &self.block_size)?,
            processing_unit: self.processing_unit.clone(),
            frequency: self.frequency,
            ticks: self.ticks.as_deref().and_then(TickBound::from_name).unwrap_or_default(),
            without_copies: self.without_copies,
            one_job: self.one_job,
        })
    }

    /// Notes on options without which the model makes the same; `makes_the_same` says whether it does with others.
    pub(crate) fn without_effect(
        &self,
        makes_the_same: impl Fn(&AmaltheaOptions) -> bool,
    ) -> anyhow::Result<Vec<String>> {
        let all = self.options()?;
        let default = AmaltheaOptions::default;
        let others = [
            ("runnables", AmaltheaOptions { runnables: default().runnables, ..all.clone() }),
            ("grid_size", AmaltheaOptions { grid_sizes: default().grid_sizes, ..all.clone() }),
            ("block_size", AmaltheaOptions { block_sizes: default().block_sizes, ..all.clone() }),
            ("processing_unit", AmaltheaOptions { processing_unit: default().processing_unit, ..all.clone() }),
            ("frequency", AmaltheaOptions { frequency: default().frequency, ..all.clone() }),
            ("ticks", AmaltheaOptions { ticks: default().ticks, ..all.clone() }),
            ("without_copies", AmaltheaOptions { without_copies: default().without_copies, ..all.clone() }),
            ("one_job", AmaltheaOptions { one_job: default().one_job, ..all.clone() }),
        ];
        let is_given = others.iter().filter_map(|(id, other)| Some((needs::option(id)?, other)));
        let without = is_given.filter(|(_, other)| makes_the_same(other));
        Ok(without
            .map(|(option, _)| format!("{option} has no effect: the model gives the same scenario without it"))
            .collect())
    }
}
