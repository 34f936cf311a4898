"""Jupyter notebooks: cells as Read shows them, and the tool NotebookEdit, which changes one."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from siding.assistant.tools.files.changes import Changer
from siding.assistant.tools.files.paths import PathRefused
from siding.assistant.tools.files.texts import Text
from siding.assistant.tools.port import Block, Call, Result, Use
from siding.assistant.tools.spec import choice, spec_of, text
from siding.ground.errors import counted
from siding.shellguard.face import Effect

_MOST_OUTPUT = 10_000  # characters of the outputs of a cell
_MOST_SHOWN = 100_000  # characters of all cells
_MOST_PICTURES = 20
_PICTURES = ("image/png", "image/jpeg")
_INDENT = re.compile(r"\A[^\n]*\n([ \t]+)")
_Cell = dict[str, Any]


def cells_of(data: bytes | str) -> dict[str, Any] | None:
    """Return a notebook as it is stored; None if it is not one (of format 4)."""
    try:
        found = json.loads(data)
    except ValueError:
        return None
    if not isinstance(found, dict) or not isinstance(found.get("cells"), list):
        return None
    return found if all(isinstance(cell, dict) for cell in found["cells"]) else None


def name_of(cell: Mapping[str, Any], number: int) -> str:
    """Return what a cell is called: its id; cells of older notebooks have a number."""
    return str(cell.get("id") or f"cell-{number}")


def joined(value: object) -> str:
    """Return a text that a notebook stores whole or as lines."""
    if isinstance(value, list):
        return "".join(str(each) for each in value)
    return value if isinstance(value, str) else ""


def shown_notebook(path: Path, data: bytes) -> Result | None:
    """Return the result that shows a notebook; None if it is none."""
    found = cells_of(data)
    if found is None:
        return None
    blocks: list[Block] = []
    size = pictures = 0
    cells: list[dict[str, Any]] = []
    for number, cell in enumerate(found["cells"]):
        text, images = _cell(cell, number)
        if size + len(text) > _MOST_SHOWN:
            rest = len(found["cells"]) - number
            blocks.append(
                _text(f"(Not shown: {counted(rest, 'more cell')}. Look at them with `jq`.)")
            )
            break
        size += len(text)
        blocks.append(_text(text))
        for image in images[: _MOST_PICTURES - pictures]:
            blocks.append(image)
            pictures += 1
        cells.append(_described(cell, number))
    details = {"type": "notebook", "file": {"filePath": str(path), "cells": cells}}
    content = tuple(blocks) or (_text("(The notebook has no cells.)"),)
    return Result(content, shown=counted(len(found["cells"]), "cell"), details=details)


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _cell(cell: Mapping[str, Any], number: int) -> tuple[str, list[Block]]:
    kind = cell.get("cell_type", "code")
    text = f'<cell id="{name_of(cell, number)}" type="{kind}">{joined(cell.get("source"))}</cell>'
    outputs = cell.get("outputs")
    printed, images = _outputs(outputs if isinstance(outputs, list) else [])
    if printed:
        text += f"\n<output>\n{printed}\n</output>"
    return text, images


def _outputs(outputs: Sequence[Any]) -> tuple[str, list[Block]]:
    texts: list[str] = []
    images: list[Block] = []
    for output in outputs:
        if not isinstance(output, dict):
            continue
        match output.get("output_type"):
            case "stream":
                texts.append(joined(output.get("text")))
            case "error":
                texts.append(f"{output.get('ename', 'Error')}: {output.get('evalue', '')}")
                texts.append(joined([f"{line}\n" for line in output.get("traceback") or ()]))
            case _:
                data = output.get("data")
                data = data if isinstance(data, dict) else {}
                texts.append(joined(data.get("text/plain")))
                images += [_image(kind, joined(data[kind])) for kind in _PICTURES if kind in data]
    text = "\n".join(each.rstrip("\n") for each in texts if each)
    if len(text) > _MOST_OUTPUT:
        text = f"{text[:_MOST_OUTPUT]}… ({counted(len(text) - _MOST_OUTPUT, 'more character')})"
    return text, images


def _image(kind: str, coded: str) -> Block:
    source = {"type": "base64", "media_type": kind, "data": "".join(coded.split())}
    return {"type": "image", "source": source}


def _described(cell: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {
        "cell_id": name_of(cell, number),
        "cellType": cell.get("cell_type", "code"),
        "source": joined(cell.get("source")),
    }


# -- The tool NotebookEdit -------------------------------------------------------------------------


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
