"""Hardware channels that streams share, of which CUDA_DEVICE_MAX_CONNECTIONS sets the number."""

from .parts import Answer, Experiment, Question, launch, record, scenario, sleep, stream, wait, with_steps

# More channels than any experiment has streams.
UNLIMITED = 128
# As many as CUDA_DEVICE_MAX_CONNECTIONS can ask for.
MOST_CONNECTIONS = 32


def shared(target, connections):
    """First one stream has a kernel that depends on another, then as many streams as there are connections."""
    kernels, steps, pairs = {}, [], []

    def add(kernel, duration, where):
        kernels[kernel] = target.small(duration)
        steps.append(launch(kernel, where))

    add("long", 4, "S0")
    add("next", 1, "S0")
    for number in range(1, connections + 1):
        add("short %d" % number, 1, "S%d" % number)
        pairs.append(["long", "short %d" % number])
    steps += [{"synchronize": "device"}, sleep("100 us")]
    for number in range(connections):
        add("held %d" % number, 4, "S%d" % number)
        add("following %d" % number, 1, "S%d" % number)
    add("last", 1, "S%d" % connections)
    pairs.append(["held 0", "last"])
    run = scenario(
        "More streams than the %d connection%s" % (connections, "" if connections == 1 else "s"),
        kernels,
        [stream("S%d" % number) for number in range(connections + 1)],
        steps,
        comment_connections=connections,
    )
    one = connections == 1
    order = "each has one for good, in the order of submission"
    if one:
        order = "what depends on something holds the others"
    answers = [Answer(order, "--connections %d (as was run)" % connections, {"channels": connections})]
    if not one:
        answers.append(
            Answer(
                "the one that waits longest gets the next free one",
                "--connections %d --channel-order fifo" % connections,
                {"channels": connections, "channel_order": "fifo"},
            )
        )
    answers.append(
        Answer("no stream waits for one", "--connections %d" % UNLIMITED, {"channels": UNLIMITED})
    )
    stem = "channels-%d" % connections
    question = "How do %d streams share %d connection%s?" % (connections + 1, connections, "" if one else "s")
    return Experiment(stem, run, [Question(stem, question, "order", answers, pairs=pairs)])


def channels_1(target):
    return shared(target, 1)


def channels_2(target):
    return shared(target, 2)


def channels_8(target):
    return shared(target, 8)


def channels_32(target):
    return shared(target, 32)


def by_default(target):
    """How many streams go on although one has a kernel that waits, where nobody set a number."""
    others = range(1, MOST_CONNECTIONS + 1)
    kernels = {"long": target.small(4), "next": target.small(1)}
    kernels.update(("short %d" % number, target.small(1)) for number in others)
    run = scenario(
        "More streams than connections, by default",
        kernels,
        [stream("S%d" % number) for number in range(MOST_CONNECTIONS + 1)],
        [launch("long", "S0"), launch("next", "S0")] + [launch("short %d" % each, "S%d" % each) for each in others],
    )
    taken = target.connections
    numbers = [taken] + [number for number in (2, 4, 8, 32) if number != taken]
    answers = [
        Answer("%d" % number, "--connections %d" % number, {} if number == taken else {"channels": number})
        for number in numbers
    ]
    pairs = [["long", "short %d" % number] for number in others]
    question = "How many connections has a process where CUDA_DEVICE_MAX_CONNECTIONS is not set?"
    return Experiment("channels-default", run, [Question("channels-default", question, "order", answers, pairs=pairs)])


def waiting(target):
    run = scenario(
        "With one connection, a stream waits for an event",
        {"working": target.small(4), "waiting": target.small(1), "behind": target.small(1)},
        [stream("A"), stream("B"), stream("C")],
        [
            launch("working", "A"),
            record("event", "A"),
            wait("event", "B"),
            launch("waiting", "B"),
            launch("behind", "C"),
        ],
        comment_connections=1,
    )
    answers = [
        Answer("yes", "--connections 1 (as was run)", {"channels": 1}),
        Answer(
            "no", "--connections 1 --channel-order fifo", {"channels": 1, "channel_order": "fifo"}
        ),
    ]
    question = Question(
        "channel-wait",
        "Does a wait for an event hold what others submit to its channel?",
        "order",
        answers,
        pairs=[["working", "behind"]],
    )
    return Experiment("channel-wait", run, [question])


def collective(target, connections):
    """Megatron-LM, issue 533: does communication that was launched first begin before the product?"""
    run = scenario(
        "Communication beside a matrix product that fills the GPU",
        {
            "norm": target.kernel(target.sms, 2, target.whole),
            "gather": target.kernel(max(1, target.sms // 8), 3, target.whole),
            "gemm": target.kernel(4 * target.sms, 2, target.whole),
        },
        [stream("main"), stream("comm")],
        [
            launch("norm", "main"),
            record("normed", "main"),
            wait("normed", "comm"),
            launch("gather", "comm"),
            launch("gemm", "main"),
        ],
        comment_connections=connections,
    )
    steps = [launch("norm", "main"), launch("gemm", "main"), sleep(3), launch("gather", "comm")]
    product_first = with_steps(run, steps)
    answers = [
        Answer("yes", "--connections %d (as was run)" % connections, {"channels": connections}),
        Answer(
            "no, the product",
            "ready_order [1], --connections %d" % UNLIMITED,
            {"channels": UNLIMITED},
            product_first,
        ),
    ]
    stem = "collective-%d" % connections
    question = (
        "With CUDA_DEVICE_MAX_CONNECTIONS=%d, does a collective begin before the product launched after it, when both "
        "become ready at once?" % connections
    )
    return Experiment(
        stem, run, [Question(stem, question, "order", answers, pairs=[["gather", "gemm"]])], repetitions=10
    )


def collective_1(target):
    return collective(target, 1)


def collective_8(target):
    return collective(target, 8)
