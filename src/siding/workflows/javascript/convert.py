"""Translate a whole JavaScript workflow into a Python one. Pure."""

from siding.ground.namedtuples import NamedTuple
from siding.workflows.child.body import compile_body
from siding.workflows.javascript.assigned import Assigned
from siding.workflows.javascript.errors import JavaScriptError
from siding.workflows.javascript.generated import HELPERS, with_needed
from siding.workflows.javascript.nodes import Meta
from siding.workflows.javascript.parser import Program, parse
from siding.workflows.javascript.statements import StatementTranslator
from siding.workflows.javascript.translator import Place


class Converted(NamedTuple):
    """The Python form of a script, and what a person has to do or look at, by line of the JS."""

    source: str
    translated: int
    left: tuple[Place, ...]
    notes: tuple[Place, ...]


def convert(source: str, file: str) -> Converted:
    """Translate a script. Raises JavaScriptError with line and column if it cannot be read.

    What comes out is Python; each statement that is not translated raises an error that names it.
    """
    program = parse(source)
    translator = StatementTranslator(source, Assigned(program.statements))
    try:
        lines = _script(translator, program, file)
        text = "\n".join(lines).rstrip() + "\n"
        compile_body(text, file)
    except RecursionError:
        raise JavaScriptError("the script is nested too deeply", 1, 1) from None
    except (SyntaxError, ValueError) as error:
        raise JavaScriptError(f"what came out is not Python ({error})", 1, 1) from None
    return Converted(
        source=text,
        translated=translator.translated,
        left=tuple(translator.left),
        notes=tuple(sorted(translator.notes)),
    )


def _script(translator: StatementTranslator, program: Program, file: str) -> list[str]:
    first = [one for one in program.statements if isinstance(one.what, Meta)][:1]
    rest = tuple(one for one in program.statements if one not in first)
    head = [line for one in first for line in translator.statement(one)]
    body = translator.body(rest)
    tail = [f"# {line}".rstrip() for one in program.comments for line in one.text.splitlines()]
    helpers = with_needed(translator.helpers)
    modules = translator.modules.union(*(HELPERS[name].modules for name in helpers))
    return [
        f"# Converted from {file} by `siding workflow convert`.",
        *(["", *head] if head else []),
        *(["", *(f"import {name}" for name in sorted(modules))] if modules else []),
        *(line for name in helpers for line in ["", "", *HELPERS[name].code.splitlines()]),
        *(["", ""] if helpers else [""]),
        *_spaced(body),
        *tail,
    ]


def _spaced(lines: list[str]) -> list[str]:
    """Return the lines of a script with room before its functions."""
    found: list[str] = []
    for line in lines:
        if line.startswith(("def ", "async def ")):
            comments = len(found)
            while comments and found[comments - 1].startswith("#"):
                comments -= 1
            if comments and found[comments - 1]:
                found.insert(comments, "")
        found.append(line)
    return found
