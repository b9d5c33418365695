"""`gpusched audit --probe` tells which answer a GPU gave: each answer is simulated, and has to be told.

GPUSCHED is the path of the command. `naive.py` looks at the same blocks by other code.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROBE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROBE))

from gpusched_probe.__main__ import main  # noqa: E402
from test_experiments import DEVICES, experiments_on, is_skipped  # noqa: E402

GPUSCHED = os.environ.get("GPUSCHED")
# A number is measured, and no answer chosen.
NUMBERS = {"block_gap", "kernel_gap", "launch_latency", "turns"}


@unittest.skipUnless(GPUSCHED, "GPUSCHED does not name the command gpusched")
class Audit(unittest.TestCase):
    def audited(self, device, chosen):
        """Status and rows of the audit of a device that behaves as the answers `chosen`, by question."""
        with tempfile.TemporaryDirectory(prefix="gpusched-probe-audit-") as folder:
            out = Path(folder) / "results"
            words = ["--simulate", device, "--gpusched", GPUSCHED, "--out", str(out)]
            for question, number in chosen.items():
                words += ["--as", "%s=%d" % (question, number)]
            with open(os.devnull, "w") as nowhere:
                told, sys.stdout = sys.stdout, nowhere
                try:
                    self.assertEqual(main(words), 0)
                finally:
                    sys.stdout = told
            words = [GPUSCHED, "audit", "--probe", str(out), "--device", device, "--format", "json"]
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            self.assertIn(done.returncode, (0, 1), done.stderr.decode())
            return done.returncode, {row["question"]: row for row in json.loads(done.stdout)["questions"]}

    def test_what_gpusched_takes_agrees_on_each_device(self):
        for device in DEVICES:
            status, rows = self.audited(device, {})
            wrong = {name: row["answer"] for name, row in rows.items() if row["verdict"] not in ("agrees", "not asked")}
            self.assertEqual((status, wrong), (0, {}), device)

    def test_each_answer_is_told(self):
        for device in DEVICES:
            card, experiments = experiments_on(device)
            asked = [experiment for experiment in experiments if not is_skipped(card, experiment)]
            most_questions = max(len(experiment.questions) for experiment in asked)
            most_answers = max(len(question.answers) for each in asked for question in each.questions)
            for place, number in itertools.product(range(most_questions), range(1, most_answers)):
                of_place = [each.questions[place] for each in asked if len(each.questions) > place]
                chosen = {each.name: each for each in of_place if len(each.answers) > number}
                if not chosen:
                    continue
                status, rows = self.audited(device, {name: number for name in chosen})
                self.assertEqual(status, 1, device)
                for name, question in chosen.items():
                    if question.looks_at in NUMBERS:
                        continue
                    with self.subTest(device=device, question=name, answer=number):
                        self.assertEqual(rows[name]["answer"], question.answers[number].answer)
                        self.assertEqual(rows[name]["verdict"], "contradicts")


if __name__ == "__main__":
    unittest.main()
