//! Tasks with segments, simulated one tick after the other in the plainest words: a second implementation of the task
//! model of `docs/tasks.md`, for finding runs that exceed a bound. It shares nothing with the library but the task set.
//!
//! One tick is one nanosecond of the set.

use gpusched::tasks::segments::{GpuWait, SegmentTaskSet, TaskSegment};

/// Who gets the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    RoundRobin,
    Gcaps,
    Mpcp,
    /// MPCP, the holder raised only while it works on its core, not while it waits busily for the GPU.
    MpcpRaisedInMisc,
    FmlpPlus,
}

/// What a run is made of besides the set: releases, and how long each part of each job really takes.
pub(crate) trait Run {
    /// When job number `job` of a task is released, at least T after the one before; nothing: there is none.
    fn release(&mut self, task: usize, job: usize) -> Option<u64>;
    /// How long a part takes that may take `longest`; `least` is the shortest that makes sense.
    fn length(&mut self, longest: u64, least: u64) -> u64;
}

/// A step of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// So much on the CPU is left.
    Cpu(u64),
    /// So much on the GPU is left.
    Gpu(u64),
    /// A driver call, begin or end of a segment, so much of which is left; whether it was asked for and whether it is
    /// under way.
    Call { is_begin: bool, left: u64, asked: bool, under_way: bool },
    /// Asking for the lock; since when.
    Lock { asked: Option<u64> },
    /// Giving the lock back.
    Unlock,
}

struct Job {
    released: u64,
    /// Last step first.
    steps: Vec<Step>,
}

struct Machine<'s> {
    set: &'s SegmentTaskSet,
    sharing: Sharing,
    waiting: GpuWait,
    now: u64,
    jobs: Vec<Option<Job>>,
    /// Round robin: whose turn it is, what is left of the switch to it and of its time.
    turn: usize,
    switching: u64,
    turn_left: u64,
    /// GCAPS: tasks between their two calls.
    between: Vec<bool>,
    /// Locks: who holds it; whose context is on the GPU.
    holder: Option<usize>,
    context: Option<usize>,
}

/// The longest response of each task; 0 if no job was done.
pub(crate) fn longest_responses(
    set: &SegmentTaskSet,
    sharing: Sharing,
    waiting: GpuWait,
    run: &mut impl Run,
    end: u64,
) -> Vec<u64> {
    let tasks = set.tasks.len();
    let first = (0..tasks).find(|&task| set.tasks[task].uses_gpu()).expect("a set uses the GPU");
    let mut machine = Machine {
        set,
        sharing,
        waiting,
        now: 0,
        jobs: (0..tasks).map(|_| None).collect(),
        turn: first,
        switching: 0,
        turn_left: 0,
        between: vec![false; tasks],
        holder: None,
        context: Some(first),
    };
    let mut next: Vec<Option<u64>> = (0..tasks).map(|task| run.release(task, 0)).collect();
    let mut released = vec![1; tasks];
    let mut longest = vec![0; tasks];
    while machine.now < end || machine.jobs.iter().any(Option::is_some) {
        if machine.now > 4 * end {
            break;
        }
        // A job may be done at the very instant at which its task's next one is released.
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for task in 0..tasks {
                if machine.jobs[task].is_none() && next[task].is_some_and(|at| at <= machine.now && at < end) {
                    let at = next[task].expect("it was just seen");
                    machine.jobs[task] = Some(Job { released: at, steps: machine.steps(task, run) });
                    next[task] = run.release(task, released[task]);
                    released[task] += 1;
                }
            }
            machine.take_instant_steps();
            for (task, longest) in longest.iter_mut().enumerate() {
                if machine.jobs[task].as_ref().is_some_and(|job| job.steps.is_empty()) {
                    let job = machine.jobs[task].take().expect("it was just seen");
                    *longest = machine.now.saturating_sub(job.released).max(*longest);
                    has_changed = true;
                }
            }
        }
        machine.tick();
    }
    longest
}

impl Machine<'_> {
    fn steps(&self, task: usize, run: &mut impl Run) -> Vec<Step> {
        let update = self.set.gpu.update_cost.as_ns();
        let mut steps = Vec::new();
        for segment in &self.set.tasks[task].segments {
            match segment {
                TaskSegment::Cpu(time) => steps.push(Step::Cpu(run.length(time.as_ns(), 0))),
                TaskSegment::Gpu(gpu) => {
                    let call = |is_begin| Step::Call { is_begin, left: update, asked: false, under_way: false };
                    match self.sharing {
                        Sharing::RoundRobin => {}
                        Sharing::Gcaps => steps.push(call(true)),
                        Sharing::Mpcp | Sharing::MpcpRaisedInMisc | Sharing::FmlpPlus => {
                            steps.push(Step::Lock { asked: None });
                        }
                    }
                    steps.push(Step::Cpu(run.length(gpu.misc.as_ns(), 0)));
                    steps.push(Step::Gpu(run.length(gpu.exec.as_ns(), 1)));
                    match self.sharing {
                        Sharing::RoundRobin => {}
                        Sharing::Gcaps => steps.push(call(false)),
                        Sharing::Mpcp | Sharing::MpcpRaisedInMisc | Sharing::FmlpPlus => steps.push(Step::Unlock),
                    }
                }
            }
        }
        steps.reverse();
        steps
    }

    fn step(&self, task: usize) -> Option<Step> {
        self.jobs[task].as_ref().and_then(|job| job.steps.last().copied())
    }

    fn set_step(&mut self, task: usize, step: Step) {
        *self.jobs[task].as_mut().expect("it has a job").steps.last_mut().expect("it has a step") = step;
    }

    fn drop_step(&mut self, task: usize) {
        self.jobs[task].as_mut().expect("it has a job").steps.pop();
    }

    /// The smaller, the more urgent.
    fn rank(&self, task: usize) -> (u64, usize) {
        (self.set.tasks[task].priority.unwrap_or(u64::MAX), task)
    }

    /// Who runs on a core: whoever is in a driver call, else the holder of the lock, else the most urgent that is
    /// ready.
    fn on_core(&self, cpu: u32) -> Option<usize> {
        let ready = |task: &usize| match self.step(*task) {
            Some(Step::Cpu(_) | Step::Call { .. } | Step::Unlock) => true,
            Some(Step::Gpu(_)) => self.waiting == GpuWait::Busy,
            Some(Step::Lock { asked }) => asked.is_none(),
            None => false,
        };
        let class = |task: usize| match self.step(task) {
            Some(Step::Call { under_way: true, .. }) => 0,
            Some(Step::Gpu(_)) if self.sharing == Sharing::MpcpRaisedInMisc => 2,
            _ if self.holder == Some(task) => 1,
            _ => 2,
        };
        let own = (0..self.set.tasks.len()).filter(|&task| self.set.tasks[task].cpu == cpu).filter(ready);
        own.min_by_key(|&task| (class(task), self.rank(task)))
    }

    /// Everything that takes no time.
    fn take_instant_steps(&mut self) {
        while self.take_instant_step() {}
        self.turns();
    }

    fn take_instant_step(&mut self) -> bool {
        for task in 0..self.set.tasks.len() {
            match self.step(task) {
                Some(Step::Cpu(0) | Step::Gpu(0)) => {
                    self.drop_step(task);
                    // A turn ends when there is nothing left to do in it.
                    if self.turn == task && self.switching == 0 && !matches!(self.step(task), Some(Step::Gpu(1..))) {
                        self.turn_left = 0;
                    }
                    return true;
                }
                // A call without cost needs no core: whoever is at its end at some instant is past it at that instant.
                Some(Step::Call { is_begin, left: 0, .. }) => {
                    self.between[task] = is_begin;
                    self.drop_step(task);
                    return true;
                }
                Some(Step::Unlock) => {
                    self.holder = None;
                    self.drop_step(task);
                    return true;
                }
                _ => {}
            }
        }
        // All cores ask at once: who asks for a lock that is free has it before anyone else of its core can ask.
        let mut has_asked = false;
        for cpu in 0..self.set.cpus {
            let Some(task) = self.on_core(cpu) else { continue };
            match self.step(task) {
                Some(Step::Call { is_begin, left, asked: false, .. }) => {
                    self.set_step(task, Step::Call { is_begin, left, asked: true, under_way: false });
                    has_asked = true;
                }
                Some(Step::Lock { asked: None }) => {
                    self.set_step(task, Step::Lock { asked: Some(self.now) });
                    has_asked = true;
                }
                _ => {}
            }
        }
        self.give_call() || self.give_lock() || has_asked
    }

    /// One driver call at a time, the most urgent first.
    fn give_call(&mut self) -> bool {
        let tasks = 0..self.set.tasks.len();
        if tasks.clone().any(|task| matches!(self.step(task), Some(Step::Call { under_way: true, .. }))) {
            return false;
        }
        let asking = tasks.filter(|&task| matches!(self.step(task), Some(Step::Call { asked: true, .. })));
        let Some(task) = asking.min_by_key(|&task| self.rank(task)) else { return false };
        let Some(Step::Call { is_begin, left, .. }) = self.step(task) else { return false };
        self.set_step(task, Step::Call { is_begin, left, asked: true, under_way: true });
        true
    }

    fn give_lock(&mut self) -> bool {
        if self.holder.is_some() {
            return false;
        }
        let asking = (0..self.set.tasks.len()).filter_map(|task| match self.step(task) {
            Some(Step::Lock { asked: Some(since) }) => Some((since, task)),
            _ => None,
        });
        let chosen = match self.sharing {
            Sharing::FmlpPlus => asking.min_by_key(|&(since, task)| (since, self.rank(task))),
            _ => asking.min_by_key(|&(_, task)| self.rank(task)),
        };
        let Some((_, task)) = chosen else { return false };
        self.holder = Some(task);
        self.drop_step(task);
        // The switch to its context comes with its GPU work.
        if self.context != Some(task) {
            self.context = Some(task);
            let switch = self.set.gpu.switch_cost.as_ns();
            let steps = &mut self.jobs[task].as_mut().expect("it has a job").steps;
            let gpu = steps.iter_mut().rev().find(|step| matches!(step, Step::Gpu(_)));
            if let Some(Step::Gpu(left)) = gpu {
                *left += switch;
            }
        }
        true
    }

    /// Whose turn it is.
    fn turns(&mut self) {
        let tasks = self.set.tasks.len();
        let has_work = |task: usize| matches!(self.step(task), Some(Step::Gpu(_)));
        if self.sharing != Sharing::RoundRobin || self.switching > 0 || (self.turn_left > 0 && has_work(self.turn)) {
            return;
        }
        let after = (1..=tasks).map(|distance| (self.turn + distance) % tasks);
        if let Some(next) = after.into_iter().find(|&task| has_work(task)) {
            if next != self.turn {
                self.switching = self.set.gpu.switch_cost.as_ns();
            }
            self.turn = next;
            self.turn_left = self.set.gpu.time_slice.as_ns();
        }
    }

    /// Whom the GPU works for.
    fn on_gpu(&self) -> Option<usize> {
        let chosen = match self.sharing {
            Sharing::RoundRobin => (self.switching == 0).then_some(self.turn),
            Sharing::Gcaps => {
                let between = (0..self.set.tasks.len()).filter(|&task| self.between[task]);
                between.min_by_key(|&task| self.rank(task))
            }
            Sharing::Mpcp | Sharing::MpcpRaisedInMisc | Sharing::FmlpPlus => self.holder,
        };
        chosen.filter(|&task| matches!(self.step(task), Some(Step::Gpu(_))))
    }

    fn tick(&mut self) {
        let gpu = self.on_gpu();
        let cores: Vec<usize> = (0..self.set.cpus).filter_map(|cpu| self.on_core(cpu)).collect();
        if self.switching > 0 {
            self.switching -= 1;
        }
        for task in cores {
            match self.step(task) {
                Some(Step::Cpu(left)) => self.set_step(task, Step::Cpu(left - 1)),
                Some(Step::Call { is_begin, left, asked, under_way: true }) => {
                    self.set_step(task, Step::Call { is_begin, left: left - 1, asked, under_way: true });
                }
                _ => {}
            }
        }
        if let Some(task) = gpu {
            let Some(Step::Gpu(left)) = self.step(task) else { return };
            self.set_step(task, Step::Gpu(left - 1));
            self.turn_left = self.turn_left.saturating_sub(1);
        }
        self.now += 1;
    }
}
