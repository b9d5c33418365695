//! Who may leave a stream queue (G2, A1, C1, N1, N2, events, latencies, channels).

use gpusched::device::{ChannelOrder, CopySharing};
use gpusched::workload::{CopyId, OperationKind};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::gpu::ReferenceGpu;

impl ReferenceGpu<'_> {
    /// Lets everything advance that may, after one completion, one launch or one full dispatch.
    pub(super) fn promote(&mut self) {
        while self.complete_one_without_engine() {}
        self.note_waits_for_values(usize::MAX);
        for stream in 0..self.streams.len() {
            if let Some(&head) = self.streams[stream].front() {
                self.operations[head].reached_head.get_or_insert(self.now);
            }
        }
        self.give_back_channels();
        // Who waits already comes before who comes now.
        let mut entering = Vec::new();
        for pool in (0..self.pools()).filter(|_| self.scenario.device().channel_order != ChannelOrder::Submission) {
            while self.free_channels(pool) > 0
                && let Some(operation) = self.next_for_channel(pool)
            {
                self.has_channel[self.operations[operation].stream.index()] = true;
                entering.push(operation);
            }
        }

        let mut ready: Vec<usize> = self
            .streams
            .iter()
            .filter_map(|queue| self.current(queue))
            .filter(|&head| self.operations[head].queued.is_none() && !self.channel_queue.contains(&head))
            .filter(|&head| self.entering.iter().all(|&(ready, _)| ready != head))
            .filter(|&head| self.may_advance(head) && self.time_has_come(head))
            .collect();
        if self.scenario.device().channel_order == ChannelOrder::Submission {
            ready.extend(self.channel_queue.drain(..));
        }
        ready.sort_unstable();
        ready.retain(|operation| !entering.contains(operation));
        for operation in ready {
            let record = &self.operations[operation];
            let stream = record.stream.index();
            let pool = self.pool_of(stream);
            let needs_channel = matches!(record.kind, OperationKind::Kernel(_)) && self.channels_of(pool).is_some();
            if self.scenario.device().channel_order == ChannelOrder::Submission {
                if needs_channel && self.is_behind_in_channel(operation, &entering) {
                    self.channel_queue.push_back(operation);
                    continue;
                }
            } else if needs_channel && !self.has_channel[stream] {
                if self.free_channels(pool) == 0 {
                    self.channel_queue.push_back(operation);
                    continue;
                }
                self.has_channel[stream] = true;
            }
            entering.push(operation);
        }
        entering.sort_unstable();
        for operation in entering {
            let by_call = self.is_ready_by_call(operation);
            if by_call && self.entering.is_empty() {
                self.enter(operation);
            } else {
                self.entering.push((operation, by_call));
            }
        }
    }

    /// Whether an operation goes on at its launch, and nothing that it had to wait for was launched and ended just
    /// then.
    fn is_ready_by_call(&self, operation: usize) -> bool {
        let record = &self.operations[operation];
        let stream = record.stream.index();
        let (process, null) = (self.contexts.process_of_stream[stream], &self.contexts.null_of_process);
        let is_blocking = |stream: usize| self.scenario.streams()[stream].blocking;
        let may_hold = |other: usize| {
            let is_other_side = if stream == null[process] {
                is_blocking(other)
            } else {
                is_blocking(stream) && other == null[process]
            };
            other == stream || (is_other_side && self.contexts.process_of_stream[other] == process)
        };
        let left = |other: usize| {
            let of_stream = self.operations.iter().filter(|operation| operation.stream.index() == other);
            let at_once = of_stream.filter(|operation| operation.finish == Some(operation.launched));
            at_once.map(|operation| operation.launched).max()
        };
        let goes_on_at_launch = record.launched + self.scenario.device().launch_latency.as_ns() == self.now;
        goes_on_at_launch
            && !(0..self.streams.len()).any(|other| may_hold(other) && left(other) == Some(record.launched))
    }

    /// All that is ready enters, one after another: of those of one queue the one that is chosen, none of them before
    /// another one that was launched earlier and that its launch alone made ready.
    pub(super) fn enter_ready(&mut self) {
        let places = std::mem::take(&mut self.entering);
        let mut left = places.clone();
        for (place, _) in places {
            let same = |other: usize| self.queue_of(other) == self.queue_of(place);
            let of_queue: Vec<(usize, bool)> = left.iter().copied().filter(|&(other, _)| same(other)).collect();
            let first_call = of_queue.iter().filter(|(_, by_call)| *by_call).map(|&(call, _)| call).min();
            let among: Vec<usize> = of_queue
                .iter()
                .map(|&(other, _)| other)
                .filter(|&other| other == of_queue[0].0 || first_call.is_none_or(|call| other <= call))
                .filter(|&other| !self.is_behind_another(other, of_queue.iter().map(|&(one, _)| one)))
                .collect();
            let mut next = among[0];
            if among.len() > 1 {
                let choice = self.scenario.ready_order.get(self.chosen).copied().unwrap_or(0);
                self.chosen += 1;
                next = among[choice as usize % among.len()];
            }
            left.retain(|&(other, _)| other != next);
            self.enter(next);
        }
    }

    /// Whether one that became ready before it was submitted to the same channel.
    fn is_behind_another(&self, operation: usize, ready: impl Iterator<Item = usize>) -> bool {
        let channel = |operation: usize| self.dealt_to(self.operations[operation].stream.index());
        let is_kernel = matches!(self.operations[operation].kind, OperationKind::Kernel(_));
        self.scenario.device().channel_order == ChannelOrder::Submission
            && is_kernel
            && channel(operation).is_some()
            && ready.take_while(|&other| other != operation).any(|other| channel(other) == channel(operation))
    }

    /// What tells queues apart: whose EE queues and the priority, or the copy engine. Where copies share a link, each
    /// begins at once.
    fn queue_of(&self, operation: usize) -> (usize, i64) {
        let record = &self.operations[operation];
        match record.kind {
            OperationKind::Copy(copy) if self.scenario.device().copy.sharing == CopySharing::OneAtATime => {
                (usize::MAX, i64::try_from(self.engine_of(copy)).expect("few engines"))
            }
            OperationKind::Kernel(_) => {
                let priority = self.scenario.streams()[record.stream.index()].priority;
                (self.queues_of(operation), i64::from(priority))
            }
            _ => (usize::MAX - 1, i64::try_from(operation).expect("few operations")),
        }
    }

    fn engine_of(&self, copy: CopyId) -> usize {
        match self.scenario.copies()[copy.index()].direction {
            gpusched::device::CopyDirection::HostToDevice => 0,
            gpusched::device::CopyDirection::DeviceToHost => 1.min(self.engines.len() - 1),
            gpusched::device::CopyDirection::DeviceToDevice => {
                self.scenario.device().copy.device_to_device_engine as usize
            }
        }
    }

    fn enter(&mut self, operation: usize) {
        let (context, queues) = (self.context_of(operation), self.queues_of(operation));
        let record = &mut self.operations[operation];
        record.queued = Some(self.now);
        record.entry = Some(self.entered);
        self.entered += 1;
        match record.kind {
            OperationKind::Kernel(_) => {
                let priority = self.scenario.streams()[record.stream.index()].priority;
                self.ee_queues[queues].entry(priority).or_default().push_back(operation);
            }
            OperationKind::Copy(copy) => {
                let engine = self.engine_of(copy);
                self.ce_queues[context][engine].push_back(operation);
            }
            _ => panic!("it enters no queue"),
        }
    }

    /// A memset, a record (E1), a wait for an event (E2) or something with a counter that may advance is done at once,
    /// of several the one first that was launched first.
    fn complete_one_without_engine(&mut self) -> bool {
        let heads: Vec<usize> = self.streams.iter().filter_map(|queue| queue.front().copied()).collect();
        let needs_none =
            |head: &usize| !matches!(self.operations[*head].kind, OperationKind::Kernel(_) | OperationKind::Copy(_));
        let Some(next) = heads.into_iter().filter(needs_none).filter(|&head| self.may_advance(head)).min() else {
            return false;
        };
        // What was launched before it has looked before it.
        self.note_waits_for_values(next);
        self.operations[next].reached_head.get_or_insert(self.now);
        self.operations[next].finish = Some(self.now);
        self.streams[self.operations[next].stream.index()].pop_front();
        if let OperationKind::WriteValue(value) = self.operations[next].kind {
            self.write(value);
        }
        true
    }

    /// E2: whether the record that a wait is for has completed, or is waited for no longer.
    pub(super) fn is_recorded(&self, head: usize) -> bool {
        let wait = &self.operations[head];
        wait.is_let_go || wait.awaits.is_none_or(|record| self.is_finished(record))
    }

    /// L1.
    pub(super) fn launch_latency_over(&self, head: usize) -> u64 {
        let record = &self.operations[head];
        match record.kind {
            OperationKind::Kernel(_) | OperationKind::Copy(_) => {
                record.launched + self.scenario.device().launch_latency.as_ns()
            }
            _ => 0,
        }
    }

    /// L2.
    pub(super) fn kernel_gap_over(&self, head: usize) -> u64 {
        let stream = self.operations[head].stream;
        let is_kernel = |operation: &usize| matches!(self.operations[*operation].kind, OperationKind::Kernel(_));
        let before = (0..head).rev().filter(|&other| self.operations[other].stream == stream).find(is_kernel);
        match before.filter(|_| is_kernel(&head)).and_then(|before| self.operations[before].finish) {
            Some(finish) => {
                let gap_over = finish + self.scenario.device().kernel_gap.as_ns();
                self.begins_beside_from(head).map_or(gap_over, |from| from.min(gap_over))
            }
            None => 0,
        }
    }

    /// L1 and L2, for the head of a stream queue.
    fn time_has_come(&self, head: usize) -> bool {
        self.launch_latency_over(head) <= self.now && self.kernel_gap_over(head) <= self.now
    }

    /// When next a launch latency or a gap ends that holds the head of a stream queue.
    pub(super) fn next_end_of_latency(&self) -> Option<u64> {
        let heads = self.streams.iter().filter_map(|queue| queue.front().copied());
        let ends = heads.flat_map(|head| [self.launch_latency_over(head), self.kernel_gap_over(head)]);
        ends.filter(|&end| end > self.now).min()
    }

    /// E2, N1 and N2, for the head of a stream queue, and the value of a counter. Launch order is the order of the
    /// operations' numbers.
    fn may_advance(&self, head: usize) -> bool {
        !self.waits_for_value(head) && self.may_advance_but_for_value(head)
    }

    pub(super) fn may_advance_but_for_value(&self, head: usize) -> bool {
        if !self.is_recorded(head) {
            return false;
        }
        let stream = self.operations[head].stream;
        let own = stream.index();
        let is_blocking = |stream: usize| self.scenario.streams()[stream].blocking;
        let holds = |other: usize| self.streams[other].front().is_some_and(|&other| other < head);
        let process = self.contexts.process_of_stream[own];
        if self.contexts.is_null(stream) {
            let same_process = |other: &usize| self.contexts.process_of_stream[*other] == process;
            let mut others = (0..self.streams.len()).filter(same_process).filter(|&other| other != own);
            !others.any(|other| is_blocking(other) && holds(other))
        } else {
            !(is_blocking(own) && holds(self.contexts.null_of_process[process]))
        }
    }

    /// Takes out of the queue who gets the next channel of a process or green context.
    fn next_for_channel(&mut self, pool: usize) -> Option<usize> {
        let stream_at = |place: usize| self.operations[self.channel_queue[place]].stream.index();
        let is_of_it = |&place: &usize| self.pool_of(stream_at(place)) == pool;
        let places: Vec<usize> = (0..self.channel_queue.len()).filter(is_of_it).collect();
        let waiting = places.len();
        let chosen = match self.scenario.device().channel_order {
            ChannelOrder::Fifo | ChannelOrder::Submission => 0,
            ChannelOrder::Lifo => waiting.saturating_sub(1),
            ChannelOrder::Random => {
                // Each draws numbers of its own: processes come first, then green contexts, as they get a stream.
                let seed = self.scenario.seed.wrapping_add(self.number_of_pool(pool) as u64);
                let mut numbers = ChaCha8Rng::seed_from_u64(seed ^ u64::from_be_bytes(*b"channels"));
                numbers.set_stream(self.channels_handed_over.get(&pool).copied().unwrap_or(0));
                let scaled = (u128::from(numbers.next_u64()) * waiting as u128) >> 64;
                usize::try_from(scaled).expect("it is below the number that wait")
            }
        };
        let next = self.channel_queue.remove(*places.get(chosen)?)?;
        *self.channels_handed_over.entry(pool).or_default() += 1;
        Some(next)
    }

    /// Whether a kernel or a wait for an event that was submitted to the channel of `operation` before it has not gone
    /// on.
    fn is_behind_in_channel(&self, operation: usize, entering: &[usize]) -> bool {
        let own = self.dealt_to(self.operations[operation].stream.index());
        // What is ready has gone on, even if it enters its queue only with all that is ready at this instant.
        let is_ready = |other: usize| entering.contains(&other) || self.entering.iter().any(|&(one, _)| one == other);
        (0..operation).filter(|&other| !is_ready(other)).any(|other| {
            let record = &self.operations[other];
            let has_gone_on = match record.kind {
                OperationKind::Kernel(_) => record.queued.is_some(),
                OperationKind::Wait(_) | OperationKind::WaitValue(_) => record.finish.is_some(),
                _ => true,
            };
            !has_gone_on && self.dealt_to(record.stream.index()) == own
        })
    }

    /// Whose channels, and which of them: streams were dealt to them in turn, as they were created.
    fn dealt_to(&self, stream: usize) -> Option<(usize, usize)> {
        let pool = self.pool_of(stream);
        let before = (0..stream).filter(|&other| self.pool_of(other) == pool).count();
        self.channels_of(pool).map(|all| (pool, before % all))
    }

    /// Processes, and behind them green contexts.
    fn pools(&self) -> usize {
        self.contexts.null_of_process.len() + self.scenario.catalogue.green_contexts().len()
    }

    /// Whose channels a stream takes: those of its green context, if that has some of its own, or of its process.
    fn pool_of(&self, stream: usize) -> usize {
        let green = self.scenario.streams()[stream].green_context.map(gpusched::workload::GreenContextId::index);
        let has_own = |green: &usize| self.scenario.catalogue.green_contexts()[*green].work_queues.is_some();
        let own = green.filter(has_own).map(|green| self.contexts.null_of_process.len() + green);
        own.unwrap_or(self.contexts.process_of_stream[stream])
    }

    /// How many pools were met before this one, looking at one stream after another, all processes first.
    fn number_of_pool(&self, pool: usize) -> usize {
        let processes = self.contexts.null_of_process.len();
        let mut met: Vec<usize> = (0..processes).collect();
        for stream in 0..self.streams.len() {
            let own = self.pool_of(stream);
            if !met.contains(&own) {
                met.push(own);
            }
        }
        met.iter().position(|&one| one == pool).unwrap_or(met.len())
    }

    /// How many there are; `None`: without limit.
    fn channels_of(&self, pool: usize) -> Option<usize> {
        let processes = self.contexts.null_of_process.len();
        let all = match pool.checked_sub(processes) {
            Some(green) => self.scenario.catalogue.green_contexts()[green].work_queues,
            None => self.scenario.device().channels,
        };
        all.map(|all| all as usize)
    }

    fn free_channels(&self, pool: usize) -> usize {
        let taken = (0..self.streams.len()).filter(|&stream| self.has_channel[stream] && self.pool_of(stream) == pool);
        self.channels_of(pool).map_or(0, |all| all - taken.count())
    }

    /// A stream keeps its channel until its last kernel so far is fully dispatched, but not while N1, N2 or E2 hold it.
    fn give_back_channels(&mut self) {
        for stream in 0..self.streams.len() {
            let undispatched = self.streams[stream].iter().any(|&operation| {
                let record = &self.operations[operation];
                matches!(record.kind, OperationKind::Kernel(_)) && record.last_start.is_none()
            });
            // One that waits for a value keeps it.
            let held = self.current(&self.streams[stream]).is_some_and(|head| !self.may_advance_but_for_value(head));
            if !undispatched || held {
                self.has_channel[stream] = false;
            }
        }
    }
}
