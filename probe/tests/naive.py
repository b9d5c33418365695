"""What is looked at in the table of a run, written for clarity: a plain version of what `gpusched audit --probe` does.

Rows are those of the table of single blocks; their values may be text. Times are nanoseconds.
"""

from collections import defaultdict
from statistics import median

# Differences up to this do not count [ns].
TOLERANCE = 300000
UNITS = {"ns": 1, "us": 1000, "ms": 1000000, "s": 1000000000}


def nanoseconds(time):
    """A time of a scenario: a number, a blank and a unit."""
    number, unit = time.split()
    return round(float(number) * UNITS[unit])


def start(row):
    return int(row["start_ns"])


def end(row):
    return int(row["end_ns"])


def by(rows, *keys):
    """Rows by the values of these columns, those of each group by start."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return {key: sorted(group, key=start) for key, group in groups.items()}


def relation(a, b):
    """How `b`, rows of a kernel, begins in relation to `a`."""
    begin = start(b[0])
    if begin < start(a[0]) - TOLERANCE:
        return "before"
    if begin >= max(end(row) for row in a) - TOLERANCE:
        return "after"
    if begin >= start(a[-1]) - TOLERANCE:
        return "behind"
    return "beside"


def order(rows, pairs):
    """For each pair of kernels, the first one of which is named first: how the second one begins."""
    kernels = by(rows, "kernel")
    return [relation(kernels[a,], kernels[b,]) for a, b in pairs]


def most_at_once(rows):
    """The most of these blocks that ran at one instant; one that ends does not count any more."""
    changes = sorted([(start(row), 1) for row in rows] + [(end(row), -1) for row in rows])
    running = most = 0
    for _, change in changes:
        running += change
        most = max(most, running)
    return most


def resident(rows):
    """Of each kernel: the most blocks at once on one SM, and how many SMs had one."""
    found = {}
    for (kernel,), own in by(rows, "kernel").items():
        on = by(own, "sm")
        found[kernel] = (max(most_at_once(blocks) for blocks in on.values()), len(on))
    return found


def placement(rows):
    """Of each kernel: the SM of each block."""
    return {
        kernel: [int(row["sm"]) for row in sorted(own, key=lambda row: int(row["block"]))]
        for (kernel,), own in by(rows, "kernel").items()
    }


def block_time(rows, scenario):
    """Whether blocks of the scenario's first kernel took more than 1.5 times what it says, in the median."""
    name, kernel = next(iter(scenario["kernels"].items()))
    stated = nanoseconds(kernel["duration"])
    return median(end(row) - start(row) for row in rows if row["kernel"] == name) > 1.5 * stated


def block_gap(rows):
    """The median time from the end of a block to the start of the next on its SM [ns]."""
    gaps = [start(b) - end(a) for own in by(rows, "sm").values() for a, b in zip(own, own[1:])]
    return median(gaps)


def kernel_gap(rows):
    """The median time from the end of a kernel to the first start of the next of its stream [ns]."""
    gaps = []
    for own in by(rows, "process", "stream").values() if "process" in rows[0] else by(rows, "stream").values():
        launches = list(by(own, "launch").values())
        gaps += [start(b[0]) - max(map(end, a)) for a, b in zip(launches, launches[1:])]
    return median(gaps)


def launch_latency(rows):
    """The median time from a launch to the first start [ns]."""
    return median(start(own[0]) - int(own[0]["launched_ns"]) for own in by(rows, "launch").values())


def turns(rows):
    """Of two processes: the median length of a turn and of a switch [ns]."""
    ordered = sorted(rows, key=start)
    firsts, switches = [], []
    for before, after in zip(ordered, ordered[1:]):
        if before["process"] != after["process"]:
            firsts.append(start(after))
            switches.append(start(after) - start(before))
    lengths = [b - a - switch for a, b, switch in zip(firsts, firsts[1:], switches[1:])]
    return median(lengths), median(switches)


def feature(question, rows, scenario):
    """What the question looks at; `scenario` is the one that was run."""
    kind = question.looks_at
    if kind == "order":
        return order(rows, question.pairs)
    if kind == "block_time":
        return block_time(rows, scenario)
    of_rows = {
        "resident": resident,
        "placement": placement,
        "block_gap": block_gap,
        "kernel_gap": kernel_gap,
        "launch_latency": launch_latency,
        "turns": turns,
    }
    return of_rows[kind](rows)
