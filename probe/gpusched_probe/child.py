"""A child process of the probe: `python3 -m gpusched_probe.child`, with its job as a line of JSON on its standard input.

A job is {"job": "card"}, {"job": "registers", "wanted": [numbers]} or {"job": "run", "scenario", "process", "repetitions",
"variants"}, each with "folder", where compiled kernels are kept. The child answers by one line {"result": ...} or
{"error": ...}. In a run it says "ready" before each repetition, and is told the instant at which all children begin.
"""

import json
import os
import sys

from . import card
from .driver import Driver
from .errors import ProbeError
from .kernels import Compiled
from .nvrtc import Nvrtc
from .objects import opened, registers
from .plan import Plan
from .runner import Runner


def work(job, begin):
    """The result of a job; `begin()` waits for the instant at which a repetition begins."""

    def compiled_for(capability):
        return Compiled(Nvrtc, capability, job["folder"])

    if job["job"] == "run":
        plan = Plan(job["scenario"], job["process"])
        with Runner(Driver(), plan, compiled_for, job["variants"]) as runner:
            # The first run is thrown away: it loads the code, and wakes the GPU and the caches.
            return [runner.run(begin) for _ in range(job["repetitions"] + 1)][1:]
    driver = Driver()
    with opened(driver, compiled_for) as (device, _, clock, functions):
        if job["job"] == "registers":
            return registers(functions, job["wanted"])
        return {"card": card.describe(driver, device, clock), "features": card.features(driver, device)}


def main():
    """Do the job; the exit status is 1 after an error."""
    # Whatever libraries print is not to stand between the lines for the parent.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(line):
        answers.write(line + "\n")
        answers.flush()

    def begin():
        say("ready")
        line = sys.stdin.readline()
        if not line:
            raise ProbeError("the probe was ended")
        return int(line)

    try:
        answer = {"result": work(json.loads(sys.stdin.readline()), begin)}
    except ProbeError as error:
        answer = {"error": str(error)}
    say(json.dumps(answer, separators=(",", ":")))
    # Host threads that still wait for the GPU after an error must not hold the end.
    os._exit(1 if "error" in answer else 0)


if __name__ == "__main__":
    main()
