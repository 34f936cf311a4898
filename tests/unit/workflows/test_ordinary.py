"""Ordinary Python works in a script, and means there what it means in Python."""

import asyncio
import builtins
import json
from pathlib import Path
from textwrap import indent
from typing import Any

from siding.workflows.child.body import body_of, compile_body
from siding.workflows.script import read_script
from unit.workflows.ordinary import SNIPPETS
from unit.workflows.world import run_script


async def _agent(prompt: str) -> str:
    return f"done:{prompt}"


def in_python(snippet: str) -> Any:
    """Return what a snippet returns in Python itself."""
    names: dict[str, Any] = {
        "__builtins__": {
            **vars(builtins),
            "__format_of__": getattr,
            "print": lambda *_, **__: None,
        },
        "__name__": __name__,
        "agent": _agent,
    }
    return asyncio.run(body_of(compile_body(snippet, "<x>"), names)())


def test_each_of_them_alone_passes_the_check() -> None:
    assert len(SNIPPETS) >= 130
    for snippet in SNIPPETS:
        assert read_script(snippet).warnings == () or "gather" in snippet


def test_all_of_them_mean_what_they_mean_in_python(tmp_path: Path) -> None:
    """In one script, each as a function of its own."""
    functions, calls = [], []
    for number, snippet in enumerate(SNIPPETS):
        body = "\n".join(line for line in snippet.splitlines() if "__future__" not in line)
        functions.append(f"async def snippet{number}():\n{indent(body, '    ')}\n")
        calls.append(f"await told(snippet{number})")
    told = (
        "async def told(f):\n    try:\n        return await f()\n"
        "    except Exception as error:\n        return repr(error)\n"
    )
    source = "from __future__ import annotations\n" + told + "\n".join(functions)
    source += f"\nreturn [{', '.join(calls)}]"
    agents = {"*": "done:<prompt>"}
    ran = run_script(tmp_path / "journal.jsonl", source, agents)
    assert ran.done.status == "completed", ran.done
    wrong = [
        (snippet, value, expected)
        for snippet, value in zip(SNIPPETS, ran.done.value, strict=True)
        if value != (expected := json.loads(json.dumps(in_python(snippet), default=list)))
    ]
    assert wrong == []
