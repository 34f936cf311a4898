"""Jupyter notebooks: reading their cells, for the tools Read and NotebookEdit."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from siding.assistant.tools.port import Block, Result

_MOST_OUTPUT = 10_000  # characters of the outputs of a cell
_MOST_SHOWN = 100_000  # characters of all cells
_MOST_PICTURES = 20
_PICTURES = ("image/png", "image/jpeg")


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
            blocks.append(_text(f"({rest} more cells are not shown. Look at them with `jq`.)"))
            break
        size += len(text)
        blocks.append(_text(text))
        for image in images[: _MOST_PICTURES - pictures]:
            blocks.append(image)
            pictures += 1
        cells.append(_described(cell, number))
    details = {"type": "notebook", "file": {"filePath": str(path), "cells": cells}}
    content = tuple(blocks) or (_text("(The notebook has no cells.)"),)
    return Result(content, shown=f"{len(found['cells'])} cells", details=details)


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
        text = f"{text[:_MOST_OUTPUT]}… ({len(text) - _MOST_OUTPUT} more characters)"
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
