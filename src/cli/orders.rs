//! `gpusched orders`

use clap::Args;
use gpusched::analysis::{launch_orders, orders_to_try};
use gpusched::scenario::LogUse;

use super::needs::{self, Lacking};
use super::output::{Format, note, print_report};
use super::progress::{self, Unit};
use super::run_options::RunOptions;
use super::{Answer, ending, jobs, notes};

/// Each kernel's best and worst finish over the orders of simultaneous launches, and the orders that give them. Up to
/// 40320 orders all are tried (those of 8 threads that launch together), else a seeded sample. One of threads is kept
/// throughout a run, and a note says what that leaves out; each has all orders of what else becomes ready at one
/// instant.
#[derive(Debug, Args)]
pub(crate) struct Orders {
    #[command(flatten)]
    run: RunOptions,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
    /// Orders to draw where there are too many to try all
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    samples: u64,
    #[command(flatten)]
    jobs: jobs::Jobs,
}

impl Orders {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let scenario = self.run.read(LogUse::Unused)?;
        self.jobs.share()?;
        let run = progress::simulated(&scenario, note)?;
        ending::keep_complete_results();
        progress::begin("trying", Unit::Of("orders"), Some(orders_to_try(&run, self.samples)));
        let mut orders = launch_orders(&run, self.samples, scenario.seed, progress::own())?;
        ending::stop_working()?;
        if orders.orders == Some(orders.orders_tried) && orders.seed.is_none() {
            orders.notes.extend(needs::lacking(Lacking::DrawnOrders)?);
            let is_drawn = scenario.depends_on_seed();
            orders.notes.extend(if is_drawn { Vec::new() } else { needs::lacking(Lacking::OrdersOrDraws)? });
        }
        notes::show_abridged(&orders.notes, note);
        print_report(&orders, self.format)?;
        Ok(Answer::Done)
    }
}
