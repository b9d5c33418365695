//! What the user should know of a run.

use super::responses::each_response;
use super::standstill::Standstill;
use super::summary::Summary;
use super::sums::Counts;

impl Summary<'_> {
    /// What the user should know: the reader's notes, what had not finished at the horizon, and missed deadlines.
    pub fn notes(&self) -> Vec<String> {
        let mut counts = Counts::default();
        counts.add(self.trace);
        let (events, end) = (self.trace.events(), (self.ended, self.trace.end()));
        let mut notes = counts.notes(self.scenario, events, end);
        // Nothing is to be said of jobs but that they miss deadlines.
        if self.has_deadlines() {
            notes.extend(each_response(self.scenario, &self.jobs()).filter_map(|row| row.note()));
        }
        notes.extend(Standstill::of(self).into_iter().flat_map(|found| found.sentences()));
        notes.extend(self.chains().into_iter().filter_map(|chain| chain.note()));
        notes
    }
}
