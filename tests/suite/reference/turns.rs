//! Whose turn it is (T1 to T6).

use super::gpu::{Place, ReferenceGpu};

/// A turn of a context.
#[derive(Debug, Clone, Copy)]
struct Turn {
    context: usize,
    began: u64,
    slice: u64,
    /// When its slice is over.
    slice_end: u64,
    /// Its slice is over, and it only lasts until the blocks that are there have ended.
    runs_out: bool,
}

/// What a runlist is at.
#[derive(Debug, Clone, Copy)]
enum Service {
    /// Nobody has work.
    Idle,
    /// A switch to a context, until when.
    Switch(usize, u64),
    Serves(Turn),
}

/// Contexts that take turns on the SMs, or on a copy engine.
#[derive(Debug, Clone)]
pub(super) struct Runlist {
    service: Service,
    /// Where in the round the last turn was, and whose it was.
    last: Option<(usize, usize)>,
    /// Turns that have ended: whose, from when to when.
    turns: Vec<(usize, u64, u64)>,
}

impl Default for Runlist {
    fn default() -> Self {
        Self { service: Service::Idle, last: None, turns: Vec::new() }
    }
}

/// Which of the runlists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Compute,
    Engine(usize),
}

impl Runlist {
    /// T1: whether what a context has begun goes on.
    pub(super) fn serves(&self, context: usize) -> bool {
        matches!(self.service, Service::Serves(turn) if turn.context == context)
    }

    /// Whose work may begin.
    pub(super) fn takes_work_of(&self) -> Option<usize> {
        match self.service {
            Service::Serves(turn) if !turn.runs_out => Some(turn.context),
            _ => None,
        }
    }

    /// When, without any other event, it may be somebody else's turn.
    fn next_event(&self, now: u64) -> Option<u64> {
        match self.service {
            Service::Idle => None,
            Service::Switch(_, until) => Some(until),
            Service::Serves(turn) if turn.runs_out => None,
            Service::Serves(turn) if turn.slice_end > now => Some(turn.slice_end),
            Service::Serves(turn) => Some(turn.slice_end + turn.slice),
        }
    }

    /// All turns up to now, those that follow each other without a pause as one.
    pub(super) fn turns_until(&self, now: u64) -> Vec<(usize, u64, u64)> {
        let mut turns = self.turns.clone();
        if let Service::Serves(turn) = self.service {
            turns.push((turn.context, turn.began, now));
        }
        turns.retain(|&(_, from, to)| from < to);
        turns.dedup_by(|next, turn| {
            let goes_on = turn.0 == next.0 && turn.2 == next.1;
            if goes_on {
                turn.2 = next.2;
            }
            goes_on
        });
        turns
    }
}

impl ReferenceGpu<'_> {
    fn runlist(&mut self, which: Which) -> &mut Runlist {
        match which {
            Which::Compute => &mut self.compute,
            Which::Engine(engine) => &mut self.engines[engine],
        }
    }

    /// The runlists on which turns are taken.
    fn runlists(&self) -> Vec<Which> {
        let mut all = vec![Which::Compute];
        if !self.contexts.share_a_runlist && !self.all_share_links() {
            all.extend((0..self.engines.len()).map(Which::Engine));
        }
        all
    }

    /// When next a slice or a switch ends.
    pub(super) fn next_end_of_turn(&self) -> Option<u64> {
        let own = self.engines.iter().filter(|_| !self.contexts.share_a_runlist);
        own.chain([&self.compute]).filter_map(|runlist| runlist.next_event(self.now)).filter(|&at| at > self.now).min()
    }

    /// Decides whose turn it is from now on, before anything is assigned.
    pub(super) fn settle_turns(&mut self) {
        for which in self.runlists() {
            self.end_turn(which);
            self.begin_turn(which);
        }
    }

    /// T3: the turns to which switches are over now. Timers that have run out end with all else that does at this
    /// instant.
    pub(super) fn end_switches(&mut self) {
        for which in self.runlists() {
            if matches!(self.runlist(which).service, Service::Switch(..)) {
                self.begin_turn(which);
            }
        }
    }

    /// T2, T4: whether the turn is over.
    fn end_turn(&mut self, which: Which) {
        let now = self.now;
        let Service::Serves(mut turn) = self.runlist(which).service else { return };
        // A context alone went on with another slice of the same turn.
        if now > turn.slice_end && !turn.runs_out {
            turn.slice_end += turn.slice;
        }
        let others_wait = (0..self.contexts.number()).any(|other| other != turn.context && self.has_work(which, other));
        let is_in_gap = which == Which::Compute && self.is_in_gap(turn.context);
        let is_over = if !self.has_work(which, turn.context) && !is_in_gap {
            true
        } else if turn.runs_out || (now >= turn.slice_end && others_wait && !self.has_next_turn(which, &mut turn)) {
            turn.runs_out = true;
            let waits_for_blocks = which == Which::Compute && self.contexts.blocks_run_to_their_end;
            !(waits_for_blocks && self.has_blocks(turn.context))
        } else {
            false
        };
        let runlist = self.runlist(which);
        runlist.service = Service::Serves(turn);
        if is_over {
            runlist.turns.push((turn.context, turn.began, now));
            runlist.service = Service::Idle;
        }
    }

    /// T6: whether the next turn, too, is that of the context whose slice is over, which then simply goes on.
    fn has_next_turn(&mut self, which: Which, turn: &mut Turn) -> bool {
        let next = self.next_in_round(which, |context| self.has_work(which, context));
        let is_own = next.is_some_and(|(_, context)| context == turn.context);
        if is_own {
            turn.slice_end = self.now + turn.slice;
            self.runlist(which).last = next;
        }
        is_own
    }

    /// T1, T3, T6: the next turn.
    fn begin_turn(&mut self, which: Which) {
        let now = self.now;
        let next = match self.runlist(which).service {
            Service::Switch(context, until) if until <= now => context,
            Service::Idle => {
                let served = self.runlist(which).last.map(|(_, context)| context);
                let place = self.next_in_round(which, |context| self.has_work(which, context));
                let Some((_, context)) = place else { return };
                self.runlist(which).last = place;
                let cost = match which {
                    Which::Compute if served.is_some_and(|served| served != context) => self.contexts.switch_cost,
                    _ => 0,
                };
                if cost > 0 {
                    let until = self.now + cost;
                    self.runlist(which).service = Service::Switch(context, until);
                    return;
                }
                context
            }
            _ => return,
        };
        let slice = self.slice(which, next);
        let slice_end = self.now + slice;
        let began = self.now;
        self.runlist(which).service = Service::Serves(Turn { context: next, began, slice, slice_end, runs_out: false });
    }

    fn slice(&self, which: Which, context: usize) -> u64 {
        match which {
            Which::Compute => self.contexts.slices[context],
            Which::Engine(_) => self.contexts.copy_slice,
        }
    }

    /// The first place of the round, behind that of the last turn, whose context is one of those asked for.
    fn next_in_round(&self, which: Which, is_asked_for: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        let runlist = match which {
            Which::Compute => &self.compute,
            Which::Engine(engine) => &self.engines[engine],
        };
        // Levels are those of the compute engine; on copy engines contexts trade one after another.
        let in_order: Vec<usize> = (0..self.contexts.number()).collect();
        let round = if matches!(which, Which::Compute) { &self.contexts.round } else { &in_order };
        let first = runlist.last.map_or(0, |(place, _)| place + 1);
        let mut places = (first..first + round.len()).map(|place| place % round.len());
        places.find(|&place| is_asked_for(round[place])).map(|place| (place, round[place]))
    }

    fn has_work(&self, which: Which, context: usize) -> bool {
        let has_copies =
            |engine: usize| self.has_begun_a_copy(context, engine) || !self.ce_queues[context][engine].is_empty();
        match which {
            Which::Engine(engine) => has_copies(engine),
            Which::Compute => {
                let waits = !self.heads(context).is_empty();
                let copies = self.contexts.share_a_runlist && (0..self.engines.len()).any(has_copies);
                self.has_blocks(context) || waits || copies
            }
        }
    }

    /// T2: whether a kernel of a context had come to the GPU before it was the head of its stream, and is held by the
    /// gap behind the kernel before it.
    fn is_in_gap(&self, context: usize) -> bool {
        let heads = self.streams.iter().filter_map(|queue| queue.front().copied());
        heads.filter(|&head| self.context_of(head) == context).any(|head| {
            let before = (0..head).rev().find(|&other| self.operations[other].stream == self.operations[head].stream);
            let is_head_since = before.and_then(|before| self.operations[before].finish).unwrap_or(0);
            let since = is_head_since.max(self.operations[head].launched);
            self.launch_latency_over(head) <= since && self.kernel_gap_over(head) > self.now
        })
    }

    /// Whether a context has blocks that have begun and not ended.
    fn has_blocks(&self, context: usize) -> bool {
        let is_its_own = |operation: usize| self.context_of(operation) == context;
        self.running.iter().any(|running| matches!(running.place, Place::Sm(_)) && is_its_own(running.operation))
    }
}
