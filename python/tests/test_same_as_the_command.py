"""What the package says is what the command says, byte for byte."""

import json
import os
from pathlib import Path

import pytest
from conftest import FIGURE_3, SCENARIOS

import gpusched

ANALYSED = [name for name in SCENARIOS if "profiles" not in name]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_runs_have_the_bytes_of_the_command(scenario, command):
    said = command("simulate", scenario, "--format", "json")
    assert said.returncode == 0, said.stderr
    run = gpusched.simulate(scenario)
    assert run.to_json() == said.stdout
    assert [f"note: {note}" for note in run.notes] == said.stderr.splitlines()


def test_rows_and_pages_have_the_bytes_of_the_command(command, tmp_path):
    run = gpusched.simulate(FIGURE_3)
    assert run.to_csv() == command("simulate", FIGURE_3, "--format", "csv").stdout
    assert run.to_csv(blocks=True) == command("simulate", FIGURE_3, "--format", "csv", "--blocks").stdout
    assert str(run) == command("simulate", FIGURE_3).stdout
    files = [tmp_path / name for name in ("f.svg", "f.html", "f.json")]
    written = command("simulate", FIGURE_3, "--figure", files[0], "--html", files[1], "--perfetto", files[2])
    assert written.returncode == 0, written.stderr
    made = [run.to_svg(), run.to_html(), run.to_perfetto()]
    assert [file.read_text() for file in files] == made


@pytest.mark.parametrize("scenario", ANALYSED)
def test_analyses_and_comparisons_have_the_bytes_of_the_command(scenario, command):
    for name, compute in (("analyze", gpusched.analyze), ("compare", gpusched.compare)):
        said = command(name, scenario, "--format", "json")
        if said.returncode == 2:
            with pytest.raises((gpusched.InputError, gpusched.SimulationError)) as refused:
                compute(scenario)
            assert said.stderr.endswith(f"error: {refused.value}\n")
        else:
            assert compute(scenario).to_json() == said.stdout


def test_other_commands_have_the_same_bytes(command):
    said = command("occupancy", FIGURE_3, "--format", "json").stdout
    assert gpusched.occupancy(FIGURE_3).to_json() == said
    tasks = "witnesses/ecrts2024/case-study.json"
    assert gpusched.tasks(tasks).to_json() == command("tasks", tasks, "--format", "json").stdout
    tasks = "witnesses/rtns2020/table-1.json"
    assert gpusched.tasks(tasks).to_json() == command("tasks", tasks, "--format", "json").stdout
    said = command("warps", "LLCLL", "--warps", 4, "--sigma-l", "1/8", "--format", "json").stdout
    assert gpusched.warps("LLCLL", 4, units={"L": {"sigma": "1/8"}}).to_json() == said
    logs = "tests/data/logs/two-streams"
    said = command("audit", logs, "--format", "json")
    audit = gpusched.audit(logs)
    assert audit.to_json() == said.stdout
    assert [f"note: {note}" for note in audit.notes] == said.stderr.splitlines()


def test_options_do_what_those_of_the_command_do(command):
    scenario = "scenarios/deadlines/camera-and-lidar.json"
    said = command(
        "simulate", scenario, "--format", "json", "--deadline", "camera=13ms", "--vary", "80..100", "--seed", 7,
        "--set-priority", "camera=-1", "--placement", "round-robin", "--horizon", "1s", "--device", "a100-40gb",
    )
    assert said.returncode == 0, said.stderr
    run = gpusched.simulate(
        scenario, deadlines={"camera": "13ms"}, vary=(80, 100), seed=7, set_priority={"camera": -1},
        placement="round-robin", horizon=1_000_000_000, device="a100-40gb",
    )
    assert run.to_json() == said.stdout


def test_every_bad_input_of_the_readers_is_refused_with_the_same_words(command, tmp_path):
    kept = os.environ.get("GPUSCHED_BAD_INPUTS")
    if kept is None:
        pytest.skip("GPUSCHED_BAD_INPUTS does not name the cases of the Rust tests")
    cases = [json.loads(line) for line in Path(kept).read_text().splitlines()]
    assert len(cases) > 200
    for case in cases:
        if case["text"].lstrip().startswith("["):
            # The command takes a list for a profile of PyTorch's, which the reader of scenarios does not know.
            file = tmp_path / "in.json"
            file.write_text(case["text"])
            with pytest.raises(gpusched.InputError) as refused:
                gpusched.simulate(file)
            assert command("simulate", file).stderr == f"error: {refused.value}\n"
            continue
        with pytest.raises(gpusched.InputError) as refused:
            gpusched.Scenario.from_text(case["text"], "in.json")
        error = refused.value
        assert str(error) == case["message"]
        assert (error.file, error.line, error.column) == ("in.json", case["line"], case["column"])
        assert (error.path, error.what, error.help) == (case["path"], case["what"], case["help"])


@pytest.mark.parametrize("name", ["profiles/synthetic.json", "profiles/synthetic.csv", "amalthea/thesis-appendix.amxmi"])
def test_damaged_files_are_refused_with_the_words_of_the_command(name, command, tmp_path):
    whole = Path("scenarios", name).read_bytes()
    refusals = 0
    for part in range(1, 8):
        file = tmp_path / f"cut-{part}-{Path(name).name}"
        file.write_bytes(whole[: len(whole) * part // 8])
        said = command("simulate", file)
        if said.returncode == 2:
            refusals += 1
            with pytest.raises(gpusched.InputError) as refused:
                gpusched.simulate(file)
            assert said.stderr == f"error: {refused.value}\n"
    assert refusals > 0


def test_files_that_cannot_be_opened_are_errors_of_the_system(command):
    with pytest.raises(FileNotFoundError) as refused:
        gpusched.simulate("nowhere.json")
    assert "cannot open nowhere.json" in str(refused.value)
    with pytest.raises(IsADirectoryError):
        gpusched.simulate("scenarios")
