//! Who may leave a stream queue (G2, A1, C1, N1, N2, channels).

use gpusched::workload::{OperationKind, StreamId};

use super::gpu::ReferenceGpu;

impl ReferenceGpu<'_> {
    /// Lets everything advance that may, after one completion, one launch or one full dispatch.
    pub(super) fn promote(&mut self) {
        while self.complete_one_memset() {}
        for stream in 0..self.streams.len() {
            if let Some(&head) = self.streams[stream].front() {
                self.operations[head].reached_head.get_or_insert(self.now);
            }
        }
        self.give_back_channels();

        let mut ready: Vec<usize> = self
            .streams
            .iter()
            .filter_map(|queue| queue.front().copied())
            .filter(|&head| self.operations[head].queued.is_none() && !self.channel_queue.contains(&head))
            .filter(|&head| self.may_advance(head))
            .collect();
        ready.sort_unstable();
        let mut entering = Vec::new();
        for operation in ready {
            let record = &self.operations[operation];
            let needs_channel = matches!(record.kind, OperationKind::Kernel(_)) && self.has_channels();
            if needs_channel && !self.has_channel[record.stream.0 as usize] {
                self.channel_queue.push_back(operation);
            } else {
                entering.push(operation);
            }
        }
        while self.free_channels() > 0
            && let Some(operation) = self.channel_queue.pop_front()
        {
            self.has_channel[self.operations[operation].stream.0 as usize] = true;
            entering.push(operation);
        }
        entering.sort_unstable();
        for operation in entering {
            self.enter(operation);
        }
    }

    fn enter(&mut self, operation: usize) {
        let record = &mut self.operations[operation];
        record.queued = Some(self.now);
        record.entry = Some(self.entered);
        self.entered += 1;
        match record.kind {
            OperationKind::Kernel(_) => {
                let priority = self.scenario.streams()[record.stream.0 as usize].priority;
                self.ee_queues.entry(priority).or_default().push_back(operation);
            }
            OperationKind::Copy(copy) => {
                let direction = self.scenario.copies()[copy.0 as usize].direction;
                let to_host = direction == gpusched::device::CopyDirection::DeviceToHost;
                let engine = usize::from(to_host && self.ce_queues.len() > 1);
                self.ce_queues[engine].push_back(operation);
            }
            OperationKind::Memset => panic!("a memset enters no queue"),
        }
    }

    /// A memset that may advance is done at once.
    fn complete_one_memset(&mut self) -> bool {
        for stream in 0..self.streams.len() {
            let Some(&head) = self.streams[stream].front() else { continue };
            if self.operations[head].kind == OperationKind::Memset && self.may_advance(head) {
                self.operations[head].reached_head.get_or_insert(self.now);
                self.operations[head].finish = Some(self.now);
                self.streams[stream].pop_front();
                return true;
            }
        }
        false
    }

    /// N1 and N2, for the head of a stream queue. Launch order is the order of the operations' numbers.
    fn may_advance(&self, head: usize) -> bool {
        let stream = self.operations[head].stream;
        let is_blocking = |stream: usize| self.scenario.streams()[stream].blocking;
        let holds = |other: usize| self.streams[other].front().is_some_and(|&other| other < head);
        if stream == StreamId::NULL {
            !(1..self.streams.len()).any(|other| is_blocking(other) && holds(other))
        } else {
            !(is_blocking(stream.0 as usize) && holds(0))
        }
    }

    fn has_channels(&self) -> bool {
        self.scenario.device().channels.is_some()
    }

    fn free_channels(&self) -> usize {
        let all = self.scenario.device().channels.map_or(0, |channels| channels as usize);
        all - self.has_channel.iter().filter(|&&taken| taken).count()
    }

    /// A stream keeps its channel until its last kernel so far is fully dispatched, but not while N1 or N2 hold it.
    fn give_back_channels(&mut self) {
        for stream in 0..self.streams.len() {
            let undispatched = self.streams[stream].iter().any(|&operation| {
                let record = &self.operations[operation];
                matches!(record.kind, OperationKind::Kernel(_)) && record.last_start.is_none()
            });
            let held = self.streams[stream].front().is_some_and(|&head| !self.may_advance(head));
            if !undispatched || held {
                self.has_channel[stream] = false;
            }
        }
    }
}
