//! Hardware channels: queues of what is submitted to the streams of each, or who gets one that becomes free.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Frontend;
use super::stream_queue::{HeadState, StreamQueue};
use crate::canonical::Canonical;
use crate::device::ChannelOrder;
use crate::gpu::backend::BackendContext;
use crate::trace::{Observer, Rule};
use crate::workload::{GreenContextId, OperationId, OperationKind, StreamId, channel_of};

/// Keeps this choice independent of others under one seed.
const CHANNELS: u64 = 0x6368_616e_6e65_6c73;

/// Channels that some streams share: those of a process, or of a green context whose work queues are limited.
#[derive(Debug, Clone)]
pub(super) struct ChannelPool {
    /// Whose, if of a green context.
    pub(super) green: Option<GreenContextId>,
    /// How many there are; `None`: no limit.
    pub(super) all: Option<u32>,
    /// How many nobody has; `None` if each stream has one for good.
    pub(super) free: Option<u32>,
    /// Those that streams have for good.
    pub(super) dealt: Vec<DealtChannel>,
    /// How many streams have been dealt to them.
    pub(super) streams: u32,
    /// Kernels that need one of those that nobody has for good.
    pub(super) queue: ChannelQueue,
}

/// A channel of the streams that were dealt to it.
#[derive(Debug, Clone, Default)]
pub(super) struct DealtChannel {
    /// Kernels and waits for events in the order of submission, the first of which may have gone on.
    queue: VecDeque<u32>,
    /// How many of its streams were used.
    users: u32,
}

impl ChannelPool {
    /// The next stream is dealt to one of them: which.
    pub(super) fn deal(&mut self) -> u32 {
        let Some(all) = self.all.filter(|_| self.free.is_none()) else { return 0 };
        let number = channel_of(self.streams, all);
        self.streams += 1;
        if number as usize == self.dealt.len() {
            self.dealt.push(DealtChannel::default());
        }
        number
    }

    /// As when it was made; streams stay dealt.
    pub(super) fn clear(&mut self) {
        self.free = self.free.and(self.all);
        self.dealt.fill(DealtChannel::default());
        self.queue.clear();
    }
}

impl Frontend {
    /// A kernel or a wait for an event is submitted: it joins the channel to which its stream was dealt.
    pub(super) fn join_channel(&mut self, stream: StreamId, operation: u32) {
        if let OperationKind::Kernel(_) | OperationKind::Wait(_) | OperationKind::WaitValue(_) =
            self.operation(operation).kind
        {
            // Of a stream that has its channel for itself nobody else looks at it.
            self.next_in_channel(stream);
            let queue = &mut self.streams[stream.index()];
            let pool = &mut self.pools[queue.pool as usize];
            let Some(channel) = pool.dealt.get_mut(queue.channel as usize) else { return };
            channel.users += u32::from(!std::mem::replace(&mut queue.holds_channel, true));
            channel.queue.push_back(operation);
        }
    }

    /// The channel of a kernel whose stream was dealt to one: by pool, and number there.
    #[inline]
    pub(super) fn dealt_channel(&self, operation: u32) -> Option<(u32, u32)> {
        let super::Operation { kind, stream, .. } = self.operation(operation);
        let StreamQueue { pool, channel, .. } = self.streams[stream.index()];
        let is_dealt = || (channel as usize) < self.pools[pool as usize].dealt.len();
        (matches!(kind, OperationKind::Kernel(_)) && is_dealt()).then_some((pool, channel))
    }

    /// Whether a kernel may have to wait for what is ahead of it in its channel.
    #[inline]
    pub(super) fn shares_channel(&self, operation: u32) -> bool {
        let channel = self.dealt_channel(operation);
        channel.is_some_and(|(pool, number)| self.pools[pool as usize].dealt[number as usize].users > 1)
    }

    /// Of kernels that are ready but for their channels, those stay in `ready` that are next there. So do those that
    /// have waited and now are.
    pub(super) fn pass_channels<O: Observer>(&mut self, ready: &mut Vec<u32>, context: &mut BackendContext<'_, O>) {
        ready.retain(|&operation| {
            let shares = self.shares_channel(operation);
            if shares {
                let stream = self.operation(operation).stream;
                self.streams[stream.index()].wait_for_channel(context.now);
                self.scratch_moved.push(stream);
            }
            !shares
        });
        while let Some(stream) = self.scratch_moved.pop() {
            while let Some(operation) = self.next_in_channel(stream) {
                let stream = self.operation(operation).stream;
                let queue = &mut self.streams[stream.index()];
                if queue.head_state != HeadState::NeedsChannel || queue.current() != Some(operation) {
                    break;
                }
                queue.head_state = HeadState::Advanced;
                if queue.waits_since < context.now {
                    context.observer.waited(OperationId(operation), Rule::Channel, queue.waits_since, context.now);
                }
                ready.push(operation);
            }
        }
    }

    /// The first in the channel of a stream that has not gone on.
    fn next_in_channel(&mut self, stream: StreamId) -> Option<u32> {
        let queue = &self.streams[stream.index()];
        let (pool, number) = (queue.pool as usize, queue.channel as usize);
        loop {
            let next = *self.pools[pool].dealt.get(number)?.queue.front()?;
            if !self.has_gone_on(next) {
                return Some(next);
            }
            self.pools[pool].dealt[number].queue.pop_front();
        }
    }

    /// Whether a kernel has entered its EE queue, or a wait has completed.
    fn has_gone_on(&self, operation: u32) -> bool {
        if self.is_complete(OperationId(operation)) {
            return true;
        }
        let queue = &self.streams[self.operation(operation).stream.index()];
        queue.current().is_some_and(|current| {
            operation < current || operation == current && queue.head_state == HeadState::Advanced
        })
    }

    /// Writes what is in the channels of a pool.
    pub(super) fn write_channels(&self, pool: &ChannelPool, to: &mut Canonical) {
        // How many there are does not change, nor where streams were dealt to; of each stream it is known whether it
        // was used.
        let ChannelPool { green: _, all: _, free, dealt, streams: _, queue } = pool;
        to.optional(*free, Canonical::number);
        for DealtChannel { queue, users: _ } in dealt {
            to.list(queue.iter().filter(|next| !self.has_gone_on(**next)), |to, next| to.operation(*next));
        }
        queue.write_state(to);
    }
}

/// Kernels of one process or green context that wait for a channel that is not dealt, in the order in which they came.
#[derive(Debug, Clone)]
pub(super) struct ChannelQueue {
    order: ChannelOrder,
    seed: u64,
    waiting: VecDeque<u32>,
    /// How often a channel was handed over.
    taken: u64,
}

impl ChannelQueue {
    pub(super) fn new(order: ChannelOrder, seed: u64) -> Self {
        Self { order, seed, waiting: VecDeque::new(), taken: 0 }
    }

    /// As when it was made.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.taken = 0;
    }

    /// Writes the state.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        let Self { order, seed: _, waiting, taken } = self;
        to.list(waiting, |to, &operation| to.operation(operation));
        // Chance depends on how often it was asked, and nothing else does.
        to.number(if *order == ChannelOrder::Random { *taken } else { 0 });
    }

    pub(super) fn push(&mut self, operation: u32) {
        self.waiting.push_back(operation);
    }

    /// The one that gets the next channel. By chance it depends on the seed, on how often a channel was handed over,
    /// and on the number of those that wait.
    pub(super) fn next(&mut self) -> Option<u32> {
        let waiting = self.waiting.len();
        let chosen = match self.order {
            ChannelOrder::Fifo | ChannelOrder::Submission => 0,
            ChannelOrder::Lifo => waiting.checked_sub(1)?,
            ChannelOrder::Random => {
                let mut numbers = ChaCha8Rng::seed_from_u64(self.seed ^ CHANNELS);
                numbers.set_stream(self.taken);
                let scaled = (u128::from(numbers.next_u64()) * waiting as u128) >> 64;
                usize::try_from(scaled).unwrap_or(0)
            }
        };
        let next = self.waiting.remove(chosen)?;
        self.taken += 1;
        Some(next)
    }
}
