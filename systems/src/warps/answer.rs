//! Everything that can be said about one string and one number of warps.

use super::bound::{Bound, Estimate, best_case_bound, bound, estimate, pessimistic, pessimistic_as_printed};
use super::construct::construct;
use super::kernel_string::{KernelString, UnitKind};
use super::schedule::Schedule;
use super::search::{MakespanSearch, Objective, SearchLimits, SearchSize};
use crate::broken_bound::BrokenBound;
use crate::effort::Progress;
use crate::named::named;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// Number of warps.
    pub warps: u32,
    /// The estimate's x: from the exact makespans of so many warps; `None` for half of `warps`, but no more than 8.
    pub estimate_from: Option<u32>,
    /// What each exact search may use.
    pub limits: SearchLimits,
}

impl Question {
    /// Through how many states the searches for the best and the worst case go; `None` if there are none, as they would
    /// take more than they may.
    pub fn states(&self, string: &KernelString) -> Option<u64> {
        let size = SearchSize::of(string, self.warps);
        size.states.filter(|_| size.fits(&self.limits))?.checked_mul(2)
    }
}

named! {
    /// How the worst case is known.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ExactBy {
        Search = "search",
        /// By the integer program.
        Ilp = "ilp",
        /// By a constructed schedule that takes as long as the proven bound.
        Construction = "construction",
    }
}

/// The makespans of W warps \[cycles\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Number of warps.
    pub warps: u32,
    /// The report's pessimistic value.
    pub pessimistic: u64,
    /// Whether the pessimistic value is a bound: no unit serves two warps per cycle.
    pub pessimistic_is_bound: bool,
    /// The smallest proven bound.
    pub bound: Bound,
    /// The exact worst case, where it is known.
    pub exact: Option<u64>,
    /// How it is known.
    pub exact_by: Option<ExactBy>,
    /// Some schedule takes so long: the exact worst case, or what could be constructed.
    pub at_least: Option<u64>,
    /// The schedule that does.
    pub schedule: Option<Schedule>,
    /// The exact best case, where it is known: by search, or by a constructed schedule that no other can be shorter
    /// than.
    pub best: Option<u64>,
    /// No schedule is shorter.
    pub best_at_least: u64,
    /// The report's estimate, which is not a bound.
    pub estimate: Option<Estimate>,
    /// What the search for the worst case takes, by its own estimate.
    pub size: SearchSize,
    /// What the reader should know about these numbers.
    pub notes: Vec<String>,
}

impl Answer {
    /// Looks whether the schedules that were found keep the proven bounds.
    ///
    /// # Errors
    /// A worst case above the upper bound, or a best case below the lower one.
    pub fn check(&self) -> Result<(), BrokenBound> {
        let least = self.best.map(|_| self.best_at_least);
        let all = [
            ("longest", self.exact.max(self.at_least), "the bound on all schedules", Some(self.bound.cycles)),
            // The other way round: no schedule is shorter.
            ("least length of any", least, "the length of a schedule", self.best),
        ];
        all.into_iter().try_for_each(|(which, found, claim, bound)| {
            let subject = || format!("the {which} schedule of {} warps, in cycles, takes", self.warps);
            BrokenBound::check(found, (claim, bound), subject)
        })
    }
}

/// The largest x that is used for the estimate unless another is asked for.
const DEFAULT_ESTIMATE_FROM: u32 = 8;

/// Answers with the exact search where it fits the limits, and with bounds and a constructed schedule where not. The
/// number of states searched is in `searched`; it goes to [`Question::states`].
pub fn answer(string: &KernelString, question: &Question, searched: Progress<'_>) -> Answer {
    let mut answer = without_worst_case(string, question, searched);
    let &Question { warps, limits, .. } = question;
    let mut makespans = Vec::new();
    match MakespanSearch::run(string, warps, Objective::WorstCase, &limits, searched) {
        Ok(search) => {
            if search.reached() < warps {
                let reached = search.reached();
                answer.notes.push(format!("time ran out: the worst case is known for up to {reached} warps"));
            }
            answer.exact = search.makespan(warps);
            answer.exact_by = answer.exact.map(|_| ExactBy::Search);
            answer.at_least = answer.exact;
            answer.schedule = search.schedule(warps);
            makespans = search.makespans();
        }
        Err(refused) => answer.notes.push(format!("{refused}")),
    }
    if answer.exact.is_none() {
        construct_instead(string, &mut answer);
    }
    add_estimate(string, question, &makespans, &mut answer);
    answer
}

/// The same for a worst case that was found by other means, such as the integer program; `None` for the makespan if
/// it is not known.
#[cfg(feature = "ilp")]
pub(super) fn answer_with(
    string: &KernelString,
    question: &Question,
    by: ExactBy,
    exact: Option<u64>,
    schedule: Option<Schedule>,
) -> Answer {
    let mut answer = without_worst_case(string, question, Progress::NONE);
    answer.exact = exact;
    answer.exact_by = exact.map(|_| by);
    answer.at_least = schedule.as_ref().map(Schedule::makespan);
    answer.schedule = schedule;
    if exact.is_none() {
        answer.notes.push("the solver did not finish in time; the schedule is the longest it found".to_owned());
    }
    add_estimate(string, question, &[], &mut answer);
    answer
}

fn without_worst_case(string: &KernelString, question: &Question, searched: Progress<'_>) -> Answer {
    let &Question { warps, limits, .. } = question;
    let mut notes = Vec::new();
    let pessimistic_is_bound = string.one_warp_per_unit();
    if !pessimistic_is_bound {
        notes.push(
            "the pessimistic value is no bound here: it is one only if no unit serves two warps per cycle".to_owned(),
        );
    }
    if let Some(printed) = pessimistic_as_printed(string, warps) {
        for kind in string.units().iter().filter(|kind| kind.sigma.has_rest()) {
            let UnitKind { letter, sigma, capacity } = kind;
            let whole = if *capacity == 1 { "one whole warp".to_owned() } else { format!("{capacity} whole warps") };
            notes.push(format!("sigma {sigma} of {letter}: {whole} per cycle; the units left over stay idle"));
        }
        notes.push(format!(
            "with such a sigma as it stands, the pessimistic value would be {printed}; that is no bound"
        ));
    }
    let found = MakespanSearch::run(string, warps, Objective::BestCase, &limits, searched).ok();
    let best_at_least = best_case_bound(string, warps);
    let best = found.and_then(|search| search.makespan(warps)).or_else(|| {
        let constructed = construct(string, warps, Objective::BestCase)?.cycles;
        (constructed == best_at_least).then_some(constructed)
    });
    Answer {
        warps,
        pessimistic: pessimistic(string, warps),
        pessimistic_is_bound,
        bound: bound(string, warps),
        exact: None,
        exact_by: None,
        at_least: None,
        schedule: None,
        best,
        best_at_least: best.unwrap_or(best_at_least),
        estimate: None,
        size: SearchSize::of(string, warps),
        notes,
    }
}

fn construct_instead(string: &KernelString, answer: &mut Answer) {
    let bound = answer.bound.cycles;
    let Some(constructed) = construct(string, answer.warps, Objective::WorstCase) else {
        answer.notes.push(format!("the worst case is at most {bound} cycles (proven)"));
        return;
    };
    let at_least = constructed.cycles;
    answer.at_least = Some(at_least);
    answer.schedule = Some(constructed.schedule);
    if at_least == bound {
        answer.exact = Some(bound);
        answer.exact_by = Some(ExactBy::Construction);
        answer.notes.push("exact all the same: a constructed schedule takes as long as the proven bound".to_owned());
    } else {
        let text = format!("the worst case is at least {at_least} (a schedule) and at most {bound} cycles (proven)");
        answer.notes.push(text);
    }
}

fn add_estimate(string: &KernelString, question: &Question, makespans: &[u64], answer: &mut Answer) {
    let &Question { warps, estimate_from, limits } = question;
    let wanted = estimate_from.unwrap_or((warps / 2).clamp(1, DEFAULT_ESTIMATE_FROM)).min(warps);
    if estimate_from.is_some_and(|asked| asked > warps) {
        answer.notes.push(format!("the estimate is from {warps} warps: more say nothing about them"));
    }
    let mut searched = Vec::new();
    let enough = makespans.len() > wanted as usize;
    if !enough {
        match MakespanSearch::run(string, wanted, Objective::WorstCase, &limits, Progress::NONE) {
            Ok(search) => searched = search.makespans(),
            Err(refused) if estimate_from.is_some() => answer.notes.push(format!("no estimate: {refused}")),
            Err(_) => {}
        }
    }
    let known = if enough { makespans.get(..=wanted as usize).unwrap_or_default() } else { &searched };
    answer.estimate = estimate(warps, known);
    let Some(estimate) = answer.estimate else { return };
    answer.notes.push("the estimate is the report's; it is not a bound".to_owned());
    if let Some(at_least) = answer.at_least.filter(|&at_least| at_least > estimate.cycles) {
        let below = format!("here the estimate, {}, is below what a schedule takes: {at_least}", estimate.cycles);
        answer.notes.push(below);
    }
}
