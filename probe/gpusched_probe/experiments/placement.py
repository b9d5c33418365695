"""Which SM gets the next block: of an idle GPU, of a busy one, and as others end."""

from .parts import Answer, Experiment, Question, launch, scenario, sleep, stream

UNEVEN_TIMES_MS = (1.0, 3.0, 2.0, 5.0, 1.5)


def policies(target, refill=False):
    """Answers, that of gpusched for this card first."""
    policies = {
        "most-room": Answer("the SM that could hold most further blocks", "--placement most-room"),
        "round-robin": Answer("the next SM after the last one used", "--placement round-robin"),
        "lowest-id": Answer("the SM of the lowest number that has room", "--placement lowest-id"),
    }
    if target.has_known_gpcs:
        policies["gpc"] = Answer("GPC by GPC, one block on each SM", "--placement gpc")
        if refill:
            policies["gpc-most-room"] = Answer("GPC by GPC at first, then most room", "--placement gpc-most-room")
    default = "gpc" if target.placed_by_gpcs else "most-room"
    for name, answer in policies.items():
        if name == default:
            answer.switch = "none: gpusched takes this"
        else:
            answer.device = {"placement": name}
    return [policies.pop(default), *policies.values()]


def idle(target):
    sms = target.sms
    kernels = {
        "one": target.kernel(1, 1, target.whole),
        "wave": target.kernel(sms, 1, target.whole),
        "twice": target.kernel(2 * sms, 1, target.share(2)),
        "odd": target.kernel(2 * sms - 3, 1, target.share(4)),
    }
    run = scenario(
        "Kernels of several sizes on an idle GPU",
        kernels,
        [stream("A")],
        [launch(name, "A") for name in kernels],
    )
    question = Question(
        "placement-idle", "Which SM of an idle GPU gets the next block?", "placement", policies(target)
    )
    return Experiment("placement-idle", run, [question], repetitions=10)


def busy(target):
    sms = target.sms
    kernels = {
        "holder": target.kernel(sms // 2, 8, target.whole),
        "brief": target.kernel(3, 0.5, target.share(4)),
        "odd": target.kernel(sms + 1, 3, target.share(4)),
        "more": target.kernel(sms // 3, 2, target.share(4)),
    }
    run = scenario(
        "Kernels beside one that holds half of the SMs",
        kernels,
        [stream("A"), stream("B"), stream("C")],
        [
            launch("holder", "A"),
            sleep("500 us"),
            launch("brief", "B"),
            sleep(1),
            launch("odd", "B"),
            sleep(1),
            launch("more", "C"),
        ],
    )
    question = Question(
        "placement-busy", "Which SM of a busy GPU gets the next block?", "placement", policies(target)
    )
    return Experiment("placement-busy", run, [question], repetitions=10)


def refill(target):
    blocks = 7 * target.sms
    times = ["%d us" % (1000 * UNEVEN_TIMES_MS[block % len(UNEVEN_TIMES_MS)]) for block in range(blocks)]
    kernels = {
        "uneven": target.kernel(blocks, 1, target.share(4), block_times=times),
        "wide": target.kernel(target.sms, 2, target.share(2)),
    }
    run = scenario(
        "Blocks of unequal length, four on each SM",
        kernels,
        [stream("A"), stream("B")],
        [launch("uneven", "A"), launch("wide", "B")],
    )
    question = Question(
        "placement-refill",
        "Which SM gets the next block as blocks of unequal length end?",
        "placement",
        policies(target, refill=True),
    )
    return Experiment("placement-refill", run, [question], repetitions=5)
