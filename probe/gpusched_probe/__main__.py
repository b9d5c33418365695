"""The command: `python3 -m gpusched_probe`."""

import argparse
import datetime
import sys
import time

from .errors import ProbeError
from .experiments import experiments_of
from .folder import FORMAT, Folder, question_as_json, scenario_files, unused
from .simulate import Simulated


DESCRIPTION = "Asks an NVIDIA GPU by which rules it schedules thread blocks. `gpusched audit --probe FOLDER` tells."


def options():
    parser = argparse.ArgumentParser(prog="python3 -m gpusched_probe", description=DESCRIPTION)
    add = parser.add_argument
    add("--out", metavar="FOLDER", default="probe-results", help="folder to write [default: %(default)s]")
    add("--only", metavar="NAME", action="append", default=[], help="ask this question or experiment; may be repeated")
    add("--minutes", metavar="N", type=float, default=10, help="no experiment begins later [default: 10]")
    add("--list", action="store_true", help="print questions and answers, and run nothing")
    add("--dry-run", action="store_true", help="write scenarios and probe.json, and run nothing")
    add("--simulate", metavar="DEVICE", help="simulate a device of gpusched, or a device file, instead of a GPU")
    add("--gpusched", metavar="BINARY", default="gpusched", help="the command gpusched, for --simulate")
    add(
        "--as",
        dest="simulated_as",
        metavar="QUESTION=K",
        action="append",
        default=[],
        help="with --simulate: let the device behave as answer K, from 0; may be repeated",
    )
    return parser


def selected(parser, experiments, names):
    """The experiments that `--only` names, each with those of its questions that are asked for."""
    if not names:
        return experiments
    known = {experiment.stem for experiment in experiments}
    known.update(question.name for experiment in experiments for question in experiment.questions)
    for name in names:
        if name not in known:
            parser.error("--only %s: no question or experiment is called so; --list prints their names" % name)
    chosen = []
    for experiment in experiments:
        if experiment.stem not in names:
            experiment.questions = [question for question in experiment.questions if question.name in names]
        if experiment.questions:
            chosen.append(experiment)
    return chosen


def behaviours(parser, experiments, wanted):
    """Of each experiment the answer as which it is simulated: by name of the experiment."""
    answers = {experiment.stem: experiment.questions[0].answers[0] for experiment in experiments}
    pairs = [(experiment, question) for experiment in experiments for question in experiment.questions]
    questions = {question.name: (experiment, question) for experiment, question in pairs}
    for entry in wanted:
        name, _, number = entry.partition("=")
        if name not in questions:
            parser.error("--as %s: no question that is asked is called %s" % (entry, name))
        experiment, question = questions[name]
        if not number.isdigit() or int(number) >= len(question.answers):
            parser.error("--as %s: the number of an answer is 0 to %d" % (entry, len(question.answers) - 1))
        answers[experiment.stem] = question.answers[int(number)]
    return answers


def print_list(card, experiments):
    for experiment in experiments:
        why_not = reason(card, experiment)
        for question in experiment.questions:
            print("%s (experiment %s)\n  %s" % (question.name, experiment.stem, question.question))
            for number, answer in enumerate(question.answers):
                print("  %d: %s [%s]" % (number, answer.answer, answer.switch))
            if why_not:
                print("  not asked: %s" % why_not)


def reason(card, experiment):
    """Why this card cannot answer, or None."""
    missing = (card.has(feature) for feature in experiment.needs)
    return next((why for why in missing if why), experiment.impossible)


class Session:
    """One run of the probe: what was asked so far, and the folder that it is written to."""

    def __init__(self, card, simulated, folder):
        self.card, self.folder = card, folder
        self.content = {
            "format": FORMAT,
            "card": card.card(),
            "date": datetime.date.today().isoformat(),
            **({"simulated": simulated} if simulated else {}),
            "questions": [],
        }

    def add(self, experiment, run):
        """Runs one experiment, unless it cannot be, by `run`, a function that returns its rows; returns why not."""
        skipped = reason(self.card, experiment)
        files, names = ({}, {}) if skipped else scenario_files(experiment)
        if not skipped:
            skipped = self._run(experiment, run)
        for name, content in files.items():
            self.folder.write_json(name, content)
        for question in experiment.questions:
            self.content["questions"].append(question_as_json(experiment, question, skipped, names))
        self.folder.write_json("probe.json", self.content)
        return skipped

    def _run(self, experiment, run):
        try:
            return self.folder.write_rows(experiment.stem, run(experiment))
        except ProbeError as error:
            return str(error)


def ask(arguments, card, experiments, answers):
    """Runs all experiments, and returns the exit status."""
    begun = time.monotonic()

    def run(experiment):
        if arguments.dry_run:
            raise ProbeError("dry run")
        if time.monotonic() - begun > 60 * arguments.minutes:
            raise ProbeError("%g minutes were over; --minutes allows more" % arguments.minutes)
        if arguments.simulate:
            answer = answers[experiment.stem]
            return card.run(answer.scenario or experiment.scenario, answer.device)
        return card.run(experiment.scenario, experiment.repetitions)

    session = Session(card, arguments.simulate, Folder(arguments.out))
    asked = 0
    for number, experiment in enumerate(experiments, 1):
        skipped = session.add(experiment, run)
        asked += 0 if skipped else len(experiment.questions)
        told = "%d of %d: %s" % (number, len(experiments), experiment.stem)
        print(told + (": " + skipped if skipped else ""), flush=True)
    questions = len(session.content["questions"])
    print("wrote %s: %d of %d questions were asked" % (arguments.out, asked, questions))
    if asked:
        print("next: gpusched audit --probe %s" % arguments.out)
    return 0 if asked or arguments.dry_run else 1


def opened(parser, arguments):
    """The card that is asked, or the device that is simulated in its place."""
    if arguments.simulate:
        try:
            return Simulated(arguments.simulate, arguments.gpusched)
        except ProbeError as error:
            parser.error("--simulate %s: %s" % (arguments.simulate, error))
    # The driver is loaded only where a GPU is asked.
    from . import gpu

    return gpu.open_card()


def main(words=None):
    parser = options()
    arguments = parser.parse_args(words)
    if arguments.simulated_as and not arguments.simulate:
        parser.error("--as needs --simulate: a GPU behaves as it does")
    if not 0 < arguments.minutes <= 24 * 60:
        parser.error("--minutes %g: it is to be above 0, and a day at most" % arguments.minutes)
    if not arguments.list and not unused(arguments.out):
        parser.error("--out %s: it is there, and not an empty folder; name another one" % arguments.out)
    try:
        card = opened(parser, arguments)
        experiments = selected(parser, experiments_of(card.card(), card.registers_of), arguments.only)
        answers = behaviours(parser, experiments, arguments.simulated_as)
        if arguments.list:
            print_list(card, experiments)
            return 0
        return ask(arguments, card, experiments, answers)
    except ProbeError as error:
        print("error: %s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; what was asked until then is in %s" % arguments.out, file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
