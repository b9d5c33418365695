"""What streams wait for: the NULL stream, events, and graphs."""

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


def null_stream(target):
    run = scenario(
        "The NULL stream between others",
        {
            "before": target.small(4),
            "null": target.small(3),
            "behind": target.small(2),
            "aside": target.small(2),
        },
        [stream("A", blocking=True), stream("B", blocking=True), stream("C")],
        [launch("before", "A"), launch("null", "NULL"), launch("behind", "B"), launch("aside", "C")],
    )
    questions = [
        Question(
            "null-waits",
            "Does the NULL stream wait for blocking streams?",
            "order",
            [
                Answer("yes"),
                Answer("no", "a non-blocking stream", scenario=with_stream(run, "A", blocking=False)),
            ],
            pairs=[["before", "null"]],
        ),
        Question(
            "null-holds",
            "Do blocking streams wait for the NULL stream?",
            "order",
            [
                Answer("yes"),
                Answer("no", "a non-blocking stream", scenario=with_stream(run, "B", blocking=False)),
            ],
            pairs=[["null", "behind"]],
        ),
        Question(
            "null-passes",
            "Does a non-blocking stream pass the NULL stream by?",
            "order",
            [
                Answer("yes"),
                Answer("no", "a blocking stream", scenario=with_stream(run, "C", blocking=True)),
            ],
            pairs=[["null", "aside"]],
        ),
    ]
    return Experiment("null-stream", run, questions)


def event_records(target):
    def steps(awaited):
        """The wait is for the event of this number; all three are one event where it is None."""

        def name(number):
            return "event" if awaited is None else "event %d" % number

        return [
            launch("first", "A"),
            record(name(1), "A"),
            launch("second", "A"),
            record(name(2), "A"),
            *([wait(name(2 if awaited is None else awaited), "B")] if awaited != 3 else []),
            launch("third", "A"),
            record(name(3), "A"),
            *([wait(name(3), "B")] if awaited == 3 else []),
            launch("waiting", "B"),
        ]

    run = scenario(
        "An event that is recorded three times",
        {
            "first": target.small(2),
            "second": target.small(4),
            "third": target.small(2),
            "waiting": target.small(2),
        },
        [stream("A"), stream("B")],
        steps(None),
    )
    answers = [
        Answer("for the last record that was submitted before it"),
        Answer("for the first record", "an event of its own", scenario=with_steps(run, steps(1))),
        Answer("for the last record of all", "an event of its own", scenario=with_steps(run, steps(3))),
    ]
    question = Question(
        "event-records",
        "For which record of an event does a wait wait?",
        "order",
        answers,
        pairs=[["first", "waiting"], ["second", "waiting"], ["third", "waiting"]],
    )
    return Experiment("event-records", run, [question])


def event_unrecorded(target):
    run = scenario(
        "A wait for an event that has no record yet",
        {"working": target.small(4), "waiting": target.small(2)},
        [stream("A"), stream("B")],
        [launch("working", "A"), wait("event", "B"), launch("waiting", "B"), record("event", "A")],
    )
    steps = [launch("working", "A"), record("event", "A"), wait("event", "B"), launch("waiting", "B")]
    answers = [
        Answer("no"),
        Answer("yes, for the next one", "order of the steps in the scenario", scenario=with_steps(run, steps)),
    ]
    question = Question(
        "event-unrecorded",
        "Does a wait for an event without a record hold anything?",
        "order",
        answers,
        pairs=[["working", "waiting"]],
    )
    return Experiment("event-unrecorded", run, [question])


def graph_branches(target):
    def chain(other):
        other["graphs"]["diamond"]["nodes"]["right"]["after"] = ["left"]

    run = scenario(
        "A graph of two branches, and a kernel behind it",
        {
            "top": target.small(1),
            "left": target.small(4),
            "right": target.small(2),
            "behind": target.small(1),
        },
        [stream("A")],
        [{"graph": "diamond", "stream": "A"}, launch("behind", "A")],
        graphs={
            "diamond": {
                "nodes": {
                    "top": {"kernel": "top"},
                    "left": {"kernel": "left", "after": ["top"]},
                    "right": {"kernel": "right", "after": ["top"]},
                }
            }
        },
    )
    answers = [
        Answer("yes, and what follows the graph waits for all of them"),
        Answer("no, one after the other", "edges of the graph", scenario=changed(run, chain)),
    ]
    question = Question(
        "graph-branches",
        "Do nodes of a graph without an edge between them run side by side?",
        "order",
        answers,
        pairs=[["left", "right"], ["left", "behind"]],
    )
    return Experiment("graph-branches", run, [question], needs=("graphs",))


def wait_value(target):
    run = scenario(
        "With one connection, a stream waits for a value",
        {"marker": target.small(3), "waiting": target.small(1), "behind": target.small(1)},
        [stream("A"), stream("B"), stream("C")],
        [
            launch("marker", "C"),
            {"wait_value": "counter", "value": 1, "stream": "A"},
            launch("waiting", "A"),
            launch("behind", "B"),
            sleep(5),
            {"write_value": "counter", "value": 1},
        ],
        comment_connections=1,
    )
    answers = [
        Answer("yes", "--connections 1 (as was run)", {"channels": 1}),
        Answer("no", "no shared channel", {"channels": 32}),
    ]
    question = Question(
        "wait-value-channel",
        "Does a stream that waits for a value hold what others submit to its channel?",
        "order",
        answers,
        pairs=[["marker", "behind"]],
    )
    return Experiment("wait-value-channel", run, [question], needs=("wait_values",))
