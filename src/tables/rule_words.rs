//! What the codes of rules in a table mean, in a line below it.

use std::collections::BTreeSet;

use crate::formats::Page;
use crate::trace::Rule;

/// What people read below a table whose rows say themselves what each rule did.
pub(super) const HINT: &str = "gpusched explain RULE says what a rule says, and shows it in a run";

/// The rules whose codes stand in the tables of a page.
#[derive(Debug, Default)]
pub(super) struct RuleWords {
    /// Those of the last table.
    seen: BTreeSet<Rule>,
    explained: BTreeSet<Rule>,
}

impl RuleWords {
    /// Its code stands in a table.
    pub(super) fn see(&mut self, rule: Rule) {
        self.seen.insert(rule);
    }

    /// Adds a line below a table, with what those codes mean that are not explained above.
    pub(super) fn add_to(&mut self, page: &mut Page) {
        let new: Vec<Rule> = self.seen.difference(&self.explained).copied().collect();
        let Some(first) = new.first() else { return };
        let words: Vec<String> = new.iter().map(|rule| format!("{rule}: {}", rule.meaning())).collect();
        page.line(&format!("{} (more: gpusched explain {first})", words.join("; ")));
        self.explained.append(&mut self.seen);
    }
}
