"""What all tests use."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A shell that runs the tests in the background has Ctrl-C ignored, and then Python installs no handler of its own.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    """Paths are those of the documentation, and errors name them alike."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def command():
    """Runs the command, which GPUSCHED names."""
    binary = os.environ.get("GPUSCHED")
    if binary is None:
        pytest.skip("GPUSCHED does not name the command")
    binary = str(ROOT / binary)

    def run(*arguments, **options):
        return subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, **options)

    return run


def by_keywords(said):
    """What the command prints, with the options that its notes name called as Python calls them."""
    quote = '\\"' if said.startswith("{") else '"'

    def called(match):
        option, name, value = match.groups()
        value = value and quote + value + quote
        value = value and (": {" + quote + name + quote + ": " + value + "}" if name else ": " + value)
        return quote + option.replace("-", "_") + quote + (value or "")

    return re.sub(r"--([a-z][a-z-]*)(?: (?:([^=;,]+?)=)?([A-Z]+)\b)?", called, said)


FIGURE_3 = "scenarios/rtss2017/figure-3.json"
SCENARIOS = sorted(
    str(path.relative_to(ROOT))
    for folder in ("amalthea", "deadlines", "events", "ospert2017", "processes", "profiles", "rtss2017", "thesis2019")
    for path in (ROOT / "scenarios" / folder).iterdir()
)
