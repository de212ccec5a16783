"""The notebooks run from the first cell to the last, with few points."""

import json
import os
import sys
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("FARFIELD_NOTEBOOKS", Path(__file__).parent.parent / "notebooks"))
NEEDED = {"inverse-problem": ["jax"], "galaxy": ["matplotlib"], "vortex-rings": ["matplotlib"], "point-vortices": ["matplotlib"]}


def test_there_are_notebooks():
    assert len(list(FOLDER.glob("*.ipynb"))) == 6, FOLDER


@pytest.fixture
def restored_globals():
    """Restores the settings that notebooks change for the whole process."""
    yield
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_enable_x64", False)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.usefixtures("restored_globals")
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path, monkeypatch, tmp_path):
    for module in NEEDED.get(path.stem, []):
        pytest.importorskip(module, reason=f"{module} is not installed")
    monkeypatch.setenv("FARFIELD_NOTEBOOK_SCALE", "0.02")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] for cell in cells), "notebooks must be stored without outputs"
    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), names)
