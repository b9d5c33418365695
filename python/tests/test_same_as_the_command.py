"""What the package says is what the command says, byte for byte."""

import json
import os
import sqlite3
from pathlib import Path

import pandas
import pytest
from conftest import FIGURE_3, SCENARIOS, by_keywords

import gpusched

ANALYSED = [name for name in SCENARIOS if "profiles" not in name]


@pytest.fixture
def command(command):
    """Runs the command; what it says calls options as Python does."""

    def run(*arguments, **options):
        said = command(*arguments, **options)
        said.stdout, said.stderr = by_keywords(said.stdout), by_keywords(said.stderr)
        return said

    return run


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_runs_have_the_bytes_of_the_command(scenario, command):
    said = command("simulate", scenario, "--format", "json")
    assert said.returncode == 0, said.stderr
    run = gpusched.simulate(scenario)
    assert run.to_json() == said.stdout
    assert [f"note: {note}" for note in run.notes] == said.stderr.splitlines()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_frames_hold_what_the_document_has(scenario):
    run = gpusched.simulate(scenario)
    frames = [(run.to_pandas(rows), getattr(run, rows)) for rows in ("kernels", "copies", "responses")]
    if scenario in ANALYSED and "processes" not in scenario:
        analysis = gpusched.analyze(scenario)
        frames += [(analysis.to_pandas(rows), getattr(analysis, rows)) for rows in ("kernels", "jobs", "responses")]
    for frame, records in frames:
        assert len(frame) == len(records)
        compared = 0
        for name in frame.columns:
            # Streams of operations are numbers there.
            of_document = [record[name] for record in records if name in record]
            if of_document and not (name == "stream" and isinstance(of_document[0], int)):
                compared += 1
                assert [None if value is pandas.NA else value for value in frame[name]] == of_document
        assert compared > 5 or not records
    blocks, launches = run.blocks, {kernel.id: kernel for kernel in run.kernels}
    assert blocks.kernel.tolist() == [launches[launch].title for launch in blocks.id.tolist()]


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


def test_a_page_of_very_many_blocks_has_the_bytes_of_the_command(command, tmp_path):
    scenario = gpusched.ScenarioBuilder("many")
    scenario.kernel("K", blocks=400_000, threads=64, duration="1 us")
    scenario.stream("S", operations=[{"kernel": "K"}])
    file, page = tmp_path / "many.json", tmp_path / "many.html"
    file.write_text(gpusched.Scenario.read(scenario).to_json())
    assert command("simulate", file, "--html", page).returncode == 0
    assert gpusched.simulate(str(file)).to_html() == page.read_text()
    assert page.stat().st_size < 4 << 20


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


def test_the_order_of_releases_is_that_of_the_command(command):
    file = "scenarios/thesis2019/section-3-5.json"
    said = command("analyze", file, "--order", "declared", "--format", "json").stdout
    declared = gpusched.analyze(file, order="declared")
    assert declared.to_json() == said
    assert {job["order"] for job in declared.jobs} == {"declared"}
    assert {job["order"] for job in gpusched.analyze(file).jobs} == {"any"}
    with pytest.raises(ValueError, match="any, declared"):
        gpusched.analyze(file, order="random")


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
    blocks = "tests/data/logs/blocks/two-kernels.csv"
    options = ("--device", "tx2", "--columns", "threads=512", "--learn-placement", "--format", "json")
    audit = gpusched.audit(blocks, device="tx2", columns={"threads": 512}, learn_placement=True)
    assert audit.to_json() == command("audit", blocks, *options).stdout
    assert audit.learned_placement[0]["blocks"] == 6


@pytest.fixture
def same(command):
    """Compares what a call came to with what the command prints in all formats, and says it."""

    def compare(result, *arguments):
        said = command(*arguments, "--format", "json")
        assert said.returncode in (0, 1), said.stderr
        assert result.to_json() == said.stdout
        assert [f"note: {note}" for note in result.notes] == said.stderr.splitlines()
        assert result.to_csv() == command(*arguments, "--format", "csv").stdout
        assert str(result) == command(*arguments).stdout
        assert result.to_markdown() == command(*arguments, "--format", "markdown").stdout

    return compare


def test_orders_are_those_of_the_command(same):
    scenario = "scenarios/ospert2017/figure-4.json"
    same(gpusched.orders(scenario), "orders", scenario)
    # Nine streams at once have 362880 orders, more than are tried.
    nine = {
        "format": "gpusched-scenario/1",
        "name": "nine",
        "kernels": {f"K{i}": {"blocks": 1 + i, "threads": 512, "duration": f"{1 + i} ms"} for i in range(9)},
        "streams": [{"name": f"s{i}", "operations": [{"kernel": f"K{i}"}]} for i in range(9)],
    }
    orders = gpusched.orders(nine, samples=50, seed=3)
    assert (orders.orders, orders.orders_tried, orders.exhaustive, orders.seed) == (362_880, 50, False, 3)
    with pytest.raises(ValueError, match="samples: expected a whole number from 1"):
        gpusched.orders(nine, samples=0)


def test_applications_run_as_by_the_command(same):
    figure = "gpu-evr-figure-1"
    same(gpusched.evr(figure), "evr", figure)
    drawn = "narrow-k20m"
    same(
        gpusched.evr(drawn, schedulers=["gpu-evr", "timegraph"], inject=5, gap="100 ms", seed=3,
                     rules={"full-gpu": "wait"}, execution="20 ms", tightness_percent=150, saturation_sms=4),
        "evr", drawn, "--scheduler", "gpu-evr", "--scheduler", "timegraph", "--inject", 5, "--gap", "100ms",
        "--seed", 3, "--rule", "full-gpu=wait", "--execution", "20ms", "--tightness-percent", 150,
        "--saturation-sms", 4,
    )
    same(
        gpusched.evr(drawn, schedulers=["plain-streams"], per_period=2, periods=2, samples=3),
        "evr", drawn, "--scheduler", "plain-streams", "--per-period", 2, "--periods", 2, "--samples", 3,
    )


def test_what_cannot_be_run_of_applications_is_refused(command):
    for keywords, options in [({"samples": 2}, ["--samples", 2]), ({"execution": "1 ms"}, ["--execution", "1ms"])]:
        with pytest.raises(gpusched.InputError) as refused:
            gpusched.evr("gpu-evr-figure-1", **keywords)
        assert command("evr", "gpu-evr-figure-1", *options).stderr == f"error: {refused.value}\n"
    for keywords in ({"inject": 1, "per_period": 1}, {"gap": "1 s"}, {"periods": 2}, {"rules": {"full-gpu": "no"}}):
        with pytest.raises(ValueError):
            gpusched.evr("narrow-k20m", **keywords)
    with pytest.raises(TypeError, match='no option "smaples" \\(did you mean "samples"'):
        gpusched.evr("narrow-k20m", smaples=2)


def test_task_sets_run_as_by_the_command(same, command):
    sms = "witnesses/rtns2020/table-1.json"
    strategies = ("gang", "single-stream", "multi-stream")
    for strategy in strategies:
        same(gpusched.run_tasks(sms, strategy), "tasks", "run", sms, "--strategy", strategy)
    same(
        gpusched.run_tasks(sms, "multi-stream", policy="fp", horizon=50, seed=2, synchronization=1),
        "tasks", "run", sms, "--strategy", "multi-stream", "--policy", "fp", "--horizon", 50, "--seed", 2,
        "--synchronization", 1,
    )
    segments = "witnesses/ecrts2024/case-study.json"
    with pytest.raises(ValueError, match="strategy: .* is none of ") as refused:
        gpusched.run_tasks(segments, "gang")
    strategy = str(refused.value).split(" is none of ")[1].split(",")[0]
    same(gpusched.run_tasks(segments, strategy), "tasks", "run", segments, "--strategy", strategy)
    with pytest.raises(ValueError, match="policy is not for tasks with CPU and GPU segments"):
        gpusched.run_tasks(segments, strategy, policy="fp")


@pytest.mark.parametrize(
    ("profile", "start", "end"),
    [("scenarios/profiles/synthetic.json", "30us", "400us"), ("scenarios/profiles/synthetic.csv", "1us", "5ms")],
)
def test_profiles_are_imported_and_audited_as_by_the_command(profile, start, end, same, command):
    same(gpusched.import_profile(profile), "import", profile)
    window = ("--from", start, "--to", end)
    same(gpusched.import_profile(profile, start=start, end=end), "import", profile, *window)
    part = gpusched.import_profile(profile, start=start, end=end, launches="recorded")
    said = command("import", profile, *window, "--launches", "recorded", "--out", "-")
    assert part.scenario.to_json() == said.stdout
    assert gpusched.simulate(part.scenario).kernels
    same(gpusched.audit(profile), "audit", profile)
    same(gpusched.audit(profile, device="a100-40gb", gpu=0), "audit", profile, "--device", "a100-40gb", "--gpu", 0)
    with pytest.raises(ValueError, match="logs_alone is for logs, and this is a profile"):
        gpusched.audit(profile, logs_alone=True)


def test_an_export_of_nsight_systems_is_read_as_by_the_command(same, tmp_path):
    # One kernel of 100 us, called 10 us before.
    with sqlite3.connect(tmp_path / "one kernel.sqlite") as database:
        database.executescript(
            """
            CREATE TABLE StringIds (id INTEGER, value TEXT);
            INSERT INTO StringIds VALUES (1, 'f(int)'), (2, 'cudaLaunchKernel_v7000');
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
                streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,
                registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER,
                blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
                (10000, 110000, 0, 1, 7, 1, 16777216, 1, 32, 108, 1, 1, 1024, 1, 1, 0, 0);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, nameId INTEGER, globalTid INTEGER,
                correlationId INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 3000, 2, 16777217, 1);
            """
        )
    database.close()
    export = tmp_path / "one kernel.sqlite"
    imported = gpusched.import_profile(export, device="a100-40gb")
    same(imported, "import", export, "--device", "a100-40gb")
    [kernel] = gpusched.simulate(imported.scenario).kernels
    assert kernel.finish_ns - kernel.first_start_ns == 100_000


def test_what_is_no_profile_is_not_imported():
    with pytest.raises(gpusched.InputError, match="is no profile"):
        gpusched.import_profile(FIGURE_3)
    with pytest.raises(ValueError, match="gpu is for profiles, and this is a run"):
        gpusched.audit(gpusched.simulate(FIGURE_3), gpu=0)
    with pytest.raises(ValueError, match="set_priority is for profiles, and these are logs"):
        gpusched.audit("tests/data/logs/two-streams", set_priority={"1": -1})


def test_steps_and_sporadic_streams_are_those_of_the_command(same, command):
    equal = "scenarios/thesis2019/figure-3-3-a.json"
    steps = gpusched.analyze(equal, steps=True)
    assert steps.to_json() == command("analyze", equal, "--steps", "--format", "json").stdout
    assert str(steps) == command("analyze", equal, "--steps").stdout
    with pytest.raises(ValueError, match="steps: Algorithm 2 is for equal blocks"):
        gpusched.analyze(FIGURE_3, steps=True)
    streams = "scenarios/deadlines/camera-and-lidar.json"
    same(gpusched.analyze(streams, sporadic=True), "analyze", streams, "--sporadic")
    same(
        gpusched.analyze(streams, sporadic=True, jitter={"camera": "2 ms"}),
        "analyze", streams, "--sporadic", "--jitter", "camera=2ms",
    )
    with pytest.raises(ValueError, match='jitter: no stream with operations and no host is called "nobody"'):
        gpusched.analyze(streams, sporadic=True, jitter={"nobody": "2 ms"})
    with pytest.raises(ValueError, match="add sporadic=True"):
        gpusched.analyze(streams, jitter={"camera": "2 ms"})
    with pytest.raises(ValueError, match="leave out one of them"):
        gpusched.analyze(streams, sporadic=True, steps=True)
    same(gpusched.analyze(streams, ladder=True), "analyze", streams, "--ladder")
    barriers = "scenarios/hang/two-barriers.json"
    hangs = gpusched.analyze(barriers, progress=True)
    same(hangs, "analyze", barriers, "--progress")
    assert {row["verdict"] for row in hangs.kernels} == {"hangs"}
    assert "stands still" in " ".join(gpusched.simulate(hangs.witness).notes)
    same(gpusched.residents(barriers), "residents", barriers)
    same(gpusched.residents(barriers, at=["1 ms"]), "residents", barriers, "--at", "1ms")
    with pytest.raises(ValueError, match="leave out search"):
        gpusched.analyze(barriers, progress=True, slack=True)
    slack = gpusched.analyze(streams, slack=True)
    assert slack.to_json() == command("analyze", streams, "--slack", "--format", "json").stdout
    assert str(slack) == command("analyze", streams, "--slack").stdout
    sensitivity = gpusched.analyze(streams, sensitivity=True)
    assert sensitivity.to_json() == command("analyze", streams, "--sensitivity", "--format", "json").stdout
    assert str(sensitivity) == command("analyze", streams, "--sensitivity").stdout
    with pytest.raises(ValueError, match="leave out sporadic and ladder"):
        gpusched.analyze(streams, slack=True, ladder=True)
    with pytest.raises(ValueError, match="leave out steps, sporadic and order"):
        gpusched.analyze(streams, ladder=True, order="declared")


@pytest.mark.parametrize("sporadic", [False, True])
def test_a_witness_misses_the_deadline_and_is_that_of_the_command(sporadic, command, tmp_path):
    streams = "scenarios/deadlines/camera-and-lidar.json"
    loose = {"camera": "10 s", "lidar": "10 s"}
    assert gpusched.analyze(streams, sporadic=sporadic, deadline=loose).witness is None
    analysis = gpusched.analyze(streams, sporadic=sporadic, deadline={"camera": "1 ms"})
    file = tmp_path / "witness.json"
    said = command(
        "analyze", streams, "--deadline", "camera=1ms", *(["--sporadic"] if sporadic else []), "--witness", file
    )
    assert said.returncode == 0, said.stderr
    witness = analysis.witness
    assert witness is not None and witness.to_json() == file.read_text()
    missed = [kernel for kernel in gpusched.simulate(witness).kernels if kernel.job_met is False]
    assert missed


def test_options_do_what_those_of_the_command_do(command):
    scenario = "scenarios/deadlines/camera-and-lidar.json"
    said = command(
        "simulate", scenario, "--format", "json", "--deadline", "camera=13ms", "--vary", "80..100", "--seed", 7,
        "--set-priority", "camera=-1", "--placement", "round-robin", "--horizon", "1s", "--device", "a100-40gb",
    )
    assert said.returncode == 0, said.stderr
    run = gpusched.simulate(
        scenario, deadline={"camera": "13ms"}, vary=(80, 100), seed=7, set_priority={"camera": -1},
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
