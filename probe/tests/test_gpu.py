"""The whole host part of the probe against a stand-in for the driver (stub_cuda.c), which needs gcc and no GPU."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

from gpusched_probe import driver, gpu, masks, plan  # noqa: E402
from gpusched_probe.errors import ProbeError  # noqa: E402

GONE = "memory=0 pinned=0 streams=0 events=0 modules=0 graphs=0 runnable=0 green=0 contexts=0"


def setUpModule():
    """Build the stand-in once for all tests."""
    global FOLDER, STUB
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise unittest.SkipTest("no C compiler was found, which builds the stand-in for the driver")
    FOLDER = tempfile.TemporaryDirectory()
    STUB = os.path.join(FOLDER.name, "libstub.so")
    source = os.path.join(HERE, "stub_cuda.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", STUB, source, "-lpthread"], check=True)


def tearDownModule():
    FOLDER.cleanup()


@contextlib.contextmanager
def environment(**values):
    """These variables of the environment, until the end of the block."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def scenario(steps, hosts=None, **more):
    """A scenario of one host with these steps, or of several hosts, with some kernels and streams to use."""
    given = {
        "format": "gpusched-scenario/1",
        "name": "test",
        "kernels": {
            "a": {"blocks": 3, "threads": 128, "duration": "10 us"},
            "b": {
                "blocks": [2, 2], "threads": [16, 16], "duration": "20 us", "block_times": ["5 us"],
                "registers_per_thread": 64,
            },
            "c": {"blocks": 4, "threads": 32, "duration": "1 us", "shared_memory_bytes": 4096},
        },
        "streams": [{"name": "s", "priority": -2}, {"name": "t", "blocking": False}, {"name": "u"}],
        "hosts": hosts or [{"name": "h", "steps": steps}],
    }
    given.update(more)
    return given


class OnTheStub(unittest.TestCase):
    capability = "80"

    def setUp(self):
        self.report = os.path.join(FOLDER.name, self.id())
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        stack.enter_context(environment(
            GPUSCHED_PROBE_DRIVER=STUB, GPUSCHED_PROBE_NVRTC=STUB, GPUSCHED_STUB_REPORT=self.report,
            GPUSCHED_STUB_CAPABILITY=self.capability, CUDA_MPS_PIPE_DIRECTORY=FOLDER.name,
        ))
        self.gpu = gpu.open_card()

    def run_all(self, given, repetitions=1):
        """The rows of a run, after which nothing of it is left on the GPU."""
        rows = self.gpu.run(given, repetitions)
        with open(self.report) as file:
            self.assertEqual(set(file.read().split("\n")), {GONE, ""})
        for row in rows:
            self.assertEqual(tuple(row), gpu.COLUMNS)
            self.assertGreaterEqual(row["start_ns"], 0)
            self.assertGreaterEqual(row["end_ns"], row["start_ns"])
        return rows

    def launches(self, rows):
        """(run, launch, kernel, stream, process, blocks) of each launch."""
        seen = {}
        for row in rows:
            key = tuple(row[column] for column in ("run", "launch", "kernel", "stream", "process"))
            seen.setdefault(key, []).append(row["block"])
        for blocks in seen.values():
            self.assertEqual(blocks, list(range(len(blocks))))
        return [key + (len(blocks),) for key, blocks in seen.items()]


class Running(OnTheStub):
    def test_describes_the_card(self):
        card = self.gpu.card()
        self.assertEqual((card["name"], card["compute_capability"], card["sms"]), ("Stub of an A100", "8.0", 108))
        self.assertEqual(card["per_sm"], {"threads": 2048, "blocks": 32, "registers": 65536, "shared_memory_bytes": 167936})
        self.assertEqual(card["per_block"], {"threads": 1024, "registers": 65536, "shared_memory_bytes": 166912})
        self.assertEqual((card["copy_engines"], card["priority_levels"], card["driver"]), (3, 6, "12.4"))
        self.assertEqual((card["clock_mhz"], card["memory_bytes"], card["mps"]), (1410, 40 << 30, False))
        self.assertEqual(card["timer_step_ns"], 32)
        self.assertGreater(card["launched_within_ns"], 32)

    def test_says_what_the_card_has(self):
        has = {feature: self.gpu.has(feature) for feature in ("cooperative", "graphs", "green_contexts", "wait_values")}
        self.assertEqual(set(has.values()), {None})
        self.assertIn("no clusters", self.gpu.has("clusters"))
        self.assertIn("older than 9.0", self.gpu.has("programmatic"))
        self.assertIn("no control daemon", self.gpu.has("mps"))
        self.assertIsNone(self.gpu.has("several_processes"))

    def test_says_how_many_registers_a_kernel_has(self):
        self.assertEqual([self.gpu.registers_of(wanted) for wanted in (0, 64, 200)], [30, 60, 196])

    def test_runs_a_scenario_as_often_as_asked(self):
        steps = [{"launch": "a", "stream": "s"}, {"launch": "b", "stream": "NULL"}, {"synchronize": "device"}]
        rows = self.run_all(scenario(steps), 2)
        self.assertEqual(
            self.launches(rows),
            [(0, 0, "a", "s", "", 3), (0, 1, "b", "NULL", "", 4), (1, 0, "a", "s", "", 3), (1, 1, "b", "NULL", "", 4)],
        )
        first, second = rows[0], rows[3]
        self.assertEqual((first["priority"], first["non_blocking"], first["threads"]), (-2, 1, 128))
        self.assertEqual((second["priority"], second["non_blocking"], second["threads"]), (0, 0, 256))
        self.assertEqual((first["registers_per_thread"], second["registers_per_thread"]), (30, 60))
        self.assertEqual([row["end_ns"] - row["start_ns"] for row in rows[3:7]], [5000, 20000, 20000, 20000])
        self.assertEqual([row["sm"] for row in rows[3:7]], [0, 1, 2, 3])
        self.assertEqual(min(min(row["start_ns"], row["launched_ns"]) for row in rows if row["run"] == 1), 0)

    def test_does_every_kind_of_step(self):
        steps = [
            {"copy": "host-to-device", "bytes": 4096, "stream": "s"},
            {"copy": "device-to-device", "bytes": 100000, "stream": "s"},
            {"copy": "device-to-host", "bytes": 4096, "stream": "t"},
            {"memset": 1000, "stream": "s"},
            {"memset": 200000, "synchronous": True},
            {"record": "e", "stream": "s"},
            {"wait": "e", "stream": "t"},
            {"synchronize_event": "e"},
            {"synchronize_event": "never"},
            {"wait_value": "n", "value": 1, "stream": "t"},
            {"write_value": "n", "value": 1, "stream": "s"},
            {"wait_value": "n", "value": 1},
            {"write_value": "m", "value": 2},
            {"wait_value": "m", "value": 2},
            {"malloc": "device"}, {"malloc": "host"}, {"free": "device"}, {"free": "host"},
            {"copy": "host-to-device", "bytes": 64, "stream": "NULL", "comment_call": "cudaMemcpy"},
            {"sleep": "0 s", "comment_call": "cudaHostRegister"},
            {"sleep": "0 s", "comment_call": "cudaFuncSetCacheConfig"},
            {"sleep": "1 ms"},
            {"repeat": 2, "steps": [{"launch": "c", "stream": "u"}, {"repeat": 2, "steps": [{"launch": "a", "stream": "s"}]}]},
            {"synchronize": "s"}, {"synchronize": "last"}, {"synchronize": "device"},
        ]
        rows = self.run_all(scenario(steps, hosts=[{"name": "h", "release": "1 ms", "iterations": 2, "steps": steps}]))
        self.assertEqual([launch[2] for launch in self.launches(rows)], ["c", "a", "a", "c", "a", "a"] * 2)

    def test_numbers_launches_of_two_hosts_in_their_order(self):
        hosts = [
            {"name": "late", "release": "30 ms", "steps": [{"launch": "a", "stream": "s"}, {"write_value": "n", "value": 1}]},
            {"name": "early", "steps": [
                {"launch": "b", "stream": "t"}, {"wait_value": "n", "value": 1}, {"launch": "c", "stream": "t"},
            ]},
        ]
        rows = self.run_all(scenario(None, hosts), 2)
        self.assertEqual([launch[1:3] for launch in self.launches(rows)], [(0, "b"), (1, "a"), (2, "c")] * 2)

    def test_runs_each_process_in_one_of_its_own(self):
        steps = {name: [{"launch": "a", "stream": name}, {"launch": "c", "stream": "NULL"}] for name in "pq"}
        hosts = [{"name": name, "process": name, "steps": steps[name]} for name in "pq"]
        streams = [{"name": name, "process": name} for name in "pq"]
        rows = self.run_all(scenario(None, hosts, streams=streams, processes={"p": {}, "q": {}}), 2)
        expected = [("a", "p", "p", 3), ("c", "NULL", "p", 4), ("a", "q", "q", 3), ("c", "NULL", "q", 4)]
        self.assertEqual([launch[2:] for launch in self.launches(rows)], expected * 2)
        self.assertEqual([launch[1] for launch in self.launches(rows)], [0, 1, 2, 3] * 2)
        starts = [row["start_ns"] for row in rows if row["run"] == 0 and row["kernel"] == "a"]
        self.assertLess(max(starts) - min(starts), 500000000)

    def test_launches_graphs(self):
        nodes = {"x": {"kernel": "a"}, "y": {"kernel": "b", "after": ["x"]}, "z": {"kernel": "c", "after": ["x", "y"]}}
        steps = [{"repeat": 2, "steps": [{"graph": "g", "stream": "s"}]}, {"synchronize": "last"}]
        rows = self.run_all(scenario(steps, graphs={"g": {"nodes": nodes}}), 2)
        expected = [(0, "a"), (1, "b"), (2, "c"), (3, "a"), (4, "b"), (5, "c")]
        self.assertEqual([launch[1:3] for launch in self.launches(rows)], expected * 2)

    def test_makes_green_contexts(self):
        splits = [{"sms": 16, "names": ["x", "y"], "remaining": "rest"}, {"sms": 32, "of": "rest", "names": ["z"]}]
        streams = [{"name": name, "green_context": name} for name in ("x", "y", "rest", "z")]
        steps = [{"launch": "a", "stream": name} for name in ("x", "y", "rest", "z")]
        rows = self.run_all(scenario(steps, streams=streams, green_contexts=splits))
        self.assertEqual({row["non_blocking"] for row in rows}, {1})
        splits[0]["sms"] = 60
        with self.assertRaisesRegex(ProbeError, "2 green contexts of 60 SMs are wanted, and there are SMs for 1"):
            self.gpu.run(scenario(steps, streams=streams, green_contexts=splits), 1)

    def test_launches_cooperative_kernels(self):
        kernels = {"k": {"blocks": 216, "threads": 1024, "duration": "2 us", "cooperative": True, "grid_sync": [0.25, 0.5]}}
        steps = [{"launch": "k", "stream": "s"}]
        self.assertEqual(len(self.run_all(scenario(steps, kernels=kernels))), 216)
        kernels["k"]["blocks"] = 217
        with self.assertRaisesRegex(ProbeError, "a cooperative kernel has more blocks than the GPU holds at once"):
            self.gpu.run(scenario(steps, kernels=kernels), 1)

    def test_refuses_what_the_card_has_not(self):
        kernels = {"k": {"blocks": 4, "threads": 32, "duration": "2 us", "cluster": 2}}
        with self.assertRaisesRegex(ProbeError, "this scenario needs clusters: the GPU has no clusters"):
            self.gpu.run(scenario([{"launch": "k", "stream": "s"}], kernels=kernels), 1)
        with self.assertRaisesRegex(ProbeError, "this scenario needs programmatic: the GPU is older"):
            self.gpu.run(scenario([{"launch": "a", "stream": "s", "programmatic": True}]), 1)
        with self.assertRaisesRegex(ProbeError, "this scenario needs mps: no control daemon"):
            self.gpu.run(scenario([{"launch": "a", "stream": "s"}], mps=True), 1)
        with self.assertRaisesRegex(ProbeError, "stream s has priority -9: this GPU has 0 to -5"):
            self.gpu.run(scenario([{"launch": "a", "stream": "s"}], streams=[{"name": "s", "priority": -9}]), 1)

    def test_tells_every_failing_call(self):
        steps = [{"launch": "a", "stream": "s"}, {"copy": "host-to-device", "bytes": 10, "stream": "t"}]
        steps.append({"synchronize": "device"})
        self.gpu.registers_of(64)
        given, failed = scenario(steps), set()
        self.gpu.run(given, 1)
        for number in range(1, 76, 5):
            with environment(GPUSCHED_STUB_FAIL=str(number)):
                message = r"^cu\w+ failed with CUDA_ERROR_ILLEGAL_ADDRESS \(a made-up failure\)"
                with self.assertRaisesRegex(ProbeError, message) as told:
                    self.gpu.run(given, 1)
                failed.add(str(told.exception).split()[0])
        self.assertGreater(len(failed), 6)

    def test_ends_what_never_ends(self):
        steps = [{"launch": "a", "stream": "s"}, {"record": "e", "stream": "s"}, {"synchronize_event": "e"}]
        self.gpu.run(scenario(steps), 1)
        self.gpu.limit_s = 1
        with environment(GPUSCHED_STUB_STUCK="1"):
            with self.assertRaisesRegex(ProbeError, "not done within 1 s and was ended"):
                self.gpu.run(scenario(steps), 1)

    def test_a_child_answers_with_a_sentence_and_status_one(self):
        job = {"job": "card", "folder": FOLDER.name}
        with environment(GPUSCHED_STUB_DEVICES="0", PYTHONPATH=os.path.join(HERE, "..")):
            done = subprocess.run(
                [sys.executable, "-m", "gpusched_probe.child"], input=json.dumps(job).encode() + b"\n",
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
            )
        self.assertEqual((done.returncode, done.stderr), (1, b""))
        self.assertIn("no GPU is visible", json.loads(done.stdout.decode())["error"])

    def test_says_why_there_is_no_card(self):
        with environment(GPUSCHED_PROBE_DRIVER="/nowhere/libcuda.so"):
            with self.assertRaisesRegex(ProbeError, "/nowhere/libcuda.so cannot be loaded.*a GPU with its driver is needed"):
                gpu.open_card()
        with environment(GPUSCHED_STUB_DEVICES="0"):
            with self.assertRaisesRegex(ProbeError, "no GPU is visible"):
                gpu.open_card()
        with environment(GPUSCHED_STUB_CAPABILITY="70"):
            with self.assertRaisesRegex(ProbeError, "no longer knows GPUs of compute capability 7.0"):
                gpu.open_card()

    def test_notes_mps_and_exclusive_modes(self):
        with tempfile.TemporaryDirectory() as folder, environment(CUDA_MPS_PIPE_DIRECTORY=folder):
            open(os.path.join(folder, "control"), "w").close()
            shared = gpu.open_card()
            self.assertTrue(shared.card()["mps"])
            self.assertIn("MPS is running", shared.has("several_processes"))
            hosts = [{"name": name, "process": name, "steps": [{"launch": "a", "stream": "NULL"}]} for name in "pq"]
            given = scenario(None, hosts, streams=[], mps=True, processes={"p": {"mps_percentage": 50}, "q": {}})
            self.assertEqual(len(shared.run(given, 1)), 6)
        with environment(GPUSCHED_STUB_MODE="3"):
            self.assertIn("processes do not share it", gpu.open_card().has("several_processes"))


class RunningOnHopper(OnTheStub):
    capability = "90"

    def test_launches_clusters_and_programmatic_kernels(self):
        kernels = {
            "k": {"blocks": 8, "threads": 64, "duration": "2 us", "cluster": 4, "trigger": 0.5},
            "l": {"blocks": 8, "threads": 64, "duration": "2 us", "wait": 0.25},
        }
        steps = [{"launch": "k", "stream": "s"}, {"launch": "l", "stream": "s", "programmatic": True}]
        rows = self.run_all(scenario(steps, kernels=kernels))
        self.assertEqual([launch[2] for launch in self.launches(rows)], ["k", "l"])
        self.assertIsNone(self.gpu.has("clusters"))
        self.assertIsNone(self.gpu.has("programmatic"))


class Planning(unittest.TestCase):
    def test_reads_times(self):
        self.assertEqual([plan.nanoseconds(text) for text in ("0 s", "2.5 ms", "3us", "7 ns")], [0, 2500000, 3000, 7])
        for text in ("5", "five ms", None, 3):
            with self.assertRaisesRegex(ProbeError, "is no time"):
                plan.nanoseconds(text)

    def test_puts_points_in_order_and_waits_only_where_launched_so(self):
        given = {"blocks": 1, "threads": 1, "duration": "1 us", "trigger": 0.5, "grid_sync": [0.75, 0.25], "wait": 0.1}
        kernel = plan.Kernel("k", given)
        self.assertEqual(kernel.points(False), [(3, 250000), (1, 500000), (3, 750000)])
        self.assertEqual(kernel.points(True)[0], (2, 100000))
        del given["wait"]
        self.assertEqual(plan.Kernel("k", given).points(True)[-1], (2, 1000000))

    def test_says_what_it_does_not_run(self):
        launch = [{"launch": "a", "stream": "s"}]
        for given, message in (
            (scenario(launch, chains=[]), "the scenario has 'chains', which the probe does not run"),
            (scenario(launch, streams=[{"name": "s", "period": "1 ms"}]), "stream s has 'period'"),
            (scenario([{"work": "1 ms"}]), "a step of host h has 'work'"),
            (scenario([{"launch": "x", "stream": "s"}]), "host h names kernel 'x', which is none of a, b, c"),
            (scenario([{"launch": "a", "stream": "x"}]), "host h names stream 'x'"),
            (scenario([{"launch": "a"}]), "a launch of host h names no stream"),
            (scenario([{"copy": "host-to-device", "duration": "1 ms", "stream": "s"}]), "has 'duration'"),
            (scenario([{"free": "disk"}]), "host h names memory 'disk'"),
            (scenario([{"sleep": "0 s", "comment_call": "cudaFoo"}]), "host h names call 'cudaFoo'"),
            (scenario(launch, kernels={"a": {"blocks": 3, "threads": 1, "cluster": 2}}), "no multiple of its cluster"),
            (scenario(launch, hosts=[{"name": "h", "process": "p", "steps": launch}]), "no host of the scenario submits"),
        ):
            with self.subTest(message=message), self.assertRaisesRegex(ProbeError, message):
                plan.Plan(given)

    def test_leaves_the_split_of_memory_to_the_driver_where_told(self):
        launch = [{"launch": "a", "stream": "s"}]
        self.assertTrue(plan.Plan(scenario(launch)).one_split)
        self.assertFalse(plan.Plan(scenario(launch, comment_carve_out="driver")).one_split)

    def test_reads_masks(self):
        self.assertEqual((masks.value_of("0xf0"), masks.value_of("~0x1") & 0xFF), (0xF0, 0xFE))

    def test_lays_structures_out_as_cuda_h_does(self):
        kinds = (driver.LaunchAttribute, driver.LaunchConfig, driver.KernelNodeParameters, driver.DeviceResource)
        self.assertEqual([driver.ctypes.sizeof(kind) for kind in kinds], [72, 56, 72, 144])
        offsets = (driver.LaunchAttribute.value, driver.LaunchConfig.attributes, driver.DeviceResource.sms)
        self.assertEqual([field.offset for field in offsets], [8, 40, 96])


if __name__ == "__main__":
    unittest.main()
