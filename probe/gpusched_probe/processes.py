"""Child processes: everything that touches the GPU runs in one, so that nothing is left of an experiment for the next."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time

from .errors import ProbeError

# Children begin a repetition so long after all of them are ready [ns].
LEAD_NS = 20000000

# How long a child that has answered may take to end [s].
PATIENCE_S = 5


class Child:
    """A child process at work; what it says comes in by `lines`, and None at its end."""

    def __init__(self, job, environment):
        self._errors = tempfile.TemporaryFile()
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        paths = [package] + [path for path in (os.environ.get("PYTHONPATH"),) if path]
        # What the driver is told is up to the experiment alone.
        told = (
            "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_LAUNCH_BLOCKING", "CUDA_SCALE_LAUNCH_QUEUES",
            "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "CUDA_MPS_CLIENT_PRIORITY",
        )
        own = {name: value for name, value in os.environ.items() if name not in told}
        # Others of the machine would only take time to begin.
        own.setdefault("CUDA_VISIBLE_DEVICES", "0")
        environment = dict(own, PYTHONPATH=os.pathsep.join(paths), **environment)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gpusched_probe.child"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment,
        )
        self.lines = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.tell(json.dumps(job))

    def _listen(self):
        for line in self._process.stdout:
            self.lines.put(line.decode())
        self._process.stdout.close()
        self.lines.put(None)

    def tell(self, line):
        """Write a line to the child; a child that has ended says so by itself."""
        try:
            self._process.stdin.write((line + "\n").encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass

    def next(self, until, limit_s):
        """The next line that the child says, before the instant `until` [s, monotonic]."""
        try:
            line = self.lines.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            raise ProbeError(
                "a process of the experiment was not done within %g s and was ended: "
                "its work may wait for something that never comes, or the GPU is busy with others' work" % limit_s
            ) from None
        if line is None:
            status = self._process.wait()
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace").strip().splitlines() or ["it said nothing"]
            raise ProbeError("a process of the experiment ended with status %d: %s" % (status, said[-1]))
        return line.strip()

    def end(self, patience_s):
        """Wait so long for the child's end, and then kill it."""
        try:
            self._process.wait(timeout=patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._process.wait()
        for file in (self._process.stdin, self._errors):
            try:
                file.close()
            except BrokenPipeError:
                pass


def run(jobs, environments, limit_s):
    """Do these jobs at the same time, each in a child of its own with additions to its environment: their results.

    Children that say "ready" wait until all are, and are told one instant at which to begin. None may take longer than
    `limit_s` seconds.
    """
    until = time.monotonic() + limit_s
    children, patience_s = [], 0
    try:
        for job, environment in zip(jobs, environments):
            children.append(Child(job, environment))
        while True:
            lines = [child.next(until, limit_s) for child in children]
            if not all(line == "ready" for line in lines):
                break
            begin = time.monotonic_ns() + LEAD_NS
            for child in children:
                child.tell(str(begin))
        answers = [json.loads(line) for line in lines if line != "ready"]
        for answer in answers:
            if "error" in answer:
                raise ProbeError(answer["error"])
        patience_s = PATIENCE_S
        return [answer["result"] for answer in answers]
    finally:
        for child in children:
            child.end(patience_s)
