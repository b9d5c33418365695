"""All experiments, the most valuable first."""

from . import areas, channels, copies, gaps, host_calls, launches, placement, processes, queues, room, streams
from .parts import Answer, Experiment, Question, Target

__all__ = ["Answer", "Experiment", "Question", "Target", "experiments_of"]

# Each a function from a `Target` to an `Experiment`.
REGISTRY = [
    placement.idle,
    placement.busy,
    queues.priority_midway,
    queues.priority_order,
    queues.running_blocks,
    queues.head_of_queue,
    queues.head_of_higher,
    queues.head_of_lower,
    queues.queue_order,
    room.unlike_registers,
    room.carve_out,
    channels.collective_1,
    channels.collective_8,
    channels.by_default,
    channels.channels_1,
    channels.channels_2,
    channels.channels_8,
    channels.channels_32,
    channels.waiting,
    launches.cooperative_busy,
    launches.cooperative_beside,
    launches.cooperative_two,
    processes.turns,
    processes.at_once,
    placement.refill,
    queues.ready_order,
    gaps.block_gap_20us,
    gaps.block_gap_200us,
    gaps.block_gap_2ms,
    gaps.launch_latency,
    gaps.kernel_gap,
    gaps.graph_gap,
    launches.trigger,
    launches.without_trigger,
    *launches.cluster_experiments(),
    areas.green_sizes,
    areas.green_disjoint,
    areas.green_overlap,
    areas.green_queues,
    copies.one_engine,
    copies.both_ways,
    copies.within_device,
    copies.queue,
    streams.null_stream,
    streams.event_records,
    streams.event_unrecorded,
    streams.graph_branches,
    streams.wait_value,
    *host_calls.experiments(),
    room.block_slots,
    room.threads,
    room.shared_memory,
    room.equal_registers,
    areas.sm_mask,
    processes.mps_50_50,
    processes.mps_10_90,
    processes.mps_queue,
]


def experiments_of(card, registers_of):
    """All experiments for a card. `registers_of` says how many registers per thread a kernel of the probe really has
    that was compiled for so many."""
    target = Target(card, registers_of)
    return [make(target) for make in REGISTRY]
