"""Ctrl-C ends work and not only the call, and memory has a limit."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import ROOT

import gpusched

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals, and what the system tells of memory")


def scenario(**more):
    return {
        "format": "gpusched-scenario/1",
        "name": "long",
        "kernels": {"K": {"blocks": 8, "threads": 512, "duration": "1 us"}},
        **more,
    }


def host(*steps, **more):
    return scenario(streams=[{"name": "s"}], hosts=[{"name": "h", "steps": list(steps), **more}])


LAUNCH = {"launch": "K", "stream": "s"}
WAITS = host(LAUNCH, {"synchronize": "last"}, iterations=1 << 30, time_limit="1000 s")
LAUNCHES = host({"repeat": (1 << 32) - 1, "steps": [LAUNCH]})
MANY_LAUNCHES = host({"repeat": 1 << 26, "steps": [LAUNCH]})
EVERY_NANOSECOND = scenario(
    horizon="1 s", streams=[{"name": "s", "period": "1 ns", "operations": [{"kernel": "K"}]}]
)
TOGETHER = scenario(streams=[{"name": f"s{i}", "operations": [{"kernel": "K"}] * 40} for i in range(9)])
SMALL = scenario(streams=[{"name": f"s{i}", "operations": [{"kernel": "K"}]} for i in range(9)])
PERIODIC = scenario(
    horizon="40 ms",
    streams=[
        {"name": f"s{i}", "period": f"{17 + i} us", "deadline": "10 us", "operations": [{"kernel": "K"}]}
        for i in range(9)
    ],
)
TASKS = {
    "sms": 2,
    "priority_levels": 2,
    "reservation": {"period": 12, "single": {"offset": 0, "budget": 8}, "all": {"offset": 8, "budget": 4}},
    "tasks": [{"name": f"t{period}", "C": 3, "T": period, "PC": 0, "sm": 0} for period in (10_007, 10_009, 10_037)],
}

MANY_TASKS = {
    **TASKS,
    "tasks": [
        {"name": f"t{period}", "C": 3, "T": period, "PC": 0, "sm": period // 2 % 2}
        for period in (97, 101, 103, 107, 109, 113, 127, 131)
    ],
}


class Ticker:
    """Launches for ever."""

    def start(self, gpu):
        self.kernel = gpu.add_kernel("K", blocks=1, threads=32, duration=1000)
        gpu.launch(self.kernel)

    def on_completed(self, operation, gpu):
        gpu.launch(self.kernel)


LARGE = scenario(streams=[{"name": "s", "operations": [{"kernel": "K"}] * 1_000_000}])

LONG = {
    "simulate": lambda _: gpusched.simulate(WAITS),
    "simulate, launches at one instant": lambda _: gpusched.simulate(MANY_LAUNCHES),
    "simulate, of a large dict": lambda _: gpusched.simulate(LARGE),
    "analyze": lambda _: gpusched.analyze(PERIODIC, search="60 s"),
    "analyze, sporadic": lambda _: gpusched.analyze(PERIODIC, sporadic=True, search="60 s"),
    "compare": lambda _: gpusched.compare(WAITS),
    "orders": lambda _: gpusched.orders(TOGETHER, samples=10**9),
    "evr": lambda _: gpusched.evr("rodinia-like-k20m", inject=40, samples=10**6),
    "tasks": lambda _: gpusched.tasks(MANY_TASKS),
    "occupancy": lambda _: gpusched.occupancy(LARGE),
    "import_profile": lambda file: gpusched.import_profile(file),
    "run_tasks": lambda _: gpusched.run_tasks(TASKS, "single-stream", horizon=5 * 10**10),
    "warps": lambda _: gpusched.warps("LLCLLCLCLL" * 2, 12, memory_limit_mib=1 << 20),
    "run_host": lambda _: gpusched.run_host(Ticker()),
}

OF_A_RUN = {
    "audit": lambda run: gpusched.audit(run),
    "to_json": lambda run: run.to_json(blocks=True, rules=True, blame=True),
    "to_csv": lambda run: run.to_csv(blocks=True),
    "to_html": lambda run: run.to_html(),
    "to_perfetto": lambda run: run.to_perfetto(),
    "to_svg": lambda run: run.to_svg(),
    "to_svg, with all there is": lambda run: run.to_svg(occupancy=True, queues=True),
    "state": lambda run: run.state("40 ms"),
}


def cpu_after_ctrl_c(call, after):
    """Processor time from Ctrl-C on, which comes so much later than the call; None if the call was faster."""
    spent = []

    def interrupt():
        spent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    is_over = False

    def on_ctrl_c(number, frame):
        if not is_over:
            raise KeyboardInterrupt

    timer, threads_before = threading.Timer(after, interrupt), threads()
    usual = signal.signal(signal.SIGINT, on_ctrl_c)
    try:
        timer.start()
        call()
    except KeyboardInterrupt:
        # Whatever went on would show.
        time.sleep(0.3)
        assert threads() <= threads_before
        return time.process_time() - spent[0]
    finally:
        is_over = True
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, usual)
    return None


def threads():
    """Of this process, also those that Python does not know."""
    return len(os.listdir("/proc/self/task"))


# A tenth of a second on each of two cores, three times over: without optimisation, and on a machine that does other things.
AT_MOST = 0.6


@pytest.fixture(scope="module")
def big_profile(tmp_path_factory):
    """A recorded application of half a million kernels."""
    event = (
        '{{"ph": "X", "cat": "kernel", "name": "K", "pid": 0, "tid": 7, "ts": {}, "dur": 1, '
        '"args": {{"stream": 7, "correlation": {}, "grid": [4, 1, 1], "block": [64, 1, 1], '
        '"registers per thread": 32, "shared memory": 0}}}}'
    )
    path = tmp_path_factory.mktemp("profile") / "big.json"
    path.write_text('{"traceEvents": [' + ",".join(event.format(2 * i, i) for i in range(500_000)) + "]}")
    return str(path)


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_ends_work_wherever_it_is(name, big_profile):
    spent = cpu_after_ctrl_c(lambda: LONG[name](big_profile), 0.4)
    assert spent is not None, "it is done already"
    assert spent < AT_MOST


@pytest.fixture(scope="module")
def big_run():
    return gpusched.simulate(host(LAUNCH, {"synchronize": "last"}, iterations=100_000))


@pytest.mark.parametrize("name", OF_A_RUN)
def test_ctrl_c_ends_what_is_made_of_a_run(name, big_run):
    # Some of it takes less than that with optimisation.
    spent = cpu_after_ctrl_c(lambda: OF_A_RUN[name](big_run), 0.05)
    assert spent is None or spent < AT_MOST


def test_ctrl_c_ends_a_study_and_its_rows_stay(tmp_path):
    study = gpusched.Study("studies/merged-sm-10-million.json")
    spent = cpu_after_ctrl_c(lambda: study.run(tmp_path), 1.5)
    assert spent is not None and spent < AT_MOST
    [rows] = tmp_path.glob("*.csv")
    assert rows.read_bytes().endswith(b"\n")


def test_ctrl_c_ends_what_is_made_of_a_study(tmp_path):
    small = {
        "format": "gpusched-study/1",
        "name": "rows",
        "command": "merged-sm",
        "seed": 7,
        "samples": 4_000,
        "samples_per_row": 1,
        "grid": {"family": ["unequal"]},
    }
    study = gpusched.Study(small)
    shards = [study.run(tmp_path, shard=f"{index}/2") for index in range(2)]
    assert shards == [True, True]
    files = sorted(str(path) for path in tmp_path.glob("*.csv"))
    assert study.merge(tmp_path, files) == study.rows
    for call in [lambda: study.merge(tmp_path, files), lambda: study.summary(tmp_path)]:
        # They take less than that with optimisation.
        spent = cpu_after_ctrl_c(call, 0.01)
        assert spent is None or spent < AT_MOST


def test_a_thread_goes_on_when_another_is_interrupted():
    done = []
    other = threading.Thread(target=lambda: done.append(gpusched.orders(SMALL, samples=20).orders_tried))
    other.start()
    assert is_interrupted(lambda: gpusched.simulate(WAITS))
    other.join()
    assert done == [20]


def is_interrupted(call):
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        call()
    except KeyboardInterrupt:
        return True
    return False


def python(text, **options):
    """What another interpreter prints."""
    tests = str(ROOT / "python" / "tests")
    text = f"import sys; sys.path.insert(0, {tests!r})\nimport gpusched\nfrom test_limits import *\n{text}"
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, **options)


TRY = """
try:
    {call}
except MemoryError as error:
    print("MemoryError:", error)
# It goes on.
print(gpusched.simulate(host(LAUNCH)).makespan_ns)
"""


def test_what_is_known_to_take_too_much_memory_is_refused_beforehand():
    for call in ["gpusched.simulate(LAUNCHES)", "gpusched.simulate(EVERY_NANOSECOND)", "gpusched.orders(LAUNCHES)"]:
        limit = "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, resource.RLIM_INFINITY))\n"
        ended = python(limit + TRY.format(call=call), timeout=60)
        assert ended.returncode == 0, ended.stderr
        first, last = ended.stdout.splitlines()
        assert first.startswith("MemoryError: a run of ") and "set_memory_limit" in first
        assert last == "1000"


def test_what_turns_out_to_take_too_much_memory_is_ended():
    # Nobody knows beforehand for how long it waits.
    call = "gpusched.set_memory_limit(8 << 20); gpusched.simulate(WAITS)"
    ended = python(TRY.format(call=call), timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == [
        "MemoryError: it took more than 8 MiB; gpusched.set_memory_limit(bytes) allows it more",
        "1000",
    ]
    ended = python(TRY.format(call="gpusched.set_memory_limit(8 << 20); gpusched.run_host(Ticker())"), timeout=120)
    assert ended.stdout.startswith("MemoryError: it took more than 8 MiB"), ended.stderr


def test_the_limit_of_memory_is_a_number_of_bytes_or_none():
    gpusched.set_memory_limit(1 << 100)
    gpusched.set_memory_limit(None)
    for wrong in [0, -1, -(1 << 100)]:
        with pytest.raises(ValueError, match="a whole number of bytes from 1, or None"):
            gpusched.set_memory_limit(wrong)
    with pytest.raises(TypeError):
        gpusched.set_memory_limit("8G")
