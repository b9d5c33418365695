//! Hardware channels to which several streams were dealt: what is submitted to one goes on in that order.

use std::collections::BTreeMap;

use super::before::Completion;
use super::observation::{Observation, ObservedWork};
use crate::device::ChannelOrder;

/// The channels that several streams use, and what has gone on through them.
#[derive(Default)]
pub(super) struct Channels {
    /// The channel of each stream, if it shares one.
    of_stream: Vec<Option<usize>>,
    /// What joined each last, and when all that joined it so far had gone on.
    last: BTreeMap<usize, (usize, Completion)>,
}

impl Channels {
    /// Streams are dealt to those of their process, or green context that has work queues of its own, in turn.
    pub(super) fn of(observation: &Observation) -> Self {
        let device = &observation.device;
        if device.channel_order != ChannelOrder::Submission {
            return Self::default();
        }
        let mut used = vec![false; observation.streams.len()];
        for operation in observation.operations.iter().filter(|operation| joins(&operation.work)) {
            if let Some(used) = used.get_mut(operation.stream) {
                *used = true;
            }
        }
        let mut dealt: BTreeMap<_, usize> = BTreeMap::new();
        // Streams of each channel that are used, by whose channels these are, and which of them it is.
        let mut users: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (number, stream) in observation.streams.iter().enumerate() {
            let Some(all) = stream.work_queues.or(device.channels) else { continue };
            let pool = (stream.process, stream.green_context.filter(|_| stream.work_queues.is_some()));
            let before = dealt.entry(pool).or_default();
            users.entry((pool, *before % all.max(1) as usize)).or_default().extend(used[number].then_some(number));
            *before += 1;
        }
        let mut of_stream = vec![None; observation.streams.len()];
        for (channel, streams) in users.into_values().enumerate().filter(|(_, streams)| streams.len() > 1) {
            for stream in streams {
                of_stream[stream] = Some(channel);
            }
        }
        Self { of_stream, last: BTreeMap::new() }
    }

    /// The channel through which something goes, if its stream shares one.
    pub(super) fn shared_by(&self, stream: usize, work: &ObservedWork) -> Option<usize> {
        self.of_stream.get(stream).copied().flatten().filter(|_| joins(work))
    }

    /// What joined a channel last, and when that and all ahead of it had gone on.
    pub(super) fn ahead(&self, channel: usize) -> Option<(usize, Completion)> {
        self.last.get(&channel).copied()
    }

    /// The next in a channel goes on then, if all ahead of it have.
    pub(super) fn join(&mut self, channel: usize, index: usize, goes_on: Completion) {
        let before = self.ahead(channel);
        let all = before.map_or(goes_on, |(_, before)| goes_on.and(&before));
        self.last.insert(channel, (index, all));
    }
}

/// Kernels and waits for events go through a channel.
fn joins(work: &ObservedWork) -> bool {
    matches!(work, ObservedWork::Kernel(_) | ObservedWork::Wait(_))
}
