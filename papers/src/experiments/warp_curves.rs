//! The data behind the report's Figs. 5, 6 and 7.

use std::time::{Duration, Instant};

use crate::effort::Progress;
use crate::warps::{
    Bound, KernelString, MakespanSearch, Objective, SearchLimits, TooLarge, WorkConserving, bound, construct, estimate,
    pessimistic,
};

/// What takes longer is computed once: other work on the machine disturbs it less.
const REPEATED: Duration = Duration::from_millis(100);

/// How the report's estimate for W warps develops with x (Figs. 6 and 7), and what it should be compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Convergence {
    /// W.
    pub warps: u32,
    /// One point for each x from 1.
    pub points: Vec<ConvergencePoint>,
    /// The report's pessimistic value \[cycles\], its dashed line.
    pub pessimistic: u64,
    /// A proven bound, which the report did not have.
    pub bound: Bound,
    /// What a constructed schedule takes \[cycles\]; the exact worst case if it equals the bound.
    pub at_least: Option<u64>,
}

/// The estimate from x warps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvergencePoint {
    /// The report's x.
    pub x: u32,
    /// The exact worst case of x warps \[cycles\].
    pub makespan: u64,
    /// `ceil(W / x) T(x)` \[cycles\] (Eq. 43).
    pub from_x: u64,
    /// The smallest of these up to x \[cycles\] (Eq. 42). Not a bound.
    pub estimate: u64,
}

/// The estimates for `warps` warps from 1 to `up_to` warps, or to as many as the time allows.
///
/// # Errors
/// [`TooLarge`] if the exact search for `up_to` warps does not fit the limits.
pub fn convergence(
    string: &KernelString,
    warps: u32,
    up_to: u32,
    limits: &SearchLimits,
) -> Result<Convergence, TooLarge> {
    let makespans =
        MakespanSearch::run(string, up_to.min(warps), Objective::WorstCase, limits, Progress::NONE)?.makespans();
    let point = |(x, &makespan): (u32, &u64)| {
        let from_x = u64::from(warps.div_ceil(x)) * makespan;
        let estimate = estimate(warps, &makespans[..=x as usize]).map_or(from_x, |estimate| estimate.cycles);
        ConvergencePoint { x, makespan, from_x, estimate }
    };
    Ok(Convergence {
        warps,
        points: (0..).zip(&makespans).skip(1).map(point).collect(),
        pessimistic: pessimistic(string, warps),
        bound: bound(string, warps),
        at_least: construct(string, warps, Objective::WorstCase).map(|constructed| constructed.cycles),
    })
}

/// How long the worst case of W warps takes to compute (Fig. 5, and the times in Fig. 7). Measured: differs from run
/// to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SolvingTime {
    /// W.
    pub warps: u32,
    /// By exact search; `None` if it did not finish within the limits.
    pub search: Option<Duration>,
    /// By the integer program with short constraints; `None` if it did not finish, or without the feature `ilp`.
    pub ilp_short: Option<Duration>,
    /// By the integer program with long constraints; `None` if it did not finish, or without the feature `ilp`.
    pub ilp_long: Option<Duration>,
    /// Whether the search, and the program with short and with long constraints, was tried and did not finish.
    pub gave_up: [bool; 3],
}

/// Measures how long each way to the worst case takes for 1 to `up_to` warps, short times as the fastest of a few. The
/// limits hold for each computation; a way that has not finished for W warps is not tried for more.
pub fn solving_times(string: &KernelString, up_to: u32, limits: &SearchLimits) -> Vec<SolvingTime> {
    let (mut times, mut go_on) = (Vec::new(), [true, cfg!(feature = "ilp"), cfg!(feature = "ilp")]);
    for warps in 1..=up_to {
        let mut gave_up = [false; 3];
        let mut time = |way: usize, solve: &dyn Fn() -> bool| {
            let fastest = if go_on[way] { fastest(solve) } else { None };
            gave_up[way] = go_on[way] && fastest.is_none();
            go_on[way] = fastest.is_some();
            fastest
        };
        let search = time(0, &|| {
            MakespanSearch::run(string, warps, Objective::WorstCase, limits, Progress::NONE)
                .is_ok_and(|search| search.reached() == warps)
        });
        let ilp_short = time(1, &|| ilp_finishes(string, warps, WorkConserving::Short, limits));
        let ilp_long = time(2, &|| ilp_finishes(string, warps, WorkConserving::Long, limits));
        times.push(SolvingTime { warps, search, ilp_short, ilp_long, gave_up });
    }
    times
}

/// The fastest of up to five computations, of which only the first may be long; `None` if one did not finish.
fn fastest(solve: &dyn Fn() -> bool) -> Option<Duration> {
    let begin = Instant::now();
    let mut fastest = Duration::MAX;
    for _ in 0..5 {
        let one = Instant::now();
        if !solve() {
            return None;
        }
        fastest = fastest.min(one.elapsed());
        if begin.elapsed() > REPEATED {
            break;
        }
    }
    Some(fastest)
}

#[cfg(feature = "ilp")]
fn ilp_finishes(string: &KernelString, warps: u32, form: WorkConserving, limits: &SearchLimits) -> bool {
    matches!(crate::warps::solve_ilp(string, warps, form, limits.time), Ok(Some(solution)) if solution.optimal)
}

#[cfg(not(feature = "ilp"))]
fn ilp_finishes(_: &KernelString, _: u32, _: WorkConserving, _: &SearchLimits) -> bool {
    false
}
