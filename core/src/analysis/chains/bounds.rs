//! Bounds on chains from bounds on their jobs: the theorems of `docs/analysis.md`, "Chains".
//!
//! Claims: with releases `r_i(k)`, and `d_i(k)` by when job k of thread i has written, a *reaction* is no longer than
//! `d_n(k_n)` - `r_1(k - 1)`, where each `k_i` is the first job released once the one before it has written, and an
//! *age* is at most `d_n(k)` - `r_1(k_1)`, where each `k_i` is the last that has written when the next is released.
//! Where nothing is known but that jobs come a period apart, both are at most the sum of `T_i` + `R_i` (ages without
//! `T_n`). Assumptions: all jobs on the way have bounds, which count from where a jitter does. Jobs that the ends of
//! others release have the releases of those from which on one releases the other up to them, and count from there; one
//! that a job of the link before releases is as that job going on.

use std::ops::ControlFlow;

use crate::analysis::prepared::Repeats;
use crate::analysis::verdict::JobVerdict;
use crate::limits::count_turn;
use crate::run::goes_on;
use crate::scenario::{Chain, ChainLink, ChainMeasure, HostThread, Scenario, Step};
use crate::time::{Duration, Instant};

/// Why there is no bound on a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unbounded {
    /// When jobs of this thread come depends on the run.
    Releases(u32),
    /// Jobs of this thread have none.
    Jobs(u32),
    /// When jobs come is not known.
    Late,
    /// Threads of the chain come to an end before all events have an output.
    Ends,
    /// The run ends at its horizon before all of them have one in every run.
    Horizon,
}

/// Bounds on the chains of a scenario.
pub(in crate::analysis) struct ChainBounds<'a> {
    scenario: &'a Scenario,
    jobs: &'a [JobVerdict],
    /// By thread: none of its jobs takes longer from where it is stated to come, whenever that is.
    responses: &'a [Option<Duration>],
    repeats: Option<Repeats>,
    /// Whether no thread has its last job before the horizon, if there is one.
    all_go_on: bool,
}

/// Instants \[ns\]: those of a schedule without beginning or end are beyond 64 bits.
type Ns = i128;

/// Jobs of a thread in a hyperperiod above which phases are left out.
const MOST_JOBS: u64 = 100_000;

/// By when something is done of which no bound is known.
const UNKNOWN: Ns = Ns::MAX;

/// The jobs of a link: when each is released, and by when it has written, in all runs. Both never fall from one job to
/// the next: jobs of a thread write in their order, so by when a later one has written, an earlier one has too.
enum Link {
    /// From job 0 on.
    Listed { releases: Vec<Ns>, done: Vec<Ns> },
    /// Job number k, which may be negative, is one of the first of them and a multiple of their hyperperiod later.
    Repeating { first: Ns, period: Ns, hyperperiod: Ns, done: Vec<Ns> },
}

impl Link {
    /// `r_i(k)`; `None`: there is no such job.
    fn release(&self, job: i64) -> Option<Ns> {
        match self {
            Self::Listed { releases, .. } => releases.get(usize::try_from(job).ok()?).copied(),
            Self::Repeating { first, period, .. } => Some(first + Ns::from(job) * period),
        }
    }

    /// `d_i(k)`: by when a job has written; `None`: there is no such job, or nothing is known of it.
    fn done(&self, job: i64) -> Option<Ns> {
        match self {
            Self::Listed { done, .. } => done.get(usize::try_from(job).ok()?).copied().filter(|done| *done != UNKNOWN),
            Self::Repeating { hyperperiod, done, .. } => {
                let number = job_number(done.len());
                let of_first = done.get(usize::try_from(job.rem_euclid(number)).ok()?)?;
                Some(of_first + Ns::from(job.div_euclid(number)) * hyperperiod)
            }
        }
    }

    /// `F_i(t)`: the first job that is released at an instant or later.
    fn first_from(&self, instant: Ns) -> Option<i64> {
        match self {
            Self::Listed { releases, .. } => {
                let first = releases.partition_point(|release| *release < instant);
                (first < releases.len()).then_some(job_number(first))
            }
            Self::Repeating { first, period, .. } => {
                let passed = instant - first;
                i64::try_from(passed.div_euclid(*period) + Ns::from(passed.rem_euclid(*period) > 0)).ok()
            }
        }
    }

    /// `L_i(t)`: the last job that has written by an instant in all runs.
    fn last_done_by(&self, instant: Ns) -> Option<i64> {
        match self {
            Self::Listed { done, .. } => {
                Some(job_number(done.partition_point(|done| *done <= instant).checked_sub(1)?))
            }
            Self::Repeating { first, period, .. } => {
                // One that is released later has not.
                let mut job = i64::try_from((instant - first).div_euclid(*period)).ok()?;
                while self.done(job)? > instant {
                    count_turn();
                    job -= 1;
                }
                Some(job)
            }
        }
    }
}

/// The number of a job, of which memory holds fewer than 2^63.
fn job_number(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

/// `d_i(k)` = min over l >= k of `r_i(l)` + `R_i(l)`: what is known of a later one holds of each before it.
fn in_order(done: &mut [Ns]) {
    let mut later = UNKNOWN;
    for done in done.iter_mut().rev() {
        later = later.min(*done);
        *done = later;
    }
}

impl<'a> ChainBounds<'a> {
    /// From what is known of the jobs of the scenario, and from the bounds on any job of each thread.
    pub(in crate::analysis) fn new(
        scenario: &'a Scenario,
        jobs: &'a [JobVerdict],
        responses: &'a [Option<Duration>],
        repeats: Option<Repeats>,
    ) -> Self {
        let has_barriers = scenario.threads.iter().any(|thread| thread.barriers().next().is_some());
        // What is late is not what was released a hyperperiod before.
        let is_late = scenario.threads.iter().any(|thread| thread.jitter > Duration::ZERO);
        let horizon = scenario.horizon.map(|horizon| Instant::ZERO + horizon);
        let mut timed = scenario.threads.iter().filter(|thread| thread.triggered_by.is_none());
        let all_go_on = horizon.is_some_and(|end| timed.all(|thread| goes_on(thread, end)));
        Self { scenario, jobs, responses, repeats: repeats.filter(|_| !has_barriers && !is_late), all_go_on }
    }

    /// No such measure of the chain is longer in any run.
    pub(super) fn of(&self, chain: &Chain, measure: ChainMeasure) -> Result<Duration, Unbounded> {
        if self.scenario.threads.iter().any(is_unknown) {
            return Err(Unbounded::Late);
        }
        let bound = self.of_jobs(chain, measure);
        let in_any_case = self.of_any_jobs(chain, measure);
        match (bound, in_any_case) {
            (Ok(bound), in_any_case) => Ok(in_any_case.map_or(bound, |other| bound.min(other))),
            (Err(why), in_any_case) => in_any_case.ok_or(why),
        }
    }

    /// The same whatever the phases of the threads: the sum of `T_i` + `R_i`, for ages without `T_n`. `None`: of some
    /// thread not all is known, or its jobs come to an end.
    pub(in crate::analysis) fn unphased(&self, chain: &Chain, measure: ChainMeasure) -> Option<Duration> {
        let threads = self.periodic(chain)?;
        let mut sum = Duration::ZERO;
        for (number, (_, period, response)) in threads.iter().enumerate() {
            // What goes on as the same job does so without another period, and within the same response, or one that
            // counts from the same instant.
            let links = chain.links.get(number.wrapping_sub(1)).zip(chain.links.get(number));
            if links.is_some_and(|(before, own)| before.goes_on_as(own, self.scenario)) {
                let known = threads[number - 1].2.as_ns();
                sum = sum.checked_add(Duration::from_ns(response.as_ns().saturating_sub(known)))?;
                continue;
            }
            let is_last = chain.links[number..].windows(2).all(|pair| pair[0].goes_on_as(&pair[1], self.scenario));
            let waits = if is_last && measure == ChainMeasure::DataAge { Duration::ZERO } else { *period };
            sum = sum.checked_add(waits)?.checked_add(*response)?;
        }
        Some(sum)
    }

    /// Of each link of a chain of threads without end that are first released within a period: that release, the
    /// period, and the bound on any response.
    fn periodic(&self, chain: &Chain) -> Option<Vec<(Instant, Duration, Duration)>> {
        let is_endless = |thread: &HostThread| {
            !is_unknown(thread)
                && !thread.may_end_early()
                && (thread.is_cut || self.all_go_on && self.scenario.horizon.is_some())
        };
        let of_link = |link: &ChainLink| {
            let thread = self.scenario.timed(link.thread).filter(|thread| is_endless(thread))?;
            // What is first released later lets events wait for longer than a period at first.
            let period = thread.period.filter(|period| thread.release_of(0).since(Instant::ZERO) < *period)?;
            let response = self.responses.get(link.thread as usize).copied().flatten()?;
            Some((thread.release_of(0), period, response))
        };
        chain.links.iter().map(of_link).collect()
    }

    /// The bound from what holds of any job of each thread, with the releases that are stated.
    pub(in crate::analysis) fn of_any_jobs(&self, chain: &Chain, measure: ChainMeasure) -> Option<Duration> {
        let threads = self.periodic(chain)?;
        let Some(hyperperiod) = hyperperiod(&threads) else { return self.unphased(chain, measure) };
        let links = threads.into_iter().map(|(first, period, response)| {
            let (first, period) = (Ns::from(first.as_ns()), Ns::from(period.as_ns()));
            Link::Repeating { first, period, hyperperiod: period, done: vec![first + Ns::from(response.as_ns())] }
        });
        let bound = self.of_repeating(chain, &links.collect::<Vec<Link>>(), measure, hyperperiod);
        u64::try_from(bound).ok().map(Duration::from_ns)
    }

    /// How many jobs of the first thread of a chain come in the hyperperiod over which that bound is; `None`: it is
    /// whatever the phases.
    pub(in crate::analysis) fn jobs_in_hyperperiod(&self, chain: &Chain) -> Option<u64> {
        let threads = self.periodic(chain)?;
        hyperperiod(&threads)?.as_ns().checked_div(threads.first()?.1.as_ns())
    }

    /// The bound from what is known of each job.
    fn of_jobs(&self, chain: &Chain, measure: ChainMeasure) -> Result<Duration, Unbounded> {
        let listed = chain.links.iter().map(|link| self.listed(link)).collect::<Result<Vec<Link>, Unbounded>>()?;
        // That a run ends at its horizon would be all that is known.
        let known = |link: &Link| matches!(link, Link::Listed { done, .. } if done.iter().any(|done| *done != UNKNOWN));
        if let Some((_, link)) = listed.iter().zip(&chain.links).find(|(listed, _)| !known(listed)) {
            return Err(Unbounded::Jobs(link.thread));
        }
        let of_listed = self.of_listed(chain, &listed, measure);
        let bound = if let Some(repeats) = self.repeats {
            let repeating = listed.iter().zip(&chain.links).map(|(listed, link)| self.repeating(listed, link, repeats));
            let repeating = repeating.collect::<Result<Vec<Link>, Unbounded>>()?;
            let of_all = self.of_repeating(chain, &repeating, measure, repeats.hyperperiod);
            // A run up to its horizon is the beginning of one without; one with fewer jobs is another.
            // What has no output as jobs end has one if they go on; as the run ends, it counts in a longer one.
            let is_known = |is_complete: bool| is_complete || self.scenario.horizon.is_none();
            let in_run = of_listed.filter(|(_, is_complete)| is_known(*is_complete)).map(|(bound, _)| bound);
            let in_run = if self.all_go_on { Some(Some(of_all)) } else { in_run };
            in_run.map(|in_run| in_run.map_or(of_all, |in_run| in_run.max(of_all)))
        } else {
            // Of what has no end, these are not all jobs.
            let is_all = self.scenario.cut_at().is_none();
            of_listed.filter(|(_, is_complete)| *is_complete && is_all).and_then(|(bound, _)| bound)
        };
        let why = if self.scenario.horizon.is_some() { Unbounded::Horizon } else { Unbounded::Ends };
        bound.and_then(|bound| u64::try_from(bound).ok()).map(Duration::from_ns).ok_or(why)
    }

    /// The jobs of the scenario itself.
    fn listed(&self, link: &ChainLink) -> Result<Link, Unbounded> {
        let unknown = Unbounded::Releases(link.thread);
        let own = self.scenario.threads.get(link.thread as usize).ok_or(unknown)?;
        let thread = self.scenario.timed(link.thread).ok_or(unknown)?;
        let is_triggered = own.triggered_by.is_some();
        let is_single = thread.iterations == Some(1) && thread.barrier.is_none();
        let is_endless = thread.iterations.is_none() && self.scenario.horizon.is_none();
        if thread.may_end_early() || is_endless || thread.period.is_none() && !is_single {
            return Err(unknown);
        }
        let horizon = self.scenario.horizon.map_or(Instant::MAX, |horizon| Instant::ZERO + horizon);
        let jobs = self.jobs.iter().filter(|job| job.thread == link.thread && !is_triggered);
        // From where it is stated to come.
        let sleeps = if is_triggered {
            self.responses.get(link.thread as usize).copied().flatten()
        } else {
            only_sleep(own).and_then(|sleeps| sleeps.checked_add(own.jitter))
        };
        // What only sleeps has done so in the run; of what did not begin there nothing is known. One job may be
        // released when the run ends.
        let most = if sleeps.is_some() || is_triggered { u64::MAX } else { jobs.clone().count() as u64 + 1 };
        let numbers = 0..thread.iterations.unwrap_or(u64::MAX).min(most.saturating_add(1));
        let releases = numbers.map(|number| thread.release_of(number)).take_while(|release| *release <= horizon);
        let releases: Vec<Ns> = releases.map(|release| Ns::from(release.as_ns())).collect();
        if releases.len() as u64 > most {
            return Err(Unbounded::Jobs(link.thread));
        }
        let mut bounds: Vec<Option<Duration>> = vec![sleeps; releases.len()];
        for job in jobs {
            if let Some(bound) = bounds.get_mut(job.job as usize) {
                *bound = job.bound_ns;
            }
        }
        let done = |(release, bound): (&Ns, Option<Duration>)| {
            bound.map_or(UNKNOWN, |bound| release + Ns::from(bound.as_ns()))
        };
        let mut done: Vec<Ns> = releases.iter().zip(bounds).map(done).collect();
        in_order(&mut done);
        Ok(Link::Listed { releases, done })
    }

    /// The same jobs if those of the hyperperiod before an instant come again and again. Those before it, which may
    /// have other bounds, are not told from what they come again as: of all of them the latest counts.
    fn repeating(&self, listed: &Link, link: &ChainLink, repeats: Repeats) -> Result<Link, Unbounded> {
        let unknown = Unbounded::Jobs(link.thread);
        let Repeats { from, hyperperiod } = repeats;
        let thread = self.scenario.threads.get(link.thread as usize);
        // Data of a job that comes once gets older for ever, beside what has no end.
        if self.scenario.cut_at().is_some() && thread.is_some_and(|thread| !thread.is_cut) {
            return Err(Unbounded::Ends);
        }
        let period = thread.and_then(|thread| thread.period).filter(|period| *period > Duration::ZERO);
        let (Some(period), Link::Listed { releases, done }) = (period, listed) else {
            return Err(unknown);
        };
        let number = usize::try_from(hyperperiod.as_ns() / period.as_ns()).map_err(|_| unknown)?;
        let (first, hyperperiod) = (*releases.first().ok_or(unknown)?, Ns::from(hyperperiod.as_ns()));
        let mut of_first = vec![None; number];
        let known = releases.iter().zip(done).take_while(|(release, _)| **release < Ns::from(from.as_ns()));
        for (job, (_, done)) in known.enumerate() {
            let place = of_first.get_mut(job % number).filter(|_| *done != UNKNOWN).ok_or(unknown)?;
            *place = (*place).max(Some(done - Ns::from(job_number(job / number)) * hyperperiod));
        }
        let of_first: Vec<Ns> = of_first.into_iter().collect::<Option<_>>().ok_or(unknown)?;
        let mut done: Vec<Ns> =
            of_first.iter().copied().chain(of_first.iter().map(|done| done + hyperperiod)).collect();
        in_order(&mut done);
        done.truncate(number);
        Ok(Link::Repeating { first, period: Ns::from(period.as_ns()), hyperperiod, done })
    }

    /// `d_n(k_n)`, with `k_1` = `job` and `k_i` = `F_i(d_(i-1)(k_(i-1)))`: by when an output knows of what that job has
    /// read; `None`: not known.
    fn forward(&self, chain: &Chain, links: &[Link], mut job: i64) -> Option<Ns> {
        let mut written = links.first()?.done(job)?;
        for (number, pair) in chain.links.windows(2).enumerate() {
            let link = &links[number + 1];
            if !pair[0].goes_on_as(&pair[1], self.scenario) {
                job = link.first_from(written)?;
            }
            written = link.done(job)?;
        }
        Some(written)
    }

    /// `r_1(k_1)`, with `k_n` = `job` and `k_(i-1)` = `L_(i-1)(r_i(k_i))`: not before this is read what the output of
    /// that job is made of; `None`: whatever is first read.
    fn backward(&self, chain: &Chain, links: &[Link], mut job: i64) -> Option<Ns> {
        let mut read = links.last()?.release(job)?;
        for (number, pair) in chain.links.windows(2).enumerate().rev() {
            let link = &links[number];
            if !pair[0].goes_on_as(&pair[1], self.scenario) {
                job = link.last_done_by(read)?;
            }
            read = link.release(job)?;
        }
        Some(read)
    }

    /// The bound on all that is measured of the jobs of the scenario, if anything is, and whether that is all that
    /// there is: no event is left that only further jobs would tell of.
    fn of_listed(&self, chain: &Chain, links: &[Link], measure: ChainMeasure) -> Option<(Option<Ns>, bool)> {
        let horizon = self.scenario.horizon.map(|horizon| Ns::from(horizon.as_ns()));
        let (Link::Listed { releases: first, .. }, Link::Listed { releases: last, done }) =
            (links.first()?, links.last()?)
        else {
            return None;
        };
        let is_known = |link: &Link| matches!(link, Link::Listed { done, .. } if done.last() != Some(&UNKNOWN));
        // Nothing is seen after this.
        let end = match horizon {
            Some(horizon) => horizon,
            None if links.iter().all(is_known) => *done.last()?,
            None => return None,
        };
        match measure {
            ChainMeasure::ReactionTime => {
                let threads = chain.links.iter().filter_map(|link| self.scenario.timed(link.thread));
                let go_on = horizon.is_some() && self.go_on(threads);
                let mut is_complete = true;
                let mut longest = None;
                for (before, from) in first.iter().enumerate() {
                    let known = self.forward(chain, links, job_number(before + 1)).filter(|known| *known <= end);
                    // An event after the last job is none if no job comes after it.
                    if known.is_none() && before + 1 == first.len() && !go_on {
                        continue;
                    }
                    // How long it takes after the horizon, no run shows.
                    is_complete &= known.is_some();
                    longest = longest.max(known.map(|known| known - from));
                }
                Some((longest, is_complete))
            }
            ChainMeasure::DataAge => {
                let ages = last.iter().zip(done).enumerate().map(|(job, (_, done))| {
                    let read = self.backward(chain, links, job_number(job)).or_else(|| first.first().copied())?;
                    (*done <= end).then(|| done - read)
                });
                Some((ages.collect::<Option<Vec<Ns>>>()?.into_iter().max(), true))
            }
        }
    }

    fn go_on<'t>(&self, mut threads: impl Iterator<Item = &'t HostThread>) -> bool {
        let end = self.scenario.horizon.map(|horizon| Instant::ZERO + horizon);
        end.is_some_and(|end| threads.all(|thread| goes_on(thread, end)))
    }

    /// The bound if all goes on for ever as in a hyperperiod.
    fn of_repeating(&self, chain: &Chain, links: &[Link], measure: ChainMeasure, hyperperiod: Duration) -> Ns {
        let number = |link: Option<&Link>| match link {
            Some(Link::Repeating { period, .. }) => i64::try_from(Ns::from(hyperperiod.as_ns()) / period).unwrap_or(0),
            _ => 0,
        };
        let of = |job: i64| {
            let (from, to) = match measure {
                ChainMeasure::ReactionTime => (links.first()?.release(job - 1)?, self.forward(chain, links, job)?),
                ChainMeasure::DataAge => (self.backward(chain, links, job)?, links.last()?.done(job)?),
            };
            Some(to - from)
        };
        let jobs = match measure {
            ChainMeasure::ReactionTime => number(links.first()),
            ChainMeasure::DataAge => number(links.last()),
        };
        // Times beyond all numbers are no bound that any time is within.
        (0..jobs).map(|job| of(job).unwrap_or(UNKNOWN)).max().unwrap_or(UNKNOWN)
    }
}

/// The hyperperiod of threads, if none has too many jobs in it.
fn hyperperiod(threads: &[(Instant, Duration, Duration)]) -> Option<Duration> {
    let mut periods = threads.iter().map(|(_, period, _)| *period);
    let all = periods.try_fold(Duration::from_ns(1), Duration::least_common_multiple)?;
    let most = |period: Duration| period.checked_mul(MOST_JOBS);
    threads.iter().all(|(_, period, _)| most(*period).is_none_or(|most| all <= most)).then_some(all)
}

/// Whether jobs may come at other times than stated, or nobody knows how late.
fn is_unknown(thread: &HostThread) -> bool {
    thread.jitter >= HostThread::UNKNOWN_JITTER || thread.unsure.is_some()
}

/// How long an iteration takes of a thread that does nothing but sleep, and so has a response of its own in all runs;
/// `None`: it does something else, or one may begin late.
fn only_sleep(thread: &HostThread) -> Option<Duration> {
    let mut times: Vec<Duration> = Vec::with_capacity(thread.steps.len());
    let slept = thread.steps.iter().try_for_each(|step| {
        match *step {
            Step::Sleep(time) => times.push(time),
            Step::Repeat { from, times: number } => {
                for time in times.iter_mut().skip(from as usize) {
                    match time.checked_mul(number) {
                        Some(all) => *time = all,
                        None => return ControlFlow::Break(()),
                    }
                }
                times.push(Duration::ZERO);
            }
            _ => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    });
    let all = times.into_iter().try_fold(Duration::ZERO, Duration::checked_add)?;
    let is_over = thread.period.is_none_or(|period| all <= period);
    (slept.is_continue() && thread.barrier.is_none() && is_over).then_some(all)
}
