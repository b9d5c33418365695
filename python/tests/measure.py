"""Measures what docs/python.md states: python measure.py COMMAND, with a release build of the package.

Times are the least of several runs, in turns, so that other work on the machine disturbs them alike.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gpusched


def kernels(count: int = 20_000, streams: int = 8) -> dict[str, Any]:
    """Kernels of 8 blocks and mixed sizes in a few streams."""
    names = {f"K{i}": {"blocks": 8, "threads": 64 << i % 5, "duration": f"{100 + i} us"} for i in range(40)}
    lists = [[{"kernel": f"K{(s + 7 * i) % 40}"} for i in range(count // streams)] for s in range(streams)]
    return {
        "format": "gpusched-scenario/1",
        "name": "many kernels",
        "kernels": names,
        "streams": [{"name": f"s{s}", "operations": list_} for s, list_ in enumerate(lists)],
    }


def processor_time(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def least(work: Callable[[], object], runs: int, who: int = resource.RUSAGE_SELF) -> float:
    """Least processor time of several runs [s]."""
    times = []
    for _ in range(runs):
        began = processor_time(who)
        work()
        times.append(processor_time(who) - began)
    return min(times)


class Ticker:
    """One kernel after the other."""

    def __init__(self, launches: int) -> None:
        self.left = launches

    def start(self, gpu: gpusched.Gpu) -> None:
        self.kernel = gpu.add_kernel("K", blocks=4, threads=1024, duration="1 us")
        self.launch(gpu)

    def launch(self, gpu: gpusched.Gpu) -> None:
        if self.left:
            self.left -= 1
            gpu.launch(self.kernel)

    def on_completed(self, operation: int, gpu: gpusched.Gpu) -> None:
        self.launch(gpu)


def main(command: str) -> None:
    scenario = kernels()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "many.json")
        file.write_text(json.dumps(scenario))
        out = Path(folder, "out.json").open("w+")
        by_command = lambda: subprocess.run([command, "simulate", file, "--format", "csv"], stdout=out, check=True)
        of_command = least(by_command, 15, resource.RUSAGE_CHILDREN)
        of_dict = least(lambda: gpusched.simulate(scenario), 15)
        of_file = least(lambda: gpusched.simulate(file), 15)
        whole = least(lambda: gpusched.simulate(scenario).to_csv(), 15)
    print(f"20,000 kernels of 8 blocks: command with CSV {of_command * 1e3:.1f} ms")
    print(f"  from a dict {of_dict * 1e3:.1f} ms, from a file {of_file * 1e3:.1f} ms, from a dict with CSV {whole * 1e3:.1f} ms")

    one = {**kernels(8), "kernels": {f"K{i}": {"blocks": 125_000, "threads": 64, "duration": "1 us"} for i in range(40)}}
    run = gpusched.simulate(one)
    elapsed, blocks = [], 0
    for _ in range(10):
        began = time.perf_counter()
        blocks = len(run._raw.block_arrays()[0])
        elapsed.append(time.perf_counter() - began)
    print(f"{blocks} blocks reach NumPy in {min(elapsed) * 1e3:.1f} ms")

    count = 100_000
    python = least(lambda: gpusched.run_host(Ticker(count)), 5)
    steps = [{"launch": "K", "stream": "NULL"}, {"synchronize": "last"}]
    rust = {
        "format": "gpusched-scenario/1",
        "name": "ticker",
        "kernels": {"K": {"blocks": 4, "threads": 1024, "duration": "1 us"}},
        "hosts": [{"name": "h", "iterations": count, "steps": steps}],
    }
    native = least(lambda: gpusched.simulate(rust), 5)
    per = (python - native) / count * 1e6
    print(f"{count} launches by a scheduler in Python {python:.3f} s, by a host thread {native:.3f} s: {per:.2f} us each")


if __name__ == "__main__":
    main(sys.argv[1])
