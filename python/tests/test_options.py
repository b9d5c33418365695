"""Options of scenarios: each says the same as the command's flag."""

import json
import shutil

import pytest
from conftest import ROOT

import gpusched


def examples(command):
    """By key, an example as the published schema of studies has it; a study's seed is its own."""
    schema = json.loads(command("schema", "study").stdout)
    properties = schema["$defs"]["simulate-parameters"]["properties"]
    keys = [key for key, _ in gpusched._gpusched.OPTIONS]
    return {key: properties[key]["examples"][0] if key in properties else 7 for key in keys}


def flag(key, example):
    """The example as words of the command."""
    name = "--" + key.replace("_", "-")
    if example is True:
        return [name]
    if isinstance(example, dict):
        return [f"{name}={of}={value}" for of, value in example.items()]
    return [f"{name}={','.join(example) if isinstance(example, list) else example}"]


def test_every_option_says_what_the_flag_of_the_command_says(tmp_path, monkeypatch, command):
    for file, name in [
        ("tests/data/options/scenario.json", "scenario.json"),
        ("tests/data/options/unstated.json", "unstated.json"),
        ("scenarios/amalthea/tx2-like-waters2019.amxmi", "model.amxmi"),
        ("scenarios/amalthea/shared-core.amxmi", "cores.amxmi"),
        ("scenarios/rules/clusters.json", "clusters.json"),
        ("scenarios/profiles/synthetic.json", "profile.json"),
        ("scenarios/profiles/synthetic.json", "alone.json"),
    ]:
        shutil.copy(ROOT / file, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    of_models = [
        "runnables", "grid_size", "block_size", "processing_unit", "frequency", "ticks",
        "without_copies", "one_job", "cores", "process",
    ]
    inputs = {"block_duration": "unstated.json", "access_time": "cores.amxmi", "set_cluster": "clusters.json"}
    inputs |= dict.fromkeys(of_models, "model.amxmi")
    inputs |= dict.fromkeys(["gpu", "launches", "collectives", "rescale", "block_times"], "profile.json")
    for key, example in examples(command).items():
        file = inputs.get(key, "scenario.json")
        said = command("convert", tmp_path / file, *flag(key, example), cwd=tmp_path)
        assert gpusched.Scenario.read(tmp_path / file, **{key: example}).to_json() == said.stdout, key


def test_what_is_wrong_with_an_option_is_said_of_its_keyword():
    for wrong, text in [
        ({"placement": "anywhere"}, "placement: expected one of most-room, .*, found 'anywhere'"),
        ({"set_priority": {"camera": 1}}, "set_priority: expected a whole number of at most 0"),
        ({"connections": 0}, "connections: expected a whole number from 1"),
        ({"vary": (100, 80)}, "vary: expected two whole percentages"),
        ({"set_priority": {"nobody": -1}}, '"set_priority": no stream is called "nobody"'),
    ]:
        with pytest.raises(ValueError, match=text):
            gpusched.simulate(ROOT / "tests/data/options/scenario.json", **wrong)


def test_the_docstring_lists_every_option():
    for key, _ in gpusched._gpusched.OPTIONS:
        assert f"- ``{key}``: " in gpusched.simulate.__doc__
