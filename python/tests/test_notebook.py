"""The notebook of docs/ runs, and shows what is stored in it."""

import re

import nbformat
from conftest import ROOT
from nbclient import NotebookClient

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def outputs(notebook, pictures):
    """What cells give that are tagged as pictures, or what those give that are not."""
    for cell in notebook.cells:
        if ("picture" in cell.metadata.get("tags", [])) == pictures:
            yield from cell.get("outputs", [])


def texts(notebook):
    """What cells print and show as text, pictures aside."""
    return [output.get("text") or output.get("data", {}).get("text/plain") for output in outputs(notebook, False)]


def test_the_notebook_runs_and_comes_out_as_it_is_stored():
    stored = nbformat.read(NOTEBOOK, as_version=4)
    again = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(again, timeout=300, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    assert texts(again) == texts(stored)
    assert sum(len(text) > 0 for text in texts(stored)) >= 8
    assert not list(outputs(stored, True))
    pictures = [output.data for output in outputs(again, True)]
    assert len(pictures) == 2
    assert all(data["image/svg+xml"].startswith("<svg") and "<iframe" in data["text/html"] for data in pictures)


def test_the_stored_notebook_names_nothing_of_a_machine():
    text = NOTEBOOK.read_text()
    assert not re.search(r"/(home|root|tmp|work|usr|Users)/", text)
