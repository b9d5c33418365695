//! `gpusched study status`

use clap::Args;
use gpusched::experiments::study::ShardStatus;
use gpusched::tables::ShardsDocument;

use super::super::Answer;
use super::super::output::{Format, print_report};
use super::super::progress::{self, Unit};
use super::Files;

/// Say how far the shards of a study are: missing, running, stopped or complete.
#[derive(Debug, Args)]
pub(super) struct Status {
    #[command(flatten)]
    files: Files,
    /// Exit with status 1 unless all rows are there
    #[arg(long)]
    check: bool,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Status {
    pub(super) fn run(&self) -> anyhow::Result<Answer> {
        let study = self.files.study()?;
        progress::begin("checking shards", Unit::None, None);
        let shards = ShardStatus::of_all(&study, &self.files.results()?)?;
        // Complete is a whole file, or all shards of one division.
        let counts = shards.iter().map(|one| one.shard.count());
        let is_complete = counts
            .into_iter()
            .any(|count| shards.iter().filter(|one| one.shard.count() == count).all(ShardStatus::is_complete));
        print_report(&ShardsDocument { study: &study, shards: &shards, complete: is_complete }, self.format)?;
        Ok(if self.check && !is_complete { Answer::No } else { Answer::Done })
    }
}
