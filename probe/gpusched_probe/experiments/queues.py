"""In which order kernels that wait get room: priorities, heads that do not fit, and what becomes ready at once."""

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
    with_steps,
    with_stream,
)

LAUNCHES = "order of the launches in the scenario"


def priority_order(target):
    highest = 1 - target.card["priority_levels"]
    wave = target.kernel(target.sms, 2, target.whole)
    run = scenario(
        "Kernels of three priorities wait for one that fills the GPU",
        {"filling": target.kernel(target.sms, 4, target.whole), "low": wave, "middle": wave, "high": wave},
        [stream("A"), stream("low"), stream("middle", -1), stream("high", highest)],
        [launch("filling", "A"), launch("low", "low"), launch("middle", "middle"), launch("high", "high")],
    )
    flat = with_stream(with_stream(run, "middle", priority=0), "high", priority=0)
    answers = [
        Answer("the highest priority, all levels told apart"),
        Answer("the first launch, whatever its priority", "all priorities equal", scenario=flat),
        Answer(
            "the highest, but there are two levels: 0 and above",
            "equal priorities above 0",
            scenario=with_stream(run, "high", priority=-1),
        ),
        Answer(
            "the highest, but -1 is as 0", "priority 0 in place of -1", scenario=with_stream(run, "middle", priority=0)
        ),
    ]
    question = Question(
        "priority-order",
        "Which of the kernels that wait gets room first?",
        "order",
        answers,
        pairs=[["low", "middle"], ["low", "high"], ["middle", "high"]],
    )
    impossible = None if highest <= -2 else "the GPU has no three priorities"
    return Experiment("priority-order", run, [question], impossible=impossible)


def later(target, stem, title, priority, question, first, second, switch, other_priority):
    """A kernel of several waves, and another one that is launched during its first wave."""
    run = scenario(
        title,
        {"waves": target.kernel(4 * target.sms, 3, target.whole), "late": target.kernel(target.sms, 2, target.whole)},
        [stream("A"), stream("B", priority)],
        [launch("waves", "A"), sleep(1), launch("late", "B")],
    )
    answers = [Answer(first), Answer(second, switch, scenario=with_stream(run, "B", priority=other_priority))]
    asked = Question(stem, question, "order", answers, pairs=[["waves", "late"]])
    return Experiment(stem, run, [asked])


def priority_midway(target):
    return later(
        target,
        "priority-midway",
        "A kernel of higher priority comes while another one has blocks waiting",
        -1,
        "Does a kernel of higher priority get the next room before waiting blocks of one that has begun?",
        "yes",
        "no: after all blocks of that kernel",
        "equal priorities",
        0,
    )


def queue_order(target):
    return later(
        target,
        "queue-order",
        "A kernel of the same priority comes while another one has blocks waiting",
        0,
        "Does a kernel of another stream wait until all blocks of the one before it have begun?",
        "yes",
        "no: it gets the next room",
        "a higher priority",
        -1,
    )


def running_blocks(target):
    kernels = {
        "running": target.kernel(target.sms, 4, target.whole),
        "urgent": target.kernel(target.sms, 8, target.whole),
    }
    run = scenario(
        "A kernel of the highest priority comes while blocks hold all SMs",
        kernels,
        [stream("A"), stream("B", 1 - target.card["priority_levels"])],
        [launch("running", "A"), sleep(1), launch("urgent", "B")],
    )
    turns = scenario(
        "Two processes take turns",
        kernels,
        [stream("A", process="first"), stream("B", process="second")],
        [],
        processes={"first": {}, "second": {}},
        hosts=[
            {"name": "host", "process": "first", "steps": [launch("running", "A")]},
            {"name": "other", "process": "second", "steps": [sleep(1), launch("urgent", "B")]},
        ],
    )

    def answers():
        return [
            Answer("no"),
            Answer("yes, they are stopped", "two processes that take turns", scenario=turns),
        ]

    questions = [
        Question("priority-running", "Does a priority stop running blocks?", "block_time", answers()),
        Question(
            "priority-beside",
            "Does a kernel of higher priority begin while running blocks hold all SMs?",
            "order",
            answers(),
            pairs=[["running", "urgent"]],
        ),
    ]
    return Experiment("priority-running", run, questions)


def head(target, stem, title, question, priorities, held):
    """A head that does not fit, and a kernel behind it that does. `held`: whether gpusched has it held back."""
    large, little = priorities
    run = scenario(
        title,
        {
            "holder": target.kernel(target.sms, 6, target.share(2)),
            "large": target.kernel(target.sms, 2, target.whole),
            "little": target.kernel(target.sms, 2, target.share(4)),
        },
        [stream("A"), stream("large", large), stream("little", little)],
        [launch("holder", "A"), sleep(1), launch("large", "large"), sleep("500 us"), launch("little", "little")],
    )
    begins = Answer("no, it is passed over")
    waits = Answer("yes")
    if held:
        begins.switch = LAUNCHES
        steps = [launch("holder", "A"), sleep(1), launch("little", "little"), sleep("500 us"), launch("large", "large")]
        begins.scenario = with_steps(run, steps)
    else:
        waits.switch = "equal priorities"
        waits.scenario = with_stream(run, "little", priority=large)
    answers = [waits, begins] if held else [begins, waits]
    asked = Question(stem, question, "order", answers, pairs=[["large", "little"]])
    return Experiment(stem, run, [asked])


def head_of_queue(target):
    return head(
        target,
        "head-of-queue",
        "A head that does not fit, and a kernel of the same priority behind it",
        "Does a kernel that does not fit hold back those behind it in its queue?",
        (0, 0),
        True,
    )


def head_of_higher(target):
    return head(
        target,
        "head-above",
        "A head of higher priority that does not fit",
        "Does a kernel that does not fit hold back those of lower priority?",
        (-1, 0),
        True,
    )


def head_of_lower(target):
    return head(
        target,
        "head-below",
        "A head of lower priority that does not fit",
        "Does a kernel that does not fit hold back those of higher priority?",
        (0, -1),
        False,
    )


def ready_order(target):
    wave = target.kernel(target.sms, 2, target.whole)
    run = scenario(
        "Two kernels that one event lets go",
        {"gate": target.kernel(target.sms, 3, target.whole), "one": wave, "two": wave},
        [stream("gate"), stream("B"), stream("C")],
        [
            launch("gate", "gate"),
            record("open", "gate"),
            wait("open", "B"),
            launch("one", "B"),
            wait("open", "C"),
            launch("two", "C"),
        ],
    )
    answers = [
        Answer("the one that was launched first"),
        Answer("the other one", "ready_order [1]", scenario=changed(run, lambda other: other.update(ready_order=[1]))),
    ]
    question = Question(
        "ready-order", "Which of two kernels that one event lets go begins?", "order", answers, pairs=[["one", "two"]]
    )
    return Experiment("ready-order", run, [question], repetitions=20)
