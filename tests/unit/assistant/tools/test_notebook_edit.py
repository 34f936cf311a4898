"""The tool NotebookEdit."""

import json
from pathlib import Path
from typing import Any

import pytest

from siding.assistant.tools.place import Place
from unit.assistant.tools.setting import Bench, place_in, with_tools


def _notebook(place: Place, **more: Any) -> str:
    cells = [
        {"cell_type": "markdown", "id": "m", "metadata": {}, "source": ["# T\n", "é"]},
        {
            "cell_type": "code",
            "id": "c",
            "metadata": {"keep": 1},
            "source": "1+1",
            "outputs": [{"output_type": "stream", "text": "2"}],
            "execution_count": 3,
        },
    ]
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    (place.workspace / "n.ipynb").write_text(text)
    return text


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return place_in(tmp_path)


def test_cells_are_replaced_made_and_deleted(place: Place) -> None:
    before = _notebook(place)
    file = place.workspace / "n.ipynb"

    async def act(at: Bench) -> None:
        async def edit(**given: Any) -> list[dict[str, Any]]:
            await at.text("NotebookEdit", notebook_path="n.ipynb", **given)
            cells: list[dict[str, Any]] = json.loads(file.read_text())["cells"]
            return cells

        unread = await at.error(
            "NotebookEdit", notebook_path="n.ipynb", cell_id="c", new_source="x"
        )
        assert "not been read" in unread
        await at.call("Read", file_path="n.ipynb")
        cells = await edit(cell_id="c", new_source="a\nb")
        assert cells[1] == {
            "cell_type": "code",
            "id": "c",
            "metadata": {"keep": 1},
            "source": "a\nb",
            "outputs": [],
            "execution_count": None,
        }
        unchanged = before.partition('"id": "c"')[0]
        assert file.read_text().startswith(unchanged)
        assert file.read_text().endswith("}\n")
        cells = await edit(cell_id="m", new_source="x\ny", cell_type="markdown", edit_mode="insert")
        assert (cells[1]["source"], cells[1]["cell_type"]) == (["x\n", "y"], "markdown")
        assert cells[1]["id"] not in ("m", "c")
        cells = await edit(new_source="0", cell_type="code", edit_mode="insert")
        assert (cells[0]["source"], cells[0]["outputs"]) == (["0"], [])
        cells = await edit(cell_id="m", new_source="", edit_mode="delete")
        assert [each.get("id") for each in cells][2:] == ["c"]
        cells = await edit(cell_id="c", new_source="text", cell_type="markdown")
        assert "outputs" not in cells[-1]

    with_tools(place, act)


def test_cells_of_older_notebooks_have_numbers(place: Place) -> None:
    cells = [{"cell_type": "code", "metadata": {}, "source": [], "outputs": []}]
    _notebook(place, cells=cells, nbformat_minor=4)

    async def act(at: Bench) -> None:
        await at.call("Read", file_path="n.ipynb")
        given = {"notebook_path": "n.ipynb", "new_source": "x"}
        await at.text("NotebookEdit", cell_id="cell-0", **given)
        await at.text("NotebookEdit", edit_mode="insert", cell_type="code", **given)
        found = json.loads((at.root / "n.ipynb").read_text())["cells"]
        assert [each["source"] for each in found] == [["x"], ["x"]]
        assert "id" not in found[0]
        assert "There are: cell-0, cell-1" in await at.error("NotebookEdit", cell_id="q", **given)
        assert "cell_type" in await at.error("NotebookEdit", edit_mode="insert", **given)

    with_tools(place, act)


def test_what_is_no_notebook_stays_as_it_is(place: Place) -> None:
    (place.workspace / "n.ipynb").write_text("[]")

    async def act(at: Bench) -> None:
        await at.call("Read", file_path="n.ipynb")
        assert "not a notebook" in await at.error(
            "NotebookEdit", notebook_path="n.ipynb", new_source="x", cell_id="c"
        )

    with_tools(place, act)
    assert (place.workspace / "n.ipynb").read_text() == "[]"
