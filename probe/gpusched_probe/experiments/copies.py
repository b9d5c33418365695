"""Copies: their order over streams and engines. A kernel behind each copy shows when it has ended."""

from .parts import Answer, Experiment, Question, copied, launch, record, scenario, stream, wait, with_steps

# Half a millisecond at 400 GB/s, 4 ms at 50 GB/s, 20 ms at 10 GB/s.
LARGE = 192 << 20
# Ends well before the large one if both run at once, however much they slow each other down, and well after it if not.
HALF = LARGE // 2
# Of no account beside a large one, also at 10 GB/s.
LITTLE = 2 << 20
# Shorter than a copy, so that kernels behind copies that end one after the other do not overlap [ms].
MARKER_MS = 0.6


def two_copies(target, stem, title, question, second, answers):
    """A copy to the device in one stream, another copy in another one, and a kernel behind each."""
    run = scenario(
        title,
        {"one": target.small(MARKER_MS), "two": target.small(MARKER_MS)},
        [stream("A"), stream("B")],
        [copied("host-to-device", LARGE, "A"), copied(*second, "B"), launch("one", "A"), launch("two", "B")],
    )
    asked = Question(stem, question, "order", answers, pairs=[["one", "two"]])
    return Experiment(stem, run, [asked], repetitions=3)


def one_engine(target):
    answers = [
        Answer("one after the other"),
        Answer("both at once, each at half its speed", "copies of the device file", {"copies": "shared-link"}),
    ]
    return two_copies(
        target,
        "copies-one-way",
        "Two copies to the device",
        "Do two copies of one direction run one after the other?",
        ("host-to-device", LARGE),
        answers,
    )


def both_ways(target):
    one = target.card["copy_engines"] == 1
    yes, no = Answer("yes"), Answer("no, one after the other")
    other = yes if one else no
    other.switch = "copy_engines of the device file"
    other.device = {"copy_engines": 2 if one else 1}
    return two_copies(
        target,
        "copies-both-ways",
        "A copy to the device and one of half its size to the host",
        "Do a copy to the device and one to the host run at once?",
        ("device-to-host", HALF),
        [no, yes] if one else [yes, no],
    )


def within_device(target):
    patch = {"copy_engines": max(2, target.card["copy_engines"]), "copy": {"device_to_device_engine": 1}}
    answers = [
        Answer("yes"),
        Answer("no", "copy.device_to_device_engine of the device file", patch),
    ]
    return two_copies(
        target,
        "copies-within-device",
        "A copy to the device and a small one within it",
        "Does a copy within the device wait for one to the device?",
        ("device-to-device", LITTLE),
        answers,
    )


def queue(target):
    run = scenario(
        "Two copies of one stream and one of another",
        {"two": target.small(MARKER_MS), "three": target.small(MARKER_MS)},
        [stream("A"), stream("B")],
        [
            copied("host-to-device", LARGE, "A"),
            copied("host-to-device", LARGE, "A"),
            copied("host-to-device", LARGE, "B"),
            launch("two", "A"),
            launch("three", "B"),
        ],
    )
    steps = run["hosts"][0]["steps"]
    submitted = with_steps(run, [*steps[:2], record("second", "A"), wait("second", "B"), *steps[2:]])
    answers = [
        Answer("in that in which they come to the heads of their streams"),
        Answer("in that in which they were submitted", "an event between the streams", scenario=submitted),
    ]
    question = Question(
        "copy-order", "In which order does a copy engine take copies?", "order", answers, pairs=[["two", "three"]]
    )
    return Experiment("copy-order", run, [question], repetitions=3)
