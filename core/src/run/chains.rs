//! Chains in a run: how long it took from an event to the first output that knows of it, and how old data was when it
//! came out (`docs/analysis.md`, "Chains").

use std::ops::Range;
use std::sync::Arc;

use super::summary::Summary;
use crate::gpu::Ended;
use crate::scenario::{Chain, ChainLink, ChainMeasure, HostThread, Scenario};
use crate::time::{Duration, Instant, is_in_time};
use crate::trace::NEVER;
use crate::workload::Origin;

/// What one chain came to in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainRun {
    /// Name of the chain.
    pub chain: Arc<str>,
    /// What was measured of it.
    pub measure: ChainMeasure,
    /// How often it was: events between two reads of the first link that have an output, or outputs that are made of
    /// data.
    pub measured: u64,
    /// Events of which no output knew when the run ended.
    pub unfinished: u64,
    /// The longest; `None`: there was none.
    pub worst: Option<ChainDelay>,
    /// How long it may be at most.
    pub limit: Option<Duration>,
    /// How often it was longer.
    pub misses: u64,
}

impl ChainRun {
    /// Whether there is a limit of which the run says nothing: nothing was measured, and nothing is known to be longer.
    pub fn is_unmeasured(&self) -> bool {
        self.limit.is_some() && self.measured == 0 && self.misses == 0
    }
}

/// One way of data through a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainDelay {
    /// The read of the first link just after which the event came, or which the output is made of.
    pub from: Instant,
    /// When the last link wrote, or, if it had not, the end of the run.
    pub to: Instant,
    /// By link: which job of its thread handed the data on, from 0. Fewer than links if the run ended before.
    pub jobs: Vec<u32>,
    /// Whether the last link had not written when the run ended: all that is known is that it takes longer.
    pub is_cut: bool,
}

impl ChainDelay {
    /// From beginning to end.
    pub fn length(&self) -> Duration {
        self.to.since(self.from)
    }

    /// What is known of it in words: a length that a run cut short is exceeded.
    pub(crate) fn known_length(length: Duration, is_cut: bool) -> String {
        if is_cut { format!("longer than {length}") } else { length.to_string() }
    }

    /// The jobs, by the names of their threads.
    pub fn path(&self, chain: &Chain, scenario: &Scenario) -> String {
        let label = |link: &ChainLink| scenario.threads.get(link.thread as usize).map_or("", |thread| &thread.label);
        let jobs = chain.links.iter().zip(&self.jobs);
        let jobs: Vec<String> = jobs.map(|(link, job)| format!("{} {job}", label(link))).collect();
        let end = match self.jobs.len() {
            0 => "no output yet",
            some if some < chain.links.len() => " > no output yet",
            _ => "",
        };
        format!("{}{end}", jobs.join(" > "))
    }
}

/// The way of data that takes longest, of the chain that is nearest to its limit or farthest beyond it.
#[derive(Debug)]
pub(crate) struct LongestWay<'a> {
    pub(crate) chain: &'a Chain,
    /// Its longest reaction time.
    pub(crate) delay: ChainDelay,
    /// By link: the host thread, and when its job read and wrote.
    pub(crate) jobs: Vec<(u32, Instant, Instant)>,
}

impl LongestWay<'_> {
    /// What it is.
    pub(crate) fn name(&self) -> String {
        format!("longest reaction time of {}: {}", self.chain.name, self.delay.length())
    }
}

/// When the jobs of a link read and wrote, in their order, in which they do both; [`NEVER`]: not before the run ended.
#[derive(Debug, Clone, Default)]
struct LinkTimes {
    reads: Vec<Instant>,
    writes: Vec<Instant>,
    /// Whether the ends of jobs of the link before release its jobs, so that each takes what the one of its number has
    /// written.
    is_triggered: bool,
}

impl LinkTimes {
    /// The job that reads what number `job` of the link before had written at an instant.
    fn reader(&self, job: usize, written: Instant) -> usize {
        if self.is_triggered { job } else { self.reads.partition_point(|read| *read < written) }
    }
}

/// When all jobs of a chain read and wrote.
#[derive(Debug, Clone)]
pub(crate) struct ChainTimes {
    links: Vec<LinkTimes>,
    /// When the run ended, if all threads of the chain would have gone on.
    cut: Option<Instant>,
}

/// The jobs of one link, as far as they are known.
#[derive(Debug, Clone, Copy)]
struct LinkJob {
    began: Instant,
    host_finished: Instant,
    operations: Instant,
    read: Instant,
    written: Instant,
    /// Operations after which it has written.
    writing: u64,
}

impl LinkJob {
    const ABSENT: Self = Self {
        began: NEVER,
        host_finished: NEVER,
        operations: Instant::ZERO,
        read: NEVER,
        written: Instant::ZERO,
        writing: 0,
    };
}

/// Whether a thread with releases of its own would have begun further jobs, had a run not ended then.
pub(crate) fn goes_on(thread: &HostThread, end: Instant) -> bool {
    let last = |iterations: u64| iterations.checked_sub(1).map_or(Instant::ZERO, |last| thread.release_of(last));
    thread.period.is_some()
        && !thread.may_end_early()
        && thread.iterations_in_all().is_none_or(|iterations| last(iterations) > end)
}

impl ChainTimes {
    /// Of a run that counts up to `end`, or is over. Which job of those of `scenario` an iteration of its threads is,
    /// `job` tells, and whether it does all that the job does.
    pub(crate) fn new(
        chain: &Chain,
        scenario: &Scenario,
        run: &Summary<'_>,
        end: Option<Instant>,
        job: impl Fn(Origin) -> Option<(Origin, bool)>,
    ) -> Self {
        let links = chain.links.iter().map(|link| LinkTimes::new(link, scenario, run, end.unwrap_or(NEVER), &job));
        let mut links: Vec<LinkTimes> = links.collect();
        for (pair, link) in chain.links.windows(2).zip(links.iter_mut().skip(1)) {
            link.is_triggered = pair[0].releases(&pair[1], scenario);
        }
        let mut threads = chain.links.iter().filter_map(|link| scenario.timed(link.thread));
        let cut = end.filter(|&end| threads.all(|thread| goes_on(thread, end)));
        Self { links, cut }
    }

    /// Takes the times of links without jobs here from another run, if they have any there; whether all have their own.
    pub(crate) fn fill(&mut self, from: &Self) -> bool {
        let mut is_whole = true;
        for (own, known) in self.links.iter_mut().zip(&from.links).filter(|(own, _)| own.reads.is_empty()) {
            is_whole &= known.reads.is_empty();
            own.clone_from(known);
        }
        is_whole
    }

    /// The length of the longest of each measure.
    pub(crate) fn worst(&self) -> [Option<Duration>; 2] {
        ChainMeasure::ALL.map(|measure| {
            let mut worst = None;
            self.each(measure, |delay, _| worst = worst.max(Some(delay.end.since(delay.start))));
            worst
        })
    }

    /// What it came to.
    pub(crate) fn sum_up(&self, chain: &Chain, measure: ChainMeasure) -> ChainRun {
        let limit = chain.limit(measure);
        let mut sum = ChainRun {
            chain: Arc::clone(&chain.name),
            measure,
            measured: 0,
            unfinished: 0,
            worst: None,
            limit,
            misses: 0,
        };
        let mut longest: Option<(Range<Instant>, bool)> = None;
        let length = |delay: &Range<Instant>| delay.end.since(delay.start);
        let unfinished = self.each(measure, |delay, is_cut| {
            sum.measured += u64::from(!is_cut);
            sum.misses += u64::from(limit.is_some_and(|limit| !is_in_time(length(&delay), limit)));
            if longest.as_ref().is_none_or(|(longest, _)| length(&delay) > length(longest)) {
                longest = Some((delay, is_cut));
            }
        });
        sum.unfinished = unfinished;
        sum.worst = longest.map(|(Range { start: from, end: to }, is_cut)| ChainDelay {
            from,
            to,
            jobs: self.jobs(measure, from, to),
            is_cut,
        });
        sum
    }

    /// Tells of each delay, and whether it goes on beyond the end, and comes back with how many events no output knew
    /// of by the end.
    fn each(&self, measure: ChainMeasure, mut tell: impl FnMut(Range<Instant>, bool)) -> u64 {
        let mut unfinished = 0;
        match measure {
            ChainMeasure::ReactionTime => {
                let Some(first) = self.links.first() else { return 0 };
                let begun = first.reads.iter().take_while(|read| **read != NEVER).count();
                for (before, &from) in first.reads[..begun].iter().enumerate() {
                    match self.forward(before + 1, |_| ()) {
                        Some(to) => tell(from..to, false),
                        // What the last job has not read, one that does not exist never will.
                        None if before + 1 == first.reads.len() && self.cut.is_none() => {}
                        None => {
                            unfinished += 1;
                            self.cut.into_iter().for_each(|end| tell(from..end.max(from), true));
                        }
                    }
                }
            }
            ChainMeasure::DataAge => {
                let Some(last) = self.links.last() else { return 0 };
                for (job, &to) in last.writes.iter().enumerate().filter(|(_, write)| **write != NEVER) {
                    if let Some(from) = self.backward(job, |_| ()) {
                        tell(from..to, false);
                    }
                }
            }
        }
        unfinished
    }

    /// When the first output comes that knows of what job number `job` of the first link has read; tells `visit` of the
    /// jobs on the way.
    fn forward(&self, job: usize, mut visit: impl FnMut(usize)) -> Option<Instant> {
        let (first, others) = self.links.split_first()?;
        let write = |link: &LinkTimes, job: usize| link.writes.get(job).copied().filter(|write| *write != NEVER);
        let (mut job, mut written) = (job, write(first, job)?);
        visit(job);
        for link in others {
            job = link.reader(job, written);
            written = write(link, job)?;
            visit(job);
        }
        Some(written)
    }

    /// When that was read which the output of job number `job` of the last link is made of; tells `visit` of the jobs
    /// on the way.
    fn backward(&self, job: usize, mut visit: impl FnMut(usize)) -> Option<Instant> {
        let (mut job, mut next) = (job, self.links.last()?);
        let mut read = *next.reads.get(job)?;
        visit(job);
        for link in self.links.iter().rev().skip(1) {
            if !next.is_triggered {
                job = link.writes.partition_point(|written| *written <= read).checked_sub(1)?;
            }
            next = link;
            read = *link.reads.get(job)?;
            visit(job);
        }
        Some(read)
    }

    /// The jobs on the way of a delay.
    fn jobs(&self, measure: ChainMeasure, from: Instant, to: Instant) -> Vec<u32> {
        let mut jobs = Vec::new();
        // Iterations have numbers of 32 bits.
        let mut visit = |job: usize| jobs.extend(u32::try_from(job));
        match measure {
            ChainMeasure::ReactionTime => {
                let before = self.links.first().map_or(0, |first| first.reads.partition_point(|read| *read <= from));
                self.forward(before, &mut visit);
            }
            ChainMeasure::DataAge => {
                let last = self.links.last().map_or(0, |last| last.writes.partition_point(|write| *write < to));
                self.backward(last, &mut visit);
                jobs.reverse();
            }
        }
        jobs
    }
}

impl LinkTimes {
    fn new(
        link: &ChainLink,
        scenario: &Scenario,
        run: &Summary<'_>,
        end: Instant,
        job: impl Fn(Origin) -> Option<(Origin, bool)>,
    ) -> Self {
        let Some(thread) = scenario.threads.get(link.thread as usize) else { return Self::default() };
        let mut known: Vec<LinkJob> = Vec::new();
        let place = |origin: Origin| {
            let (origin, is_whole) = job(origin).filter(|(origin, _)| origin.thread == link.thread)?;
            Some((origin.iteration as usize, is_whole))
        };
        for span in run.iterations {
            if let Some((place, is_whole)) = place(Origin { thread: span.thread, iteration: span.iteration }) {
                known.resize(known.len().max(place + 1), LinkJob::ABSENT);
                known[place].began = span.start;
                known[place].host_finished = span.end().filter(|_| is_whole).unwrap_or(NEVER);
            }
        }
        for record in run.trace.operations() {
            let Some(job) = place(record.origin).and_then(|(place, _)| known.get_mut(place)) else { continue };
            let finish = record.finish().unwrap_or(NEVER);
            job.operations = job.operations.max(finish);
            if link.reads.as_ref().is_some_and(|reads| reads.is(record.kind, run.scenario)) {
                job.read = job.read.min(record.first_start().unwrap_or(NEVER));
            }
            if link.writes.as_ref().is_some_and(|writes| writes.is(record.kind, run.scenario)) {
                job.written = job.written.max(finish);
                job.writing += 1;
            }
        }
        let writing = link.writes.as_ref().map(|writes| writes.number(thread, scenario));
        let by_end = |at: Instant| if at <= end { at } else { NEVER };
        let read = |job: &LinkJob| by_end(if link.reads.is_some() { job.read } else { job.began });
        let written = |job: &LinkJob| {
            by_end(match writing {
                None => job.operations.max(job.host_finished),
                Some(all) if job.writing == all => job.written,
                Some(_) => NEVER,
            })
        };
        let (reads, writes) = (known.iter().map(read).collect(), known.iter().map(written).collect());
        Self { reads, writes, is_triggered: false }
    }
}

impl<'a> Summary<'a> {
    /// The way of data to show, if the scenario has chains and one of them has an output.
    pub(crate) fn longest_way(&self) -> Option<LongestWay<'a>> {
        let measure = ChainMeasure::ReactionTime;
        let ways = self.scenario.chains.iter().filter_map(|chain| {
            let times = self.times_of(chain);
            let delay = times.sum_up(chain, measure).worst?;
            let jobs = chain.links.iter().zip(&times.links).zip(&delay.jobs);
            let jobs = jobs.filter_map(|((link, times), &job)| {
                let job = job as usize;
                Some((link.thread, *times.reads.get(job)?, *times.writes.get(job)?))
            });
            let jobs: Vec<_> = jobs.collect();
            Some(LongestWay { chain, delay, jobs })
        });
        // Without a limit any length is beyond it.
        let beyond = |way: &LongestWay<'_>| {
            let length = i128::from(way.delay.length().as_ns());
            length - way.chain.limit(measure).map_or(0, |limit| i128::from(limit.as_ns()))
        };
        ways.filter(|way| way.jobs.len() == way.chain.links.len()).max_by_key(beyond)
    }
}

impl Summary<'_> {
    /// When the jobs of a chain read and wrote: until the run was ended, or has fewer jobs than there are.
    fn times_of(&self, chain: &Chain) -> ChainTimes {
        let end = if self.ended == Ended::Horizon { Some(self.trace.end()) } else { self.scenario.cut_at() };
        ChainTimes::new(chain, self.scenario, self, end, |job| Some((job, true)))
    }

    /// What the chains of the scenario came to, each by both measures.
    pub fn chains(&self) -> Vec<ChainRun> {
        let chains = self.scenario.chains.iter().map(|chain| (chain, self.times_of(chain)));
        chains.flat_map(|(chain, times)| ChainMeasure::ALL.map(|measure| times.sum_up(chain, measure))).collect()
    }
}
