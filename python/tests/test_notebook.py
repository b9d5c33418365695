"""The notebook of docs/ runs, and shows what is stored in it."""

import re

import nbformat
from conftest import ROOT
from nbclient import NotebookClient

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def texts(notebook):
    """What cells print and show as text and as pictures."""
    shown = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            shown.append(output.get("text") or [data.get("text/plain"), data.get("image/svg+xml")])
    return shown


def test_the_notebook_runs_and_comes_out_as_it_is_stored():
    stored = nbformat.read(NOTEBOOK, as_version=4)
    again = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(again, timeout=300, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    assert texts(again) == texts(stored)
    assert sum(len(texts) > 0 for texts in texts(stored)) >= 8


def test_the_stored_notebook_names_nothing_of_a_machine():
    text = NOTEBOOK.read_text()
    assert not re.search(r"/(home|root|tmp|work|usr|Users)/", text)
