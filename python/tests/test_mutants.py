"""Files with something changed: what the package says of each is what the readers say of it, as `mutants` of the Rust tests
wrote it."""

import json
import os
from pathlib import Path

import pytest
from conftest import ROOT

import gpusched

NATIVE = str(ROOT / "tests/data/small/native.json")

ASKED = {
    "scenario": gpusched.simulate,
    "foreign": gpusched.simulate,
    "log": gpusched.audit,
    "device": lambda file: gpusched.simulate(NATIVE, device=file),
    "applications": gpusched.evr,
    "tasks": gpusched.tasks,
    "warps": gpusched.warps,
    "study": gpusched.Study,
}


def test_mutants_are_answered_or_refused_with_the_words_of_the_readers(monkeypatch):
    folder = os.environ.get("GPUSCHED_MUTANT_FOLDER")
    if folder is None:
        pytest.skip("GPUSCHED_MUTANT_FOLDER does not name the mutants of the Rust tests")
    monkeypatch.chdir(folder)
    cases = [json.loads(line) for line in Path("index.jsonl").read_text().splitlines()]
    assert len(cases) == 1_000
    wrong = []
    for case in cases:
        file, message = case["file"], case["refused"]
        try:
            answer = ASKED[case["reader"]](file)
        except (gpusched.InputError, gpusched.SimulationError) as refused:
            if str(refused) != message:
                wrong.append((file, message, str(refused)))
        except Exception as other:  # noqa: BLE001
            wrong.append((file, message, repr(other)))
        else:
            # A study is only read here.
            if message is not None or hasattr(answer, "to_json") and answer.to_json() != Path(f"{file}.answer").read_text():
                wrong.append((file, message, "answered"))
    assert wrong == []
