"""Times that pass between a launch, a kernel and a block, and the next one."""

from .parts import Answer, Experiment, Question, launch, scenario, sleep, stream

STATED = "as the device file says"
SHORTEST = "20 us"


def block_gap(target, stem, duration, waves):
    """The time from the end of a block to the start of the next on its SM, of blocks of so many microseconds."""
    kernel = target.kernel(waves * target.sms, duration, target.whole)
    run = scenario("Waves of blocks that have an SM each", {"waves": kernel}, [stream("A")], [launch("waves", "A")])
    question = Question(
        stem,
        "How long after the end of a block of %s does the next one begin on its SM?" % duration,
        "block_gap",
        [Answer(STATED)],
        # The shortest has the most of them.
        measures={"block_gap_ns": 1} if duration == SHORTEST else None,
    )
    return Experiment(stem, run, [question], repetitions=3)


def block_gap_20us(target):
    return block_gap(target, "block-gap-20us", SHORTEST, 60)


def block_gap_200us(target):
    return block_gap(target, "block-gap-200us", "200 us", 20)


def block_gap_2ms(target):
    return block_gap(target, "block-gap-2ms", "2 ms", 6)


def launch_latency(target):
    steps = [{"repeat": 20, "steps": [launch("single", "A"), {"synchronize": "A"}, sleep("300 us")]}]
    run = scenario("Launches to an idle GPU", {"single": target.small("50 us")}, [stream("A")], steps)
    question = Question(
        "launch-latency",
        "How long after its launch does a kernel begin on an idle GPU?",
        "launch_latency",
        [Answer(STATED)],
        measures={"launch_latency_ns": 1},
    )
    return Experiment("launch-latency", run, [question], repetitions=5)


def kernel_gap(target):
    steps = [{"repeat": 40, "steps": [launch("link", "A")]}]
    run = scenario("Kernels of one stream", {"link": target.small("100 us")}, [stream("A")], steps)
    question = Question(
        "kernel-gap",
        "How long after the end of a kernel does the next one of its stream begin?",
        "kernel_gap",
        [Answer(STATED)],
        measures={"kernel_gap_ns": 1},
    )
    return Experiment("kernel-gap", run, [question], repetitions=5)


def graph_gap(target):
    nodes = {"n0": {"kernel": "link"}}
    for number in range(1, 40):
        nodes["n%d" % number] = {"kernel": "link", "after": ["n%d" % (number - 1)]}
    run = scenario(
        "Kernels of one graph",
        {"link": target.small("100 us")},
        [stream("A")],
        [{"graph": "chain", "stream": "A"}],
        graphs={"chain": {"nodes": nodes}},
    )
    question = Question(
        "graph-gap",
        "How long after the end of a node of a graph does the next one begin?",
        "kernel_gap",
        [Answer("as long as between kernels of a stream")],
    )
    return Experiment("graph-gap", run, [question], repetitions=5, needs=("graphs",))
