"""Two processes: in turns, and as clients of MPS."""

from .parts import Answer, Experiment, Question, changed, host, launch, scenario, sleep, stream, with_stream

SEVERAL = ("several_processes",)
MPS = ("mps",)
WAVES_OF_TURNS = 40


def two(title, kernels, first, second, more_of_first=(), more_of_second=(), **more):
    """A scenario of two processes; `first` and `second` are the steps of their hosts."""
    processes = more.pop("processes", {"first": {}, "second": {}})
    streams = [stream("A", process="first"), stream("B", process="second")]
    streams += [stream(name, process="first") for name in more_of_first]
    streams += [stream(name, process="second") for name in more_of_second]
    hosts = [host(first, "one", process="first"), host(second, "two", process="second")]
    return scenario(title, kernels, streams, [], processes=processes, hosts=hosts, **more)


def turns(target):
    """Blocks of unlike lengths, which have an SM each: some block begins every few microseconds."""
    blocks = WAVES_OF_TURNS * target.sms
    times = ["%d us" % (200 + 4 * (37 * block % 97)) for block in range(blocks)]
    pieces = target.kernel(blocks, 0.4, target.whole, block_times=times, clock="wall")
    run = two(
        "Two processes with kernels of many short blocks",
        {"one": pieces, "two": pieces},
        [launch("one", "A")],
        [launch("two", "B")],
    )
    question = Question(
        "turns",
        "How long is a turn of a process, and how long a switch to the other one?",
        "turns",
        [Answer("as the device file says")],
        measures={"time_slice_ns": 1, "switch_cost_ns": 1},
    )
    return Experiment("turns", run, [question], repetitions=3, needs=SEVERAL)


def at_once(target):
    """`waves` fills the GPU, so that `late` of the other process begins amidst it only in a turn of its own."""
    run = two(
        "Two processes with a small kernel and one that fills the GPU each",
        {
            "first": target.small(12, clock="wall"),
            "waves": target.kernel(4 * target.sms, 2, target.whole, clock="wall"),
            "second": target.small(12, clock="wall"),
            "late": target.kernel(target.sms, 2, target.whole, clock="wall"),
        },
        [launch("first", "A"), launch("waves", "C")],
        # Which process is the first one to have a turn is not to be left to chance.
        [sleep(1), launch("second", "B"), launch("late", "D")],
        ("C",),
        ("D",),
    )
    answers = [
        Answer("no, they take turns"),
        Answer("yes", "\"mps\": true", scenario=changed(run, lambda other: other.update(mps=True))),
        Answer(
            "no, one begins when the other has ended",
            "preemption of the device file",
            {"preemption": "block-end"},
        ),
    ]
    question = Question(
        "processes-at-once",
        "Do kernels of two processes run at once?",
        "order",
        answers,
        pairs=[["waves", "late"], ["first", "second"]],
    )
    return Experiment("processes-at-once", run, [question], needs=SEVERAL)


def shares(target, percentages):
    """Two clients of MPS that may use parts of the SMs, each with a kernel that would fill the GPU."""

    def unlimited(other):
        other["processes"] = {"first": {}, "second": {}}

    few = percentages[0]
    run = two(
        "Two clients of MPS with %d and %d %% of the threads" % percentages,
        {
            "small": target.kernel(max(1, target.sms * few // 50), 3, target.whole, clock="wall"),
            "large": target.kernel(2 * target.sms, 3, target.whole, clock="wall"),
        },
        [launch("small", "A")],
        [sleep("500 us"), launch("large", "B")],
        mps=True,
        processes={name: {"mps_percentage": share} for name, share in zip(("first", "second"), percentages)},
    )
    answers = [
        Answer("its share of all, rounded down to whole TPCs"),
        Answer("all", "no mps_percentage", scenario=changed(run, unlimited)),
    ]
    stem = "mps-%d-%d" % percentages
    question = "How many SMs do clients of MPS with %d and %d %% use?" % percentages
    return Experiment(stem, run, [Question(stem, question, "resident", answers)], repetitions=3, needs=MPS)


def mps_10_90(target):
    return shares(target, (10, 90))


def mps_50_50(target):
    return shares(target, (50, 50))


def mps_queue(target):
    run = two(
        "Clients of MPS that may use all SMs",
        {
            "waves": target.kernel(4 * target.sms, 3, target.whole, clock="wall"),
            "late": target.kernel(target.sms, 2, target.whole, clock="wall"),
        },
        [launch("waves", "A")],
        [sleep(1), launch("late", "B")],
        mps=True,
    )
    answers = [
        Answer("yes"),
        Answer("no: it gets the next room", "a higher priority", scenario=with_stream(run, "B", priority=-1)),
    ]
    question = Question(
        "mps-queue",
        "Does a client of MPS wait until all blocks of another one's kernel have begun?",
        "order",
        answers,
        pairs=[["waves", "late"]],
    )
    return Experiment("mps-queue", run, [question], needs=MPS)
