"""What the package adds: dicts, builders, arrays, notebooks, exceptions."""

import json
import os
import signal
import sys
import threading
import time
from html.parser import HTMLParser

import numpy
import pytest
from conftest import FIGURE_3

import gpusched


def two_kernels(**settings):
    return {
        "format": "gpusched-scenario/1",
        "name": "two kernels",
        "kernels": {
            "A": {"blocks": 8, "threads": 512, "duration": "1 ms"},
            "B": {"blocks": 1, "threads": 1024, "duration": "2 ms"},
        },
        "streams": [
            {"name": "a", "operations": [{"kernel": "A"}]},
            {"name": "b", "operations": [{"kernel": "B"}]},
        ],
        **settings,
    }


def test_a_dict_a_builder_and_a_scenario_that_was_read_run_alike():
    builder = gpusched.ScenarioBuilder("two kernels")
    builder.kernel("A", blocks=8, threads=512, duration=1_000_000)
    builder.kernel("B", blocks=1, threads=1024, duration="2 ms")
    builder.stream("a", operations=[{"kernel": "A"}])
    builder.stream("b", operations=[{"kernel": "B"}])
    run = gpusched.simulate(two_kernels())
    assert gpusched.simulate(builder).to_json() == run.to_json()
    scenario = gpusched.Scenario.read(builder)
    assert gpusched.simulate(scenario).to_json() == run.to_json()
    assert gpusched.simulate(gpusched.Scenario.from_text(scenario.to_json())).to_json() == run.to_json()
    # 8 blocks of 512 threads fill the two SMs of a TX2, so B begins when A is done.
    assert [kernel.first_start_ns for kernel in run.kernels] == [0, 1_000_000]
    assert run.makespan_ns == 3_000_000
    with pytest.raises(TypeError):
        gpusched.simulate(scenario, seed=1)


def test_blocks_are_arrays_that_nothing_copied():
    run = gpusched.simulate(two_kernels())
    blocks = run.blocks
    assert len(blocks) == 9
    assert blocks.id.tolist() == [0] * 8 + [1]
    assert blocks.kernel.tolist() == ["A"] * 8 + ["B"]
    assert blocks.block.tolist() == [*range(8), 0]
    assert set(blocks.sm[:8].tolist()) == {0, 1}
    assert blocks.end_ns.tolist() == [1_000_000] * 8 + [3_000_000]
    assert (blocks.end_ns - blocks.start_ns).tolist() == [1_000_000] * 8 + [2_000_000]
    for array in (blocks.id, blocks.block, blocks.sm, blocks.start_ns, blocks.end_ns):
        # The memory is that of the simulator, which the array keeps alive.
        assert not array.flags.owndata and array.base is not None and array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    assert blocks.start_ns.dtype == numpy.int64 and blocks.sm.dtype == numpy.uint16
    cut = gpusched.simulate(two_kernels(), horizon="1500 us").blocks
    assert cut.end_ns.tolist() == [1_000_000] * 8 + [-1]
    frame = cut.to_pandas()
    assert frame["end_ns"].isna().tolist() == [False] * 8 + [True]
    assert frame["kernel"].tolist() == ["A"] * 8 + ["B"]
    # The frame is the caller's.
    frame.loc[0, "sm"] = 7
    assert (frame["sm"][0], cut.sm[0]) == (7, 0)


def test_frames_keep_whole_numbers_whole_and_missing_ones_missing():
    late = (1 << 53) + 1
    scenario = two_kernels(horizon="20000000 s")
    scenario["streams"][1]["release"] = f"{late} ns"
    frame = gpusched.simulate(scenario).to_pandas()
    assert frame["launched_ns"].tolist() == [0, late]
    assert str(frame["launched_ns"].dtype) == "Int64"
    assert frame["deadline_ns"].isna().all()
    # A number with a gap beside it is as exact.
    scenario["streams"][0]["deadline"] = f"{late} ns"
    assert gpusched.simulate(scenario).to_pandas()["deadline_ns"].fillna(0).tolist() == [late, 0]
    assert gpusched.analyze(two_kernels()).to_pandas()["kernel"].tolist() == ["A", "B"]


def test_types_of_frames_do_not_depend_on_what_stands_in_them():
    copy = {"copy": "host-to-device", "bytes": 4096}
    full = two_kernels()
    full["streams"][0] |= {"operations": [copy, {"kernel": "A"}], "deadline": "1 s", "period": "10 ms", "jobs": 3}
    # Neither copies nor deadlines, and blocks that do not end.
    bare = two_kernels(horizon="500 us")
    numbers = {"threads": "Int64", "finish_ns": "Int64", "deadline_ns": "Int64"}
    for rows, types in {
        "kernels": {"stream": "string", "kernel": "string", "schedulable": "boolean", "job_met": "boolean", **numbers},
        "copies": {"stream": "string", "direction": "string", "bytes": "Int64", "end_ns": "Int64"},
        "blocks": {"id": "Int64", "kernel": "string", "sm": "Int64", "end_ns": "Int64"},
        "responses": {"stream": "string", "jobs": "Int64", "deadline_ns": "Int64", "misses": "Int64"},
    }.items():
        with_all, with_little = gpusched.simulate(full).to_pandas(rows), gpusched.simulate(bare).to_pandas(rows)
        assert (with_all.dtypes == with_little.dtypes).all()
        assert {name: str(with_all[name].dtype) for name in types} == types
    verdicts = [gpusched.analyze(scenario).to_pandas("jobs") for scenario in (full, bare)]
    assert (verdicts[0].dtypes == verdicts[1].dtypes).all()
    assert [frame["verdict"].isna().tolist() for frame in verdicts] == [[False] * 3 + [True], [True] * 2]


def test_frames_have_names_where_documents_have_numbers():
    scenario = two_kernels()
    scenario["streams"].append({"name": "to the GPU", "operations": [{"copy": "host-to-device", "bytes": 4096}]})
    scenario["hosts"] = [{"name": "h", "steps": [{"launch": "B", "stream": "NULL"}]}]
    run = gpusched.simulate(scenario)
    kernels = run.to_pandas("kernels")
    assert dict(zip(kernels["kernel"] + kernels["label"], kernels["stream"])) == {"Aa": "a", "Bb": "b", "Bh": "NULL"}
    assert run.to_pandas("copies")["stream"].tolist() == ["to the GPU"]
    blocks = run.to_pandas("blocks").merge(kernels[["id", "stream"]], on="id")
    assert blocks.groupby("stream").size().to_dict() == {"NULL": 1, "a": 8, "b": 1}
    assert set(gpusched.compare(two_kernels()).to_pandas()["stream"]) == {"a", "b"}
    with pytest.raises(ValueError, match='no frame of "sms"; there are frames of kernels, blocks, copies, responses'):
        run.to_pandas("sms")
    with pytest.raises(ValueError, match="there are frames of kernels, jobs, responses"):
        gpusched.analyze(scenario).to_pandas("copies")


def test_without_pandas_it_is_said_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        gpusched.simulate(two_kernels()).to_pandas()


class Seen(HTMLParser):
    """The elements of a cell, with their attributes, and its text."""

    def __init__(self, shown):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(shown._repr_html_())

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def test_a_notebook_shows_an_interactive_timeline_and_tables():
    run = gpusched.simulate(FIGURE_3)
    seen = Seen(run)
    [frame] = seen.all("iframe")
    # A document of its own, as wide as the cell, that reaches nothing around it.
    assert frame["srcdoc"] == run.to_html() and "width:100%" in frame["style"]
    assert "allow-same-origin" not in frame["sandbox"]
    assert len(seen.all("table")) == 2 and "pre" not in dict(seen.elements) and "K5" in seen.text
    # For what shows no HTML.
    assert "<svg" in run._repr_svg_()
    comparison = gpusched.compare(FIGURE_3)
    assert "<svg" in comparison._repr_svg_() and len(Seen(comparison).all("iframe")) == 1
    # One on the merged SM, one of responses, one of verdicts.
    seen = Seen(gpusched.analyze("scenarios/deadlines/camera-and-lidar.json"))
    assert seen.all("iframe") == [] and len(seen.all("table")) == 3


def test_names_in_a_cell_are_text():
    evil = """'></iframe><script>"&amp;"""
    scenario = two_kernels(name=evil)
    scenario["kernels"] = {evil: scenario["kernels"]["A"]}
    scenario["streams"] = [{"name": "<b>", "operations": [{"kernel": evil}]}]
    run = gpusched.simulate(scenario)
    seen = Seen(run)
    assert {tag for tag, _ in seen.elements} == {"div", "iframe", "table", "thead", "tbody", "tr", "th", "td"}
    assert seen.all("iframe")[0]["srcdoc"] == run.to_html()
    assert evil in seen.text and "<b>" in seen.text


def test_a_run_too_large_for_a_cell_is_a_picture_which_is_said():
    scenario = two_kernels()
    scenario["streams"][0] |= {"operations": [{"kernel": "A"}] * 40_000}
    seen = Seen(gpusched.simulate(scenario))
    assert seen.all("iframe") == []
    [picture] = seen.all("img")
    assert picture["src"].startswith("data:image/svg+xml;base64,") and "width:100%" in picture["style"]
    assert "too large to be interactive in a cell: to_html() makes it" in seen.text
    # Of tables the beginning, and how much is left out.
    assert len(seen.all("tr")) < 500 and "and 39801 more" in seen.text


def test_attributes_are_the_keys_of_the_json_document():
    run = gpusched.simulate(FIGURE_3)
    k5 = next(kernel for kernel in run.kernels if kernel.name == "K5")
    assert (k5.launched_ns, k5.first_start_ns, k5.finish_ns) == (400_000_000, 2_000_000_000, 3_000_000_000)
    assert k5.waits_ns["R3"] == 999_999_000
    assert "kernels" in dir(run)
    with pytest.raises(AttributeError, match="it has scenario"):
        run.nothing
    assert "EE queue" in run.state("1700 ms")


def test_errors_name_the_place():
    scenario = two_kernels()
    scenario["kernels"]["B"]["threads"] = 0
    with pytest.raises(gpusched.InputError) as refused:
        gpusched.simulate(scenario)
    error = refused.value
    assert (error.file, error.line, error.path) == ("<dict>", 1, "kernels.B.threads")
    assert "expected a whole number from 1" in error.what
    assert isinstance(error, ValueError)
    for wrong, kind in [({1: 2}, TypeError), ({"name": object()}, TypeError), ({"seed": float("nan")}, ValueError)]:
        with pytest.raises(kind):
            gpusched.simulate(two_kernels(**wrong) if "seed" in wrong or "name" in wrong else wrong)
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested too deep"):
        gpusched.simulate({"streams": endless})
    with pytest.raises(TypeError, match="no option \"sed\""):
        gpusched.simulate(two_kernels(), sed=1)
    with pytest.raises(gpusched.InputError, match='"gpu" is for profiles'):
        gpusched.simulate(two_kernels(), gpu=0)


def test_arguments_of_the_wrong_kind_are_refused_with_what_is_expected():
    run = gpusched.simulate(two_kernels())
    for call, kind, text in [
        (lambda: gpusched.simulate([1]), TypeError, "expected a dict, the path of a file or a builder, found list"),
        (lambda: gpusched.simulate('{"name": "x"}'), ValueError, "Scenario.from_text reads a scenario's text"),
        (lambda: gpusched.simulate(two_kernels(), horizon=-5), ValueError, "expected whole nanoseconds from 0"),
        (lambda: gpusched.simulate(two_kernels(), horizon=0.5), TypeError, "expected a time as a string"),
        (lambda: gpusched.simulate(two_kernels(), deadline="a=1ms"), TypeError, "expected a dict from names"),
        (lambda: gpusched.audit(3), TypeError, "expected the path of logs or of a profile"),
        (lambda: gpusched.audit("nowhere"), FileNotFoundError, "cannot read nowhere"),
        (lambda: gpusched.warps("LLCLL"), TypeError, "how many of 'LLCLL' are there"),
        (lambda: gpusched.Study({"format": "gpusched-study/1"}), gpusched.InputError, "<dict>:1:"),
        (lambda: gpusched.Study("studies/slice-length.json").summary("nowhere"), FileNotFoundError, "nowhere"),
        (lambda: run.to_svg(width_mm=10**18), ValueError, "width_mm"),
        (lambda: run.kernels[0].nothing, AttributeError, "the record has no 'nothing'; it has id, "),
    ]:
        with pytest.raises(kind, match=text):
            call()


def test_numbers_of_numpy_are_numbers():
    scenario = two_kernels()
    scenario["kernels"]["A"]["blocks"] = numpy.int64(8)
    scenario["kernels"]["B"]["blocks"] = numpy.array([1, 1])
    assert gpusched.simulate(scenario).to_json() == gpusched.simulate(two_kernels()).to_json()
    assert gpusched.simulate(scenario, horizon=numpy.int64(1_500_000)).end_ns == 1_500_000


ENDLESS = {
    "format": "gpusched-scenario/1",
    "name": "long",
    "kernels": {"K": {"blocks": 8, "threads": 512, "duration": "1 us"}},
    "hosts": [
        {
            "name": "h",
            "iterations": 45_000_000,
            "steps": [{"launch": "K", "stream": "NULL"}, {"synchronize": "last"}],
        }
    ],
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_a_long_run():
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        gpusched.simulate(ENDLESS)
    assert time.perf_counter() - began < 5


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_other_threads_go_on_during_a_run():
    counted = []
    stop = threading.Event()

    def count():
        while not stop.wait(0.01):
            counted.append(1)

    counter = threading.Thread(target=count)
    counter.start()
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            gpusched.simulate(ENDLESS)
    finally:
        stop.set()
        counter.join()
    assert len(counted) > 5


def test_a_study_runs_in_parts_and_is_summed_up(tmp_path):
    study = gpusched.Study("studies/slice-length.json")
    assert study.rows == 27
    assert study.run(tmp_path / "parts", shard="0/2") and study.run(tmp_path / "parts", shard="1/2")
    parts = sorted((tmp_path / "parts").glob("*.csv"))
    assert study.merge(tmp_path / "parts", parts) == 27
    assert study.run(tmp_path / "whole", threads=1)
    whole = (tmp_path / "whole" / "rows.csv").read_bytes()
    assert (tmp_path / "parts" / "rows.csv").read_bytes() == whole
    summary = study.summary(tmp_path / "whole")
    assert len(summary.to_pandas()) == 27
    with pytest.raises(ValueError):
        study.run(tmp_path, shard="2/2")


def test_figures_are_pixels_too_and_say_in_words_of_python_what_they_cannot_be(tmp_path):
    run = gpusched.simulate("scenarios/rtss2017/figure-3.json")
    run.save_figure(tmp_path / "run.png", width_mm=127)
    head = (tmp_path / "run.png").read_bytes()[:24]
    # 127 mm are 5 inches of 300 pixels.
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(head[16:20], "big") == 1500
    assert run.to_svg(width="page") != run.to_svg(width="column") == run.to_svg(width=88.57)
    with pytest.raises(ValueError, match='"column", "page", or a number'):
        run.to_svg(width="wide")
    with pytest.raises(ValueError, match="the Python package writes no PDF: write .svg, .png or .tex"):
        run.save_figure(tmp_path / "run.pdf")
    with pytest.raises(TypeError, match='"queue" of figures \\(did you mean "queues"\\?\\); there are width, width_mm'):
        run.save_figure(tmp_path / "run.png", queue=True)
    assert [path.name for path in tmp_path.iterdir()] == ["run.png"]


def test_names_that_are_nearly_right_are_suggested():
    with pytest.raises(TypeError, match='there is no option "devise" \\(did you mean "device"\\?\\)'):
        gpusched.simulate(two_kernels(), devise="tx2")
    for misspelt, near in (("serch", "search"), ("devise", "device")):
        with pytest.raises(TypeError, match=f'no option "{misspelt}" \\(did you mean "{near}"\\?\\); help\\(gpusched.analyze'):
            gpusched.analyze(two_kernels(), **{misspelt: None})
    with pytest.raises(FileNotFoundError, match='did you mean "scenarios/rtss2017/figure-3.json"'):
        gpusched.simulate("scenarios/rtss2017/figure3.json")


def test_figures_and_merged_studies_are_whole_or_not_there(tmp_path):
    run = gpusched.simulate(two_kernels())
    figure = tmp_path / "run.svg"
    run.save_figure(figure)
    assert figure.read_text() == run.to_svg()
    with pytest.raises(OSError, match="cannot write .*: it is a directory"):
        (tmp_path / "folder.svg").mkdir()
        run.save_figure(tmp_path / "folder.svg")
    with pytest.raises(FileNotFoundError, match="cannot write .*nowhere"):
        run.save_figure(tmp_path / "nowhere" / "run.svg")
    study = gpusched.Study("studies/slice-length.json")
    results = tmp_path / "results"
    assert study.run(results, shard="0/2")
    [part] = results.glob("*.csv")
    (results / "rows.csv").write_text("what was there before\n")
    # Half of the rows are missing, which is found once the others are written.
    with pytest.raises(gpusched.InputError, match="not complete"):
        study.merge(results, [part])
    assert (results / "rows.csv").read_text() == "what was there before\n"
    # Nothing temporary is left anywhere.
    left = {path.name for path in tmp_path.rglob("*") if path.name.endswith(".tmp")}
    assert left == set()


def test_an_audit_finds_nothing_wrong_in_a_run():
    assert gpusched.audit(gpusched.simulate(FIGURE_3)).violations == []


def test_the_exact_worst_case_of_three_warps_is_known():
    # LLCLL, three warps: the example of docs/warps.md.
    answer = gpusched.warps("LLCLL", 3)
    assert "worst case" in str(answer)
    assert gpusched.warps({"format": "gpusched-warps/1", "string": "LLCLL", "warps": 3}).to_json() == answer.to_json()


def test_the_critical_path_of_a_job_is_that_of_the_command_and_needs_a_name_that_there_is():
    run = gpusched.simulate("scenarios/deadlines/camera-and-lidar.json")
    parts = json.loads(run.to_json(critical_path="camera"))["critical_path"]
    assert [part["name"] for part in parts] == ["register", "detect", "copy 4 (device-to-host)"]
    assert json.loads(run.to_json(critical_path=""))["critical_path"][-1]["to_ns"] == 33_000_000
    with pytest.raises(ValueError, match='is called "camra" \\(did you mean "camera"\\?\\)'):
        run.to_json(critical_path="camra")


def test_scenarios_run_together_as_the_command_runs_them():
    def program(name):
        kernels = {"K": {"blocks": 16, "threads": 1024, "duration": "6 ms"}}
        streams = [{"name": "s", "operations": [{"kernel": "K"}]}]
        return {"format": "gpusched-scenario/1", "name": name, "device": "orin", "kernels": kernels, "streams": streams}

    joined = gpusched.Scenario.together([program("A"), gpusched.Scenario.read(program("B"))], "mps=50,50")
    run = gpusched.simulate(joined)
    assert [(kernel.name, kernel.finish_ns) for kernel in run.kernels] == [("A: K", 12_000_000), ("B: K", 12_000_000)]
    with pytest.raises(ValueError, match="mig.*expected processes, mps, mps=50,50"):
        gpusched.Scenario.together([program("A"), program("B")], "mig")
    with pytest.raises(ValueError, match="mps=50: there are 2 programs, and it states a number for 1"):
        gpusched.Scenario.together([program("A"), program("B")], "mps=50")


def test_what_streams_do_while_others_run_is_that_of_the_command():
    run = gpusched.simulate("scenarios/deadlines/camera-and-lidar.json")
    rows = json.loads(run.to_json(overlap="camera,lidar"))["overlap"]
    assert {row["running"] for row in rows} == {"camera", "lidar"}
    with pytest.raises(ValueError, match='overlap.*no stream is called "radar"'):
        run.to_json(overlap="radar,lidar")
