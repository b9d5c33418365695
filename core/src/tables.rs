//! Tables: what is said of a run, an analysis or a measurement, in columns and as JSON documents.

mod analysis;
mod device_table;
mod log_replay;
mod measured;
mod probe;
mod run;
mod together;

use std::collections::BTreeSet;

use crate::formats::Page;
use crate::proven::OrMost;
use crate::time::Duration;
use crate::trace::Rule;
pub use analysis::largest_grid::LargestGridReport;
pub use analysis::progress::ProgressReport;
pub use analysis::safety::SafetyReport;
pub use analysis::verdicts::{JobSetReport, LadderReport};
pub use analysis::{AnalysisReport, BoundedResponses, SporadicReport};
pub use device_table::{DeviceReport, DevicesReport, OccupancyDocument};
pub use log_replay::ReplayReport;
pub use run::blame::{Behind, BlameRow, BlameRules, BlameTables};
#[doc(hidden)]
pub use run::blame::{add_stream_waits, blame_columns, stream_waits};
pub use run::examiner_log::ExaminerLog;
pub use run::residents::ResidentsReport;
#[doc(hidden)]
pub use run::simulate_to_rows;
pub use run::{AskedWaits, SimulationReport};
pub use together::TogetherReport;

/// A time \[ns\] that may be negative: `-1.5 ms`.
#[doc(hidden)]
pub fn signed_time(ns: i128) -> String {
    let length = Duration::from_ns(u64::try_from(ns.unsigned_abs()).or_most());
    if ns < 0 { format!("-{length}") } else { length.to_string() }
}

/// A difference of times \[ns\], of which one that is positive bears its sign too: `+1.5 ms`.
#[doc(hidden)]
pub fn signed_difference(ns: i128) -> String {
    if ns > 0 { format!("+{}", signed_time(ns)) } else { signed_time(ns) }
}

/// What people read below a table whose rows say themselves what each rule did.
#[doc(hidden)]
pub const HINT: &str = "gpusched explain RULE says what a rule says, and shows it in a run";

/// The rules whose codes stand in the tables of a page.
#[derive(Debug, Default)]
struct RuleWords {
    /// Those of the last table.
    seen: BTreeSet<Rule>,
    explained: BTreeSet<Rule>,
}

impl RuleWords {
    /// Its code stands in a table.
    fn see(&mut self, rule: Rule) {
        self.seen.insert(rule);
    }

    /// Adds a line below a table, with what those codes mean that are not explained above.
    fn add_to(&mut self, page: &mut Page) {
        let new: Vec<Rule> = self.seen.difference(&self.explained).copied().collect();
        let Some(first) = new.first() else { return };
        let words: Vec<String> = new.iter().map(|rule| format!("{rule}: {}", rule.meaning())).collect();
        page.line(&format!("{} (more: gpusched explain {first})", words.join("; ")));
        self.explained.append(&mut self.seen);
    }
}
