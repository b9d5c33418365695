"""Writes the Python of docs/python.md and of the notebook as modules: python examples.py FOLDER."""

import json
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def main(folder):
    cells = json.loads((DOCS / "notebook.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "code"]
    Path(folder, "notebook.py").write_text("\n".join(code))
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text(), re.DOTALL)):
        Path(folder, f"example_{number}.py").write_text(block)


if __name__ == "__main__":
    main(sys.argv[1])
