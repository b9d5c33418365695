//! Why each operation waited until it began, in columns: bars of the figure, and what is said of them.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::instants::{Instants, steps};
use super::palette::PageFill;
use crate::pictures::explain::sentence;
use crate::pictures::rule_look::{rule_fill, rule_fill_on_dark};
use crate::run::Summary;
use crate::trace::{Phase, RULES, Rule};

/// What is said of phases, with places for names and times.
#[derive(Debug, PartialEq, Eq, Hash, Clone, Serialize)]
struct Said {
    rule: Rule,
    text: String,
}

/// How a rule is shown, on a light and on a dark page.
#[derive(Debug, Serialize)]
pub(super) struct RuleLook {
    name: Rule,
    light: PageFill,
    dark: PageFill,
    meaning: &'static str,
    /// Whether it holds what is not the head of its stream queue.
    is_behind_in_stream: bool,
    /// What it says, and where that is from.
    says: &'static str,
    source: &'static str,
}

impl RuleLook {
    pub(super) fn all() -> Vec<Self> {
        let text = |rule: Rule| RULES.into_iter().find(|text| text.name == rule.name());
        let look = |rule: Rule| Self {
            name: rule,
            light: rule_fill(rule).into(),
            dark: rule_fill_on_dark(rule).into(),
            meaning: rule.meaning(),
            is_behind_in_stream: rule.is_behind_in_stream(),
            says: text(rule).map_or("", |text| text.says),
            source: text(rule).map_or("", |text| text.source),
        };
        Rule::ALL.into_iter().map(look).collect()
    }
}

/// Columns, one entry for each phase, by operation and time.
#[derive(Debug, Serialize)]
pub(super) struct PhaseColumns {
    /// Each thing that is said, once.
    said: Vec<Said>,
    /// Counted from the one before.
    operation: Vec<i64>,
    /// Which of what is said.
    reason: Vec<usize>,
    /// Number of the instant of its beginning, counted from the launch of its operation.
    from: Vec<i64>,
    /// Number of the instant of its end, counted from that of its beginning.
    length: Vec<i64>,
    /// Who stood in the way, the last of whom did so last.
    blocking: Vec<Vec<u32>>,
    /// How many more stood in the way before the last.
    more: Vec<usize>,
}

impl PhaseColumns {
    /// `launched` is the number of the instant of each operation's launch.
    pub(super) fn new(summary: &Summary<'_>, phases: &[Phase], launched: &[i64], instants: &Instants) -> Self {
        let (mut said, mut known) = (Vec::new(), FxHashMap::default());
        let mut reason = |phase: &Phase| {
            let one = Said { rule: phase.rule, text: sentence(summary, phase) };
            *known.entry(one.clone()).or_insert_with(|| {
                said.push(one);
                said.len() - 1
            })
        };
        let number = |phase: &Phase| phase.operation.index();
        let from = |phase: &Phase| instants.number(phase.from);
        Self {
            operation: steps(phases.iter().map(|phase| phase.operation.0.into())),
            reason: phases.iter().map(&mut reason).collect(),
            from: phases.iter().map(|one| from(one) - launched.get(number(one)).copied().unwrap_or_default()).collect(),
            length: phases.iter().map(|phase| instants.number(phase.to) - from(phase)).collect(),
            blocking: phases.iter().map(|phase| phase.blocking.iter().map(|id| id.0).collect()).collect(),
            more: phases.iter().map(|phase| phase.more).collect(),
            said,
        }
    }
}
