"""Parts of the GPU: green contexts and SM masks."""

from .parts import Answer, Experiment, Question, changed, launch, scenario, sleep, stream, with_stream

GREEN = ("green_contexts",)
# From compute capability 9.0 on, groups are of 8 SMs of one GPC each; with fewer SMs in all, they may be too few.
FEWEST_SMS = 40


def too_small(target, needed):
    """Why the GPU has too few SMs for groups of so many, or None."""
    if target.sms > needed and (target.capability < (9, 0) or target.sms >= FEWEST_SMS):
        return None
    return "a GPU of %d SMs may have too few for groups of %d" % (target.sms, needed)


def green_sizes(target):
    """A group of a number of SMs that is no multiple of what the GPU splits off."""
    sms = target.sms
    wanted, rounded, others = (12, 16, (8, 24)) if target.capability >= (9, 0) else (3, 4, (2, 6))

    def split(number):
        def change(other):
            other["green_contexts"][0]["sms"] = number

        return change

    run = scenario(
        "A green context, and one of the SMs that remain",
        {
            "within": target.kernel(4 * rounded, 2, target.whole),
            "remaining": target.kernel(2 * sms, 2, target.whole),
        },
        [stream("A", green_context="group"), stream("B", green_context="rest")],
        [launch("within", "A"), launch("remaining", "B")],
        green_contexts=[{"sms": wanted, "names": ["group"], "remaining": "rest"}],
    )
    answers = [Answer("%d" % rounded)]
    for other in others:
        if other < sms:
            answers.append(Answer("%d" % other, "sms of the split", scenario=changed(run, split(other))))
    question = Question(
        "green-sizes", "How many SMs has a green context that asks for %d?" % wanted, "resident", answers
    )
    impossible = too_small(target, rounded)
    return Experiment("green-sizes", run, [question], repetitions=3, needs=GREEN, impossible=impossible)


def two_groups(target, one_split):
    """Two green contexts of equal size, each of which a kernel fills."""
    size = 8 if target.capability >= (9, 0) else max(2, min(8, target.sms // 4 * 2))
    split = [{"sms": size, "names": ["one", "two"]}]
    splits = [{"sms": size, "names": ["one"]}, {"sms": size, "names": ["two"]}]
    run = scenario(
        "Two green contexts of %s" % ("one split" if one_split else "two splits"),
        {"first": target.kernel(size, 4, target.whole), "second": target.kernel(size, 4, target.whole)},
        [stream("A", green_context="one"), stream("B", green_context="two")],
        [launch("first", "A"), sleep(1), launch("second", "B")],
        green_contexts=split if one_split else splits,
    )
    other = changed(run, lambda other: other.update(green_contexts=splits if one_split else split))
    return run, other, too_small(target, 2 * size - 1)


def green_disjoint(target):
    run, other, impossible = two_groups(target, True)
    answers = [Answer("no"), Answer("yes", "two splits", scenario=other)]
    question = Question(
        "green-one-split",
        "Have green contexts of one split SMs in common, so that one waits for the other?",
        "order",
        answers,
        pairs=[["first", "second"]],
    )
    return Experiment("green-one-split", run, [question], needs=GREEN, impossible=impossible)


def green_overlap(target):
    run, other, impossible = two_groups(target, False)
    answers = [Answer("yes"), Answer("no", "one split", scenario=other)]
    question = Question(
        "green-two-splits",
        "Have green contexts of two splits SMs in common, so that one waits for the other?",
        "order",
        answers,
        pairs=[["first", "second"]],
    )
    return Experiment("green-two-splits", run, [question], needs=GREEN, impossible=impossible)


def green_queues(target):
    run, _, impossible = two_groups(target, True)
    size = run["green_contexts"][0]["sms"]
    run = scenario(
        "A head of one green context that does not fit, and a kernel of another one",
        {
            "holder": target.kernel(size, 6, target.whole),
            "large": target.kernel(size, 2, target.whole),
            "other": target.kernel(size, 2, target.whole),
        },
        [
            stream("A", green_context="one"),
            stream("B", green_context="one"),
            stream("C", green_context="two"),
        ],
        [launch("holder", "A"), sleep(1), launch("large", "B"), sleep("500 us"), launch("other", "C")],
        green_contexts=run["green_contexts"],
    )
    answers = [
        Answer("no"),
        Answer(
            "yes", "the same green context for both", scenario=with_stream(run, "C", green_context="one")
        ),
    ]
    question = Question(
        "green-queues",
        "Does a kernel that does not fit its green context hold those of other ones?",
        "order",
        answers,
        pairs=[["large", "other"]],
    )
    return Experiment("green-queues", run, [question], needs=GREEN, impossible=impossible)


def sm_mask(target):
    run = scenario(
        "A stream that must not use a TPC",
        {"masked": target.kernel(2 * target.sms, 2, target.whole)},
        [stream("A", sm_mask="0x1")],
        [launch("masked", "A")],
    )

    def without(other):
        del other["streams"][0]["sm_mask"]

    answers = [
        Answer("all but the two of that TPC"),
        Answer("all", "no sm_mask", scenario=changed(run, without)),
        Answer("those of that TPC alone", "sm_mask ~0x1", scenario=with_stream(run, "A", sm_mask="~0x1")),
    ]
    question = Question(
        "sm-mask", "Which SMs does a stream use whose mask of libsmctrl has bit 0 set?", "resident", answers
    )
    return Experiment("sm-mask", run, [question], repetitions=3, needs=("sm_masks",))
