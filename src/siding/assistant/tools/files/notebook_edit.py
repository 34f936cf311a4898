"""The tool NotebookEdit: change one cell of a notebook."""

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from siding.assistant.tools.files.changes import Changer
from siding.assistant.tools.files.notebook import cells_of, name_of
from siding.assistant.tools.files.paths import PathRefused
from siding.assistant.tools.files.texts import Text
from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.spec import choice, spec_of, text
from siding.shellguard.face import Effect

_INDENT = re.compile(r"\A[^\n]*\n([ \t]+)")
_Cell = dict[str, Any]


class NotebookEdit:
    """Replaces, inserts or deletes a cell."""

    def __init__(self, changer: Changer) -> None:
        self._changer = changer
        self.spec = spec_of(
            __file__,
            "NotebookEdit",
            {
                "notebook_path": text("the notebook"),
                "cell_id": text("the cell"),
                "new_source": text("the cell's text; empty to delete it"),
                "cell_type": choice("its kind (that of the cell)", "code", "markdown"),
                "edit_mode": choice("what is done (replace)", "replace", "insert", "delete"),
            },
            "notebook_path",
            "new_source",
        )

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return False

    def use(self, given: Mapping[str, Any]) -> Use:
        return self._changer.paths.use("NotebookEdit", Effect.WRITES, given["notebook_path"])

    async def run(self, call: Call) -> Result:
        given = call.given
        mode = given.get("edit_mode", "replace")
        changed: list[str] = []

        def step(before: Text) -> Text:
            notebook = cells_of(before.raw)
            if notebook is None:
                raise PathRefused(f"{given['notebook_path']} is not a notebook that is known here.")
            changed.append(_change(notebook, given, mode))
            return before._replace(raw=_written(notebook, before.raw))

        ended = self._changer.rewrite(given["notebook_path"], step)
        if isinstance(ended, Result):
            return ended
        cell = changed[0]
        done = {"replace": "changed", "insert": "made", "delete": "deleted"}[mode]
        return Result(
            f"Cell {cell} of {ended.path} has been {done}.",
            shown=f"cell {cell} {done}",
            details={
                "notebook_path": ended.path,
                "cell_id": cell,
                "edit_mode": mode,
                "new_source": given["new_source"],
                "original_file": ended.before,
                "updated_file": ended.after,
            },
        )


def _change(notebook: _Cell, given: Mapping[str, Any], mode: str) -> str:
    """Change the notebook; return the name of the cell. Raises PathRefused."""
    cells: list[_Cell] = notebook["cells"]
    wanted = given.get("cell_id", "")
    if mode == "insert":
        if "cell_type" not in given:
            raise PathRefused("To insert a cell, say its `cell_type`.")
        at = _position(cells, wanted) + 1 if wanted else 0
        cells.insert(at, _new(notebook, given))
        return name_of(cells[at], at)
    at = _position(cells, wanted)
    cell = cells[at]
    name = name_of(cell, at)
    if mode == "delete":
        del cells[at]
    else:
        _replace(cell, given["new_source"], given.get("cell_type", cell.get("cell_type", "code")))
    return name


def _position(cells: list[_Cell], wanted: str) -> int:
    names = [name_of(cell, number) for number, cell in enumerate(cells)]
    if wanted not in names:
        shown = ", ".join(names[:20]) or "none"
        raise PathRefused(f"There is no cell {wanted!r}; nothing was changed. There are: {shown}")
    return names.index(wanted)


def _replace(cell: _Cell, source: str, kind: str) -> None:
    cell["source"] = _source(source, like=cell.get("source"))
    cell["cell_type"] = kind
    if kind == "code":
        cell |= {"outputs": [], "execution_count": None}
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)


def _new(notebook: _Cell, given: Mapping[str, Any]) -> _Cell:
    cell: _Cell = {"cell_type": given["cell_type"]}
    if (notebook.get("nbformat", 4), notebook.get("nbformat_minor", 0)) >= (4, 5):
        cell["id"] = os.urandom(4).hex()
    cell |= {"metadata": {}, "source": ""}
    _replace(cell, given["new_source"], given["cell_type"])
    cell["source"] = _source(given["new_source"], like=[])
    return cell


def _source(source: str, like: object) -> str | list[str]:
    """Return a text as the notebook stores the other one: whole, or as lines."""
    return source if isinstance(like, str) else source.splitlines(keepends=True)


def _written(notebook: _Cell, before: str) -> str:
    found = _INDENT.match(before)
    indent = found.group(1) if found else None
    end = "\n" if before.endswith("\n") else ""
    return json.dumps(notebook, indent=indent, ensure_ascii=False) + end
