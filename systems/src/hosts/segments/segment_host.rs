//! Cores, driver calls and locks before the GPU.

use std::collections::VecDeque;

use super::super::SporadicDelays;
use super::{CallState, CoreRun, CoreUse, SegmentJob, Step, class, is_ready, rank};
use crate::device::BlockShape;
use crate::gpu::{GpuEvent, GpuInterface, Host, RunError, SubmitError};
use crate::proven::Proven;
use crate::tasks::segments::{GpuPolicy, GpuWait, SegmentTask, SegmentTaskSet, SegmentTest, TaskSegment};
use crate::time::{Duration, Instant};
use crate::workload::{
    BlockClock, BlockTime, InterleaveLevel, Kernel, KernelId, OperationId, OperationKind, Origin, ProcessId,
    ProcessSharing, ProcessSpec, StreamId, StreamSpec,
};

/// A task as the host sees it.
#[derive(Debug)]
struct Program {
    process: ProcessId,
    stream: StreamId,
    /// Of its GPU segments.
    kernels: Vec<KernelId>,
    next_release: Instant,
    released: u64,
    /// Jobs that were released and are not done, the oldest first; it alone has steps.
    waiting: VecDeque<usize>,
    /// What the oldest job has left to do, last step first; empty if it has not begun.
    steps: Vec<Step>,
    /// GCAPS: between the two calls of a segment.
    between: bool,
    /// GCAPS: whether its context is on the runlist.
    runnable: bool,
}

/// Releases jobs, runs their CPU parts on cores and submits their GPU parts.
#[derive(Debug)]
pub(super) struct SegmentHost {
    tasks: Vec<SegmentTask>,
    cpus: u32,
    policy: GpuPolicy,
    waiting: GpuWait,
    /// What a call takes on its core.
    call: Duration,
    horizon: Instant,
    programs: Vec<Program>,
    jobs: Vec<SegmentJob>,
    /// Whom each operation is for.
    submitted: Vec<usize>,
    holder: Option<usize>,
    /// Who runs on each core since `since`.
    running: Vec<Option<usize>>,
    since: Instant,
    delays: SporadicDelays,
    /// What cores were busy with, if that is asked for; of each core, what it has been busy with since when.
    cores: Option<Vec<CoreRun>>,
    begun: Vec<Option<CoreRun>>,
}

impl SegmentHost {
    /// Makes processes, streams and kernels known to `gpu`.
    ///
    /// # Errors
    /// Whatever the GPU refuses.
    pub(super) fn new(
        set: &SegmentTaskSet,
        test: SegmentTest,
        (horizon, seed, records_cores): (Instant, u64, bool),
        gpu: &mut impl GpuInterface,
    ) -> Result<Self, SubmitError> {
        let mut delays = SporadicDelays::new(seed, set.tasks.len());
        gpu.set_sharing(ProcessSharing { mps: false, switch_cost: Some(set.gpu.switch_cost) })?;
        let mut programs = Vec::with_capacity(set.tasks.len());
        for (number, task) in set.tasks.iter().enumerate() {
            let level = if task.has_high_level { InterleaveLevel::High } else { InterleaveLevel::Low };
            let time_slice = Some(set.gpu.time_slice);
            let process = gpu.add_process(ProcessSpec { time_slice, level, ..ProcessSpec::new(task.name.clone()) })?;
            let stream =
                gpu.add_stream(StreamSpec { process, blocking: false, ..StreamSpec::new(task.name.clone()) })?;
            // It has the whole GPU in its turns: one block on it is as good as many.
            let kernel = |exec| Kernel {
                name: task.name.clone(),
                title: task.name.clone(),
                blocks: 1,
                shape: BlockShape { threads: 1, ..BlockShape::default() },
                duration: BlockTime::fixed(exec),
                clock: BlockClock::RunTime,
                sm_mask: None,
            };
            let kernels = task.gpu_segments().map(|segment| gpu.add_kernel(kernel(segment.exec)));
            let kernels = kernels.collect::<Result<_, _>>()?;
            programs.push(Program {
                process,
                stream,
                kernels,
                next_release: Instant::ZERO.saturating_add(task.offset).saturating_add(delay(
                    &mut delays,
                    number,
                    task,
                )),
                released: 0,
                waiting: VecDeque::new(),
                steps: Vec::new(),
                between: false,
                runnable: true,
            });
        }
        Ok(Self {
            tasks: set.tasks.clone(),
            cpus: set.cpus,
            policy: test.policy(),
            waiting: test.waiting(),
            // The GPU switches after it, which the update includes.
            call: Duration::from_ns(set.gpu.update().as_ns().saturating_sub(set.gpu.switch_cost.as_ns())),
            horizon,
            programs,
            jobs: Vec::new(),
            submitted: Vec::new(),
            holder: None,
            running: vec![None; set.cpus as usize],
            since: Instant::ZERO,
            delays,
            cores: records_cores.then(Vec::new),
            begun: vec![None; set.cpus as usize],
        })
    }

    /// All jobs, in the order of release; the task of each operation; what cores were busy with.
    pub(super) fn into_records(self) -> (Vec<SegmentJob>, Vec<usize>, Vec<CoreRun>) {
        (self.jobs, self.submitted, self.cores.unwrap_or_default())
    }

    /// Notes what the cores are busy with from now on.
    fn note_cores(&mut self, now: Instant) {
        for (cpu, &task) in (0..).zip(&self.running) {
            let what = task.and_then(|task| Some((task, self.step(task)?))).map(|(task, step)| match step {
                Step::Call { state: CallState::UnderWay, .. } => (task, CoreUse::Call),
                Step::Cpu(_) => (task, CoreUse::Works),
                _ => (task, CoreUse::Waits),
            });
            let begun = &mut self.begun[cpu as usize];
            if begun.map(|run| (run.task, run.what)) == what {
                continue;
            }
            let ended = begun.take().filter(|run| run.from < now);
            *begun = what.map(|(task, what)| CoreRun { cpu, task, what, from: now, to: now });
            if let (Some(run), Some(cores)) = (ended, &mut self.cores) {
                cores.push(CoreRun { to: now, ..run });
            }
        }
    }

    fn step(&self, task: usize) -> Option<Step> {
        self.programs[task].steps.last().copied()
    }

    fn put(&mut self, task: usize, step: Step) {
        if let Some(last) = self.programs[task].steps.last_mut() {
            *last = step;
        }
    }

    /// What a job of `task` does, last step first.
    fn steps(&self, task: usize) -> Vec<Step> {
        let mut kernels = self.programs[task].kernels.iter();
        let call = |is_first| Step::Call { is_first, left: self.call, state: CallState::Ahead };
        let mut steps = Vec::new();
        for segment in &self.tasks[task].segments {
            match (segment, self.policy) {
                (TaskSegment::Cpu(time), _) => steps.push(Step::Cpu(*time)),
                (TaskSegment::Gpu(gpu), policy) => {
                    let misc = Step::Cpu(gpu.misc);
                    let exec = kernels.next().map(|&kernel| Step::Gpu { kernel, operation: None });
                    match policy {
                        GpuPolicy::RoundRobin => steps.extend([misc].into_iter().chain(exec)),
                        GpuPolicy::Gcaps => {
                            steps.extend([call(true), misc].into_iter().chain(exec).chain([call(false)]));
                        }
                        GpuPolicy::Mpcp | GpuPolicy::FmlpPlus => {
                            let lock = Step::Lock { asked: None };
                            steps.extend([lock, misc].into_iter().chain(exec).chain([Step::Unlock]));
                        }
                    }
                }
            }
        }
        steps.reverse();
        steps
    }

    /// What has run on the cores until now has that much less left.
    fn advance(&mut self, now: Instant) {
        let elapsed = now.since(self.since).as_ns();
        let less = |left: Duration| Duration::from_ns(left.as_ns().saturating_sub(elapsed));
        for core in 0..self.running.len() {
            let Some(task) = self.running[core] else { continue };
            match self.step(task) {
                Some(Step::Cpu(left)) => self.put(task, Step::Cpu(less(left))),
                Some(Step::Call { is_first, left, state: CallState::UnderWay }) => {
                    self.put(task, Step::Call { is_first, left: less(left), state: CallState::UnderWay });
                }
                _ => {}
            }
        }
        self.since = now;
    }

    /// Releases what is due, and begins jobs whose predecessors are done.
    fn release(&mut self, now: Instant) {
        for task in 0..self.tasks.len() {
            while self.programs[task].next_release <= now && self.programs[task].next_release < self.horizon {
                let (released, number) = (self.programs[task].next_release, self.programs[task].released);
                let job = self.jobs.len();
                self.jobs.push(SegmentJob { task, number, released, finished: None });
                let program = &mut self.programs[task];
                program.waiting.push_back(job);
                let gap = self.tasks[task].period + delay(&mut self.delays, task, &self.tasks[task]);
                program.next_release = released.saturating_add(gap);
                program.released += 1;
            }
            self.begin(task);
        }
    }

    fn begin(&mut self, task: usize) {
        if self.programs[task].steps.is_empty() && !self.programs[task].waiting.is_empty() {
            self.programs[task].steps = self.steps(task);
        }
    }

    /// Goes to the next step; the job is done behind the last one.
    fn finish_step(&mut self, task: usize, now: Instant) {
        let program = &mut self.programs[task];
        program.steps.pop();
        if program.steps.is_empty() {
            if let Some(job) = program.waiting.pop_front() {
                self.jobs[job].finished = Some(now);
            }
            self.begin(task);
        }
    }

    /// One thing that takes no time; says whether there was any.
    fn take_instant_step(&mut self, gpu: &mut impl GpuInterface) -> Result<bool, RunError> {
        let now = gpu.now();
        for task in 0..self.tasks.len() {
            match self.step(task) {
                Some(Step::Cpu(Duration::ZERO)) => self.finish_step(task, now),
                Some(Step::Gpu { kernel, operation: None }) => {
                    let number = self.programs[task].waiting.front().map_or(0, |&job| self.jobs[job].number);
                    let thread = u32::try_from(task)
                        .proven("each task has a job, and more than MAX_JOBS are refused beforehand");
                    let iteration = u32::try_from(number).proven("more jobs than MAX_JOBS are refused beforehand");
                    let origin = Origin { thread, iteration };
                    let kind = OperationKind::Kernel(kernel);
                    let operation = gpu.submit(self.programs[task].stream, kind, origin)?;
                    self.submitted.push(task);
                    self.put(task, Step::Gpu { kernel, operation: Some(operation) });
                }
                Some(Step::Call { is_first, left: Duration::ZERO, .. }) => {
                    self.programs[task].between = is_first;
                    self.finish_step(task, now);
                }
                Some(Step::Unlock) => {
                    self.holder = None;
                    self.finish_step(task, now);
                }
                _ => continue,
            }
            return Ok(true);
        }
        // All cores ask at once: who asks for a lock that is free has it before anyone else of its core can ask.
        let mut has_asked = false;
        for cpu in 0..self.cpus {
            let Some(task) = self.on_core(cpu) else { continue };
            match self.step(task) {
                Some(Step::Call { is_first, left, state: CallState::Ahead }) => {
                    self.put(task, Step::Call { is_first, left, state: CallState::Asked });
                }
                Some(Step::Lock { asked: None }) => {
                    self.put(task, Step::Lock { asked: Some(now) });
                }
                _ => continue,
            }
            has_asked = true;
        }
        Ok(self.give_call() || self.give_lock(now) || has_asked)
    }

    /// One driver call at a time, the most urgent first.
    fn give_call(&mut self) -> bool {
        let state = |host: &Self, task: usize| match host.step(task) {
            Some(Step::Call { state, .. }) => Some(state),
            _ => None,
        };
        let tasks = 0..self.tasks.len();
        if tasks.clone().any(|task| state(self, task) == Some(CallState::UnderWay)) {
            return false;
        }
        let asking = tasks.filter(|&task| state(self, task) == Some(CallState::Asked));
        let Some(task) = asking.min_by_key(|&task| rank(&self.tasks, task)) else { return false };
        if let Some(Step::Call { is_first, left, .. }) = self.step(task) {
            self.put(task, Step::Call { is_first, left, state: CallState::UnderWay });
        }
        true
    }

    fn give_lock(&mut self, now: Instant) -> bool {
        let asking = (0..self.tasks.len()).filter_map(|task| match self.step(task) {
            Some(Step::Lock { asked: Some(since) }) => Some((since, task)),
            _ => None,
        });
        let next = match self.policy {
            // Of those that asked at one instant, the most urgent.
            GpuPolicy::FmlpPlus => asking.min_by_key(|&(since, task)| (since, rank(&self.tasks, task))),
            _ => asking.min_by_key(|&(_, task)| rank(&self.tasks, task)),
        };
        let Some((_, task)) = next.filter(|_| self.holder.is_none()) else { return false };
        self.holder = Some(task);
        self.finish_step(task, now);
        true
    }

    /// Who runs on a core.
    fn on_core(&self, cpu: u32) -> Option<usize> {
        let own = (0..self.tasks.len()).filter(|&task| self.tasks[task].cpu == cpu);
        let ready = own.filter_map(|task| self.step(task).map(|step| (task, step)));
        let ready = ready.filter(|&(_, step)| is_ready(step, self.waiting));
        let first = ready.min_by_key(|&(task, step)| (class(step, self.holder == Some(task)), rank(&self.tasks, task)));
        first.map(|(task, _)| task)
    }

    /// GCAPS: the most urgent task between its calls has the GPU; without one of priority, all of best effort share it.
    fn update_runlist(&mut self, gpu: &mut impl GpuInterface) {
        let between = (0..self.tasks.len()).filter(|&task| self.programs[task].between);
        let top = between.min_by_key(|&task| rank(&self.tasks, task));
        for task in 0..self.tasks.len() {
            let shares = top.is_some_and(|top| self.tasks[top].priority.is_none());
            let runnable =
                top == Some(task) || shares && self.programs[task].between && self.tasks[task].priority.is_none();
            if runnable != self.programs[task].runnable {
                self.programs[task].runnable = runnable;
                gpu.set_runnable(self.programs[task].process, runnable);
            }
        }
    }

    /// When something happens next that is not of the GPU.
    fn next_instant(&self) -> Option<Instant> {
        let releases = self.programs.iter().map(|program| program.next_release).filter(|&at| at < self.horizon);
        let ends = self.running.iter().flatten().filter_map(|&task| match self.step(task) {
            Some(Step::Cpu(left) | Step::Call { left, state: CallState::UnderWay, .. }) => {
                Some(self.since.saturating_add(left))
            }
            _ => None,
        });
        releases.chain(ends).min()
    }

    fn is_for(&self, operation: OperationId) -> Option<usize> {
        self.submitted.get(operation.index()).copied()
    }
}

impl Host for SegmentHost {
    type Error = RunError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        gpu.wake_at(Instant::ZERO, 0);
        Ok(())
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &impl GpuInterface) {
        let GpuEvent::Completed(operation) = event else { return };
        let Some(task) = self.is_for(operation) else { return };
        // What the cores did until now comes first.
        self.advance(gpu.now());
        self.finish_step(task, gpu.now());
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        self.advance(gpu.now());
        self.release(gpu.now());
        while self.take_instant_step(gpu)? {}
        if self.policy == GpuPolicy::Gcaps {
            self.update_runlist(gpu);
        }
        self.running = (0..self.cpus).map(|cpu| self.on_core(cpu)).collect();
        if self.cores.is_some() {
            self.note_cores(gpu.now());
        }
        if let Some(next) = self.next_instant() {
            gpu.wake_at(next, 0);
        }
        Ok(())
    }
}

/// How much later than it could be the next job of a task is released.
fn delay(delays: &mut SporadicDelays, number: usize, task: &SegmentTask) -> Duration {
    if task.sporadic { Duration::from_ns(delays.next(number, task.period.as_ns())) } else { Duration::ZERO }
}
