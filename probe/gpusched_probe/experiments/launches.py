"""Launches of their own kind: programmatic ones, clusters of blocks, and cooperative grids."""

from .parts import (
    Answer,
    Experiment,
    Question,
    changed,
    launch,
    record,
    scenario,
    sleep,
    stream,
    wait,
    with_kernel,
    with_steps,
)

PROGRAMMATIC = ("programmatic",)


def programmatic(target, trigger):
    """A kernel of 6 ms, and one behind it that is launched programmatically; `marker` ends before the trigger."""
    first = target.small(6) if trigger is None else target.small(6, trigger=trigger)
    return scenario(
        "A kernel that is launched programmatically",
        {"marker": target.small(1.5), "first": first, "second": target.small(2)},
        [stream("A"), stream("B")],
        [launch("marker", "B"), launch("first", "A"), launch("second", "A", programmatic=True)],
    )


def plain(run):
    """The same without the attribute."""

    def change(other):
        del other["hosts"][0]["steps"][2]["programmatic"]
        other["kernels"]["first"].pop("trigger", None)

    return changed(run, change)


def trigger(target):
    run = programmatic(target, 0.5)
    answers = [
        Answer("at its trigger"),
        Answer("at its end", "no \"programmatic\"", scenario=plain(run)),
        Answer("at its beginning", "\"trigger\": 0", scenario=with_kernel(run, "first", trigger=0)),
    ]
    question = Question(
        "programmatic-trigger",
        "When does a kernel begin that is launched programmatically behind one with a trigger?",
        "order",
        answers,
        pairs=[["first", "second"], ["marker", "second"]],
    )
    return Experiment("programmatic-trigger", run, [question], needs=PROGRAMMATIC)


def without_trigger(target):
    run = programmatic(target, None)
    answers = [
        Answer("at its end"),
        Answer("at its beginning", "\"trigger\": 0", scenario=with_kernel(run, "first", trigger=0)),
        Answer("in its midst", "\"trigger\": 0.5", scenario=with_kernel(run, "first", trigger=0.5)),
    ]
    question = Question(
        "programmatic-no-trigger",
        "When does a kernel begin that is launched programmatically behind one without a trigger?",
        "order",
        answers,
        pairs=[["first", "second"], ["marker", "second"]],
    )
    return Experiment("programmatic-no-trigger", run, [question], needs=PROGRAMMATIC)


def equal_gpcs(target):
    """GPCs of 18 SMs as far as they go, of a card whose GPCs gpusched does not know."""
    tpcs = target.sms // 2
    return {"gpcs": {"tpcs": [9] * (tpcs // 9) + ([tpcs % 9] if tpcs % 9 else []), "lone_tpcs": 0}}


def cluster(target, size):
    """Blocks that have an SM each, in clusters of `size`, more than fit at once."""
    blocks = 2 * -(-target.sms // size) * size
    run = scenario(
        "Clusters of %d blocks" % size,
        {"clusters": target.kernel(blocks, 2, target.whole, cluster=size)},
        [stream("A")],
        [launch("clusters", "A")],
    )
    known = Answer("those of GPCs as its device file has them")
    if not target.has_known_gpcs:
        known = Answer("those of GPCs of 9 TPCs", "gpcs of the device file", equal_gpcs(target))
    answers = [known, Answer("all", "no clusters", scenario=with_kernel(run, "clusters", cluster=None))]
    stem = "cluster-%d" % size
    question = Question(stem, "How many SMs do clusters of %d blocks use?" % size, "resident", answers)
    return stem, run, question


def clusters(target, size):
    stem, run, question = cluster(target, size)
    impossible = None
    tpcs = equal_gpcs(target)["gpcs"]["tpcs"]
    if size == 1:
        # Clusters of one block are no clusters: both answers are the same, and only the number is of interest.
        question.answers = [Answer("all")]
    elif size > target.sms // 2:
        impossible = "no GPC of a GPU of %d SMs is sure to have %d" % (target.sms, size)
    elif not target.has_known_gpcs and all(2 * gpc % size == 0 for gpc in tpcs):
        impossible = "GPCs of 9 TPCs would leave no SM of this GPU unused, so that the answers are the same"
    elif target.has_known_gpcs and size == 2:
        impossible = "TPCs have two SMs, so that clusters of two leave no SM unused, and the answers are the same"
    return Experiment(stem, run, [question], repetitions=3, needs=("clusters",), impossible=impossible)


def cluster_experiments():
    """One function of the target for each size."""

    def of(size):
        return lambda target: clusters(target, size)

    return [of(size) for size in (1, 2, 4, 8, 16)]


def cooperative_busy(target):
    sms = target.sms
    steps = [launch("holder", "A"), sleep(1), launch("grid", "B"), sleep("500 us"), launch("little", "C")]
    run = scenario(
        "A cooperative grid that needs all SMs, of which one is busy",
        {
            "holder": target.kernel(1, 6, target.whole),
            "grid": target.kernel(sms, 3, target.whole, cooperative=True),
            "little": target.kernel(max(1, sms // 4), 2, target.whole),
        },
        [stream("A"), stream("B"), stream("C")],
        steps,
    )
    passed = [steps[0], sleep(1), steps[4], sleep("500 us"), steps[2]]
    answers = [
        Answer("whole, and it holds what is behind it until then"),
        Answer("whole, and what is behind it goes on", "order of the launches", scenario=with_steps(run, passed)),
        Answer("in parts", "no \"cooperative\"", scenario=with_kernel(run, "grid", cooperative=None)),
    ]
    question = Question(
        "cooperative-busy",
        "How does a cooperative grid begin that needs all SMs while one is busy?",
        "order",
        answers,
        pairs=[["holder", "grid"], ["grid", "little"], ["holder", "little"]],
    )
    return Experiment("cooperative-busy", run, [question], needs=("cooperative",))


def behind_an_event(run, first, last):
    """The scenario in which `last` waits until `first` has ended."""

    def change(other):
        steps = []
        for step in other["hosts"][0]["steps"]:
            if step.get("launch") == last:
                steps.append(wait("ended", step["stream"]))
            steps.append(step)
            if step.get("launch") == first:
                steps.append(record("ended", step["stream"]))
        other["hosts"][0]["steps"] = steps

    return changed(run, change)


def beside(target, stem, title, question, first_is_cooperative):
    """A cooperative grid of a block on each SM beside another kernel like it."""
    more = {"cooperative": True} if first_is_cooperative else {}
    run = scenario(
        title,
        {
            "first": target.kernel(target.sms, 6, target.share(2), **more),
            "second": target.kernel(target.sms, 3, target.share(4), cooperative=True),
        },
        [stream("A"), stream("B")],
        [launch("first", "A"), sleep(1), launch("second", "B")],
    )
    answers = [
        Answer("yes"),
        Answer("no", "an event between the streams", scenario=behind_an_event(run, "first", "second")),
    ]
    asked = Question(stem, question, "order", answers, pairs=[["first", "second"]])
    return Experiment(stem, run, [asked], needs=("cooperative",))


def cooperative_beside(target):
    return beside(
        target,
        "cooperative-beside",
        "A cooperative grid that has room beside another kernel",
        "Does a cooperative grid begin beside another kernel if there is room for all of it?",
        False,
    )


def cooperative_two(target):
    return beside(
        target,
        "cooperative-two",
        "Two cooperative grids that have room together",
        "Do two cooperative grids run at once if there is room for both?",
        True,
    )
