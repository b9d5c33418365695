//! Who may leave a stream queue (G2, A1, C1, N1, N2, events, latencies, channels).

use gpusched::workload::{OperationKind, StreamId};

use super::gpu::ReferenceGpu;

impl ReferenceGpu<'_> {
    /// Lets everything advance that may, after one completion, one launch or one full dispatch.
    pub(super) fn promote(&mut self) {
        while self.complete_one_without_engine() {}
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
            .filter(|&head| self.may_advance(head) && self.time_has_come(head))
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
                let engine = match direction {
                    gpusched::device::CopyDirection::HostToDevice => 0,
                    gpusched::device::CopyDirection::DeviceToHost => 1.min(self.ce_queues.len() - 1),
                    gpusched::device::CopyDirection::DeviceToDevice => {
                        self.scenario.device().copy.device_to_device_engine as usize
                    }
                };
                self.ce_queues[engine].push_back(operation);
            }
            OperationKind::Memset | OperationKind::Record(_) | OperationKind::Wait(_) => panic!("it enters no queue"),
        }
    }

    /// A memset, a record (E1) or a wait for an event (E2) that may advance is done at once.
    fn complete_one_without_engine(&mut self) -> bool {
        for stream in 0..self.streams.len() {
            let Some(&head) = self.streams[stream].front() else { continue };
            let kind = self.operations[head].kind;
            let needs_none = matches!(kind, OperationKind::Memset | OperationKind::Record(_) | OperationKind::Wait(_));
            if needs_none && self.may_advance(head) {
                self.operations[head].reached_head.get_or_insert(self.now);
                self.operations[head].finish = Some(self.now);
                self.streams[stream].pop_front();
                return true;
            }
        }
        false
    }

    /// E2: whether the record that a wait is for has completed.
    pub(super) fn is_recorded(&self, head: usize) -> bool {
        self.operations[head].awaits.is_none_or(|record| self.is_finished(record))
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
            Some(finish) => finish + self.scenario.device().kernel_gap.as_ns(),
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

    /// E2, N1 and N2, for the head of a stream queue. Launch order is the order of the operations' numbers.
    fn may_advance(&self, head: usize) -> bool {
        if !self.is_recorded(head) {
            return false;
        }
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

    /// A stream keeps its channel until its last kernel so far is fully dispatched, but not while N1, N2 or E2 hold it.
    fn give_back_channels(&mut self) {
        for stream in 0..self.streams.len() {
            let undispatched = self.streams[stream].iter().any(|&operation| {
                let record = &self.operations[operation];
                matches!(record.kind, OperationKind::Kernel(_)) && record.last_start.is_none()
            });
            let held =
                self.streams[stream].front().is_some_and(|&head| self.time_has_come(head) && !self.may_advance(head));
            if !undispatched || held {
                self.has_channel[stream] = false;
            }
        }
    }
}
