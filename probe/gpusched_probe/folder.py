"""The folder that the probe writes."""

import csv
import io
import json
import os

from .errors import ProbeError

FORMAT = "gpusched-probe/1"
COLUMNS = (
    "run",
    "kernel",
    "launch",
    "stream",
    "priority",
    "non_blocking",
    "process",
    "block",
    "sm",
    "start_ns",
    "end_ns",
    "launched_ns",
    "threads",
    "shared_memory_bytes",
    "registers_per_thread",
)
# All tables together.
MOST_BYTES = 50 * 1000 * 1000


def unused(path):
    """Whether the folder can be written: it does not exist yet, or is empty."""
    return not os.path.lexists(path) or (os.path.isdir(path) and not os.listdir(path))


class Folder:
    """`probe.json`, and of each experiment its scenarios and its table."""

    def __init__(self, path):
        """Makes the folder, which is `unused`."""
        self.path, self._bytes = path, 0
        try:
            os.makedirs(path, exist_ok=True)
        except OSError as error:
            raise ProbeError("%s cannot be made: %s" % (path, error)) from error

    def _write(self, name, text):
        with open(os.path.join(self.path, name), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def write_json(self, name, content):
        self._write(name, json.dumps(content, indent=1) + "\n")

    def write_rows(self, stem, rows):
        """Writes a table; returns why not, if it is too much with those before it."""
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        table = text.getvalue()
        if self._bytes + len(table) > MOST_BYTES:
            return "its table of %d bytes would make all tables larger than %d bytes" % (len(table), MOST_BYTES)
        self._bytes += len(table)
        self._write(stem + ".csv", table)
        return None


def scenario_files(experiment):
    """The scenarios of an experiment by file name, and the names by question and number of the answer."""
    files = {experiment.stem + ".json": experiment.scenario}
    names = {}
    for question in experiment.questions:
        for number, answer in enumerate(question.answers):
            if answer.scenario is None:
                continue
            free = number
            while files.setdefault("%s.%d.json" % (experiment.stem, free), answer.scenario) != answer.scenario:
                free += 1
            names[question.name, number] = "%s.%d.json" % (experiment.stem, free)
    return files, names


def question_as_json(experiment, question, skipped, names):
    """A question as it stands in `probe.json`. `skipped` says why it was not run, or is None."""
    answers = []
    for number, answer in enumerate(question.answers):
        entry = {"answer": answer.answer, "switch": answer.switch, "device": answer.device}
        if (question.name, number) in names:
            entry["scenario"] = names[question.name, number]
        answers.append(entry)
    entry = {
        "name": question.name,
        "question": question.question,
        "experiment": experiment.stem,
        "looks_at": question.looks_at,
        "answers": answers,
    }
    for key, value in (("pairs", question.pairs), ("measures", question.measures), ("skipped", skipped)):
        if value is not None:
            entry[key] = value
    return entry
