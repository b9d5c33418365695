"""Each question tells its answers apart, as gpusched simulates them, on small and large GPUs of several kinds.

GPUSCHED is the path of the command.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import naive

PROBE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROBE))

from gpusched_probe.experiments import Target, experiments_of  # noqa: E402
from gpusched_probe.folder import scenario_files  # noqa: E402
from gpusched_probe.plan import Plan, processes_of  # noqa: E402
from gpusched_probe.simulate import Simulated  # noqa: E402

GPUSCHED = os.environ.get("GPUSCHED")
DEVICES = ("titan-v", "v100", "a100-80gb", "rtx3090", "orin", "h100", "b200", "gb10")
KINDS = {"order", "resident", "placement", "block_time", "block_gap", "kernel_gap", "launch_latency", "turns"}
# Questions that these devices cannot answer, by what they need or why their answers are the same.
BEFORE_9 = {"programmatic-trigger", "programmatic-no-trigger", *("cluster-%d" % size for size in (1, 2, 4, 8, 16))}
SKIPPED = {
    **{device: BEFORE_9 for device in ("titan-v", "v100", "a100-80gb", "rtx3090", "orin")},
    **{device: {"cluster-2"} for device in ("h100", "b200", "gb10")},
}


def experiments_on(device):
    card = Simulated(device, GPUSCHED)
    return card, experiments_of(card.card(), card.registers_of)


def by_name(experiments):
    """The experiment and the question, by the question's name."""
    return {question.name: (experiment, question) for experiment in experiments for question in experiment.questions}


def is_skipped(card, experiment):
    return experiment.impossible or any(card.has(feature) for feature in experiment.needs)


@unittest.skipUnless(GPUSCHED, "GPUSCHED does not name the command gpusched")
class Answers(unittest.TestCase):
    def test_each_answer_shows_and_no_two_look_alike(self):
        for device in DEVICES:
            card, experiments = experiments_on(device)
            for experiment in experiments:
                if is_skipped(card, experiment):
                    continue
                for question in experiment.questions:
                    with self.subTest(device=device, question=question.name):
                        seen = []
                        for answer in question.answers:
                            scenario = answer.scenario or experiment.scenario
                            rows = card.run(scenario, answer.device)
                            seen.append(repr(naive.feature(question, rows, experiment.scenario)))
                        self.assertEqual(len(set(seen)), len(seen), seen)

    def test_runs_are_short_and_their_tables_small(self):
        for device in DEVICES:
            card, experiments = experiments_on(device)
            rows_of_all = 0
            for experiment in experiments:
                if is_skipped(card, experiment):
                    continue
                with self.subTest(device=device, experiment=experiment.stem):
                    rows = card.run(experiment.scenario, experiment.questions[0].answers[0].device)
                    rows_of_all += len(rows) * experiment.repetitions
                    took = max(naive.end(row) for row in rows) - min(naive.start(row) for row in rows)
                    self.assertGreaterEqual(took, 5e5)
                    self.assertLessEqual(took, 70e6)
                    self.assertTrue(3 <= experiment.repetitions <= 50)
            # Rows have some 100 bytes, and tables together 50 MB at most.
            self.assertLess(rows_of_all, 300000)

    def test_what_is_skipped_has_a_reason(self):
        for device in DEVICES:
            card, experiments = experiments_on(device)
            skipped = {
                question.name
                for experiment in experiments
                if is_skipped(card, experiment)
                for question in experiment.questions
            }
            self.assertEqual(skipped, SKIPPED[device], device)

    def test_questions_are_well_formed(self):
        for device in DEVICES:
            _, experiments = experiments_on(device)
            stems = [experiment.stem for experiment in experiments]
            questions = [question for experiment in experiments for question in experiment.questions]
            self.assertEqual(len(set(stems)), len(stems))
            self.assertEqual(len({question.name for question in questions}), len(questions))
            for question in questions:
                self.assertTrue(question.question.endswith("?"), question.name)
                self.assertIn(question.looks_at, KINDS)
                self.assertEqual(question.pairs is not None, question.looks_at == "order", question.name)
                self.assertTrue(question.answers, question.name)
            for experiment in experiments:
                for scenario in scenario_files(experiment)[0].values():
                    if scenario is not None:
                        self.assertNotIn("device", scenario)

    def test_connections_and_gpcs_are_those_of_device_files(self):
        listed = subprocess.run([GPUSCHED, "devices", "--format", "json"], stdout=subprocess.PIPE, check=True).stdout
        for device in json.loads(listed):
            card = Simulated(device["name"], GPUSCHED)
            target = Target(card.card(), card.registers_of)
            if target.capability < (7, 0):
                continue
            self.assertEqual(target.connections, device["channels"], device["name"])
            self.assertEqual(target.has_known_gpcs, "gpcs" in device, device["name"])
            self.assertEqual(target.placed_by_gpcs, device.get("placement") == "gpc", device["name"])

    def test_answers_about_registers_differ_whatever_numbers_compilers_arrive_at(self):
        card = Simulated("a100-80gb", GPUSCHED)
        compilers = (lambda wanted: wanted + 2, lambda wanted: max(30, wanted - 1), lambda wanted: wanted // 8 * 8 + 4)
        for registers_of in compilers:
            questions = by_name(experiments_of(card.card(), registers_of))
            for name in ("registers", "registers-unlike", "threads"):
                experiment, question = questions[name]
                self.assertIsNone(experiment.impossible)
                seen = {
                    repr(naive.feature(question, card.run(experiment.scenario, answer.device), experiment.scenario))
                    for answer in question.answers
                }
                self.assertEqual(len(seen), len(question.answers), name)

    def test_the_page_on_hardware_names_experiments_that_there_are(self):
        page = (PROBE.parent / "docs" / "hardware.md").read_text(encoding="utf-8")
        named = set()
        for cell in re.findall(r"; probe: ([^|]*)\|", page):
            named.update(re.findall(r"`([a-z0-9-]+)`", cell))
        self.assertGreater(len(named), 15)
        self.assertEqual(named - set(by_name(experiments_on("h100")[1])), set())

    def test_the_probe_runs_each_scenario(self):
        for device in DEVICES:
            for experiment in experiments_on(device)[1]:
                if experiment.scenario:
                    for process in processes_of(experiment.scenario):
                        self.assertTrue(Plan(experiment.scenario, process).launches, experiment.stem)

    def test_gaps_and_turns_are_measured_as_the_device_has_them(self):
        card, experiments = experiments_on("h100")
        questions = by_name(experiments)
        patch = {"block_gap_ns": 700, "kernel_gap_ns": 2500, "launch_latency_ns": 4000}
        for name, expected in (
            ("block-gap-20us", 700),
            ("block-gap-200us", 700),
            ("block-gap-2ms", 700),
            ("kernel-gap", 2500),
            ("graph-gap", 2500),
            ("launch-latency", 4000),
        ):
            experiment, question = questions[name]
            rows = card.run(experiment.scenario, patch)
            self.assertEqual(naive.feature(question, rows, experiment.scenario), expected, name)
        experiment, question = questions["turns"]
        rows = card.run(experiment.scenario, {"time_slice_ns": 1500000, "switch_cost_ns": 100000})
        turn, switch = naive.feature(question, rows, experiment.scenario)
        # The last piece of a turn, of 40 us, may have begun anywhere before its end.
        self.assertAlmostEqual(turn, 1500000, delta=45000)
        self.assertAlmostEqual(switch, 100000, delta=45000)


@unittest.skipUnless(GPUSCHED, "GPUSCHED does not name the command gpusched")
class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpusched-probe-test-")
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name) / "results"

    def probe(self, *arguments, status=0):
        words = [sys.executable, "-m", "gpusched_probe", "--simulate", "h100", "--gpusched", GPUSCHED]
        words += ["--out", str(self.out), *arguments]
        done = subprocess.run(words, cwd=PROBE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        said = done.stdout.decode() + done.stderr.decode()
        self.assertEqual(done.returncode, status, said)
        return said

    def content(self):
        return json.loads((self.out / "probe.json").read_text())

    def test_a_folder_has_what_the_audit_reads(self):
        self.probe()
        content = self.content()
        self.assertEqual(content["format"], "gpusched-probe/1")
        self.assertEqual(content["simulated"], "h100")
        self.assertEqual(content["card"]["sms"], 132)
        for question in content["questions"]:
            if "skipped" in question:
                continue
            stem = question["experiment"]
            head = (self.out / (stem + ".csv")).read_text().splitlines()[0]
            self.assertTrue(head.startswith("run,kernel,launch,stream,"), stem)
            for answer in question["answers"]:
                scenario = json.loads((self.out / answer.get("scenario", stem + ".json")).read_text())
                self.assertEqual(scenario["format"], "gpusched-scenario/1")
                self.assertEqual(set(answer) - {"scenario"}, {"answer", "switch", "device"})

    def test_every_scenario_file_is_accepted(self):
        self.probe("--dry-run")
        self.assertFalse(list(self.out.glob("*.csv")))
        self.assertTrue(all(question["skipped"] for question in self.content()["questions"]))
        files = sorted(str(path) for path in self.out.glob("*.json") if path.name != "probe.json")
        self.assertGreater(len(files), 100)
        words = [GPUSCHED, "simulate", *files, "--device", "h100"]
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_a_device_behaves_as_it_is_told(self):
        self.probe("--only", "head-of-queue", "--as", "head-of-queue=1")
        (question,) = self.content()["questions"]
        rows = (self.out / "head-of-queue.csv").read_text().splitlines()[1:]
        start = {}
        for row in rows:
            cells = row.split(",")
            start[cells[1]] = min(start.get(cells[1], 10**9), int(cells[9]))
        self.assertLess(start["little"], start["large"])
        self.assertEqual(question["answers"][1]["answer"], "no, it is passed over")

    def test_questions_and_experiments_can_be_chosen(self):
        self.probe("--only", "null-holds", "--only", "carve-out")
        names = [question["name"] for question in self.content()["questions"]]
        self.assertEqual(sorted(names), ["carve-out", "null-holds"])

    def test_the_list_has_all_questions_and_writes_nothing(self):
        said = self.probe("--list")
        self.assertIn("head-of-queue", said)
        self.assertIn("--register-dealing worst", said)
        self.assertIn("not asked: TPCs have two SMs", said)
        self.assertFalse(self.out.exists())

    def test_no_experiment_begins_when_the_time_is_over(self):
        self.assertIn("minutes were over", self.probe("--minutes", "0.0000001", status=1))

    def test_bad_use_has_exit_status_2_and_a_message(self):
        for arguments, message in (
            (["--only", "nothing"], "no question or experiment is called so"),
            (["--as", "nothing=1"], "no question that is asked is called nothing"),
            (["--as", "carve-out=7"], "the number of an answer is 0 to 1"),
            (["--as", "carve-out"], "the number of an answer is 0 to 1"),
            (["--minutes", "0"], "above 0"),
            (["--simulate", "no-gpu"], "no built-in device"),
            (["--gpusched", "/no/such/command"], "say by --gpusched"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.probe(*arguments, status=2))
        self.out.mkdir()
        (self.out / "file").write_text("")
        self.assertIn("not an empty folder", self.probe(status=2))


class WithoutCommand(unittest.TestCase):
    def test_an_answer_needs_a_simulation(self):
        words = [sys.executable, "-m", "gpusched_probe", "--as", "carve-out=1"]
        done = subprocess.run(words, cwd=PROBE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--as needs --simulate", done.stderr)


if __name__ == "__main__":
    unittest.main()
