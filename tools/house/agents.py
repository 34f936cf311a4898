"""Where the source names an agent: files outside the agent's own folder, and tables by agent."""

import ast
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from tools.house.source import Module, Package

FEWEST = 3  # agents that make a table of agents


class AgentTable(NamedTuple):
    """A table that has a row for each of several agents."""

    module: Module
    line: int
    agents: tuple[str, ...]


def files_naming(package: Package, agent: str) -> list[Module]:
    """Return the modules that have the name of an agent as a word, in code, text or comment.

    The agent's own folder is left out: the one of its name in the folder `agents` of the package.
    """
    word = re.compile(rf"\b{re.escape(agent)}\b")
    own = f"{package.name}.agents.{agent}"
    return [
        module
        for name, module in package.modules.items()
        if word.search(module.text) and name != own and not name.startswith(f"{own}.")
    ]


def agent_tables(package: Package, agents: Collection[str]) -> list[AgentTable]:
    """Return the tables with rows for three agents or more.

    Such a table is a dictionary, a set, a list or a tuple at the top level of a module or class, or
    a `match`. A row begins with the agent's name: as a key, an element, a first or `name` argument.
    A name is a text ("gemini", "Gemini CLI") or a member of an enumeration (`Form.GEMINI`).
    """
    found: list[AgentTable] = []
    for module in package.modules.values():
        text = module.text.lower()
        if sum(agent in text for agent in agents) < FEWEST:
            continue
        for line, names in (*_match_rows(module), *_top_rows(module)):
            first_words = (name.lower().partition(" ")[0] for name in names)
            listed = tuple(dict.fromkeys(word for word in first_words if word in agents))
            if len(listed) >= FEWEST:
                found.append(AgentTable(module, line, listed))
    return found


def _match_rows(module: Module) -> Iterator[tuple[int, list[str]]]:
    for node in module.nodes:
        if isinstance(node, ast.Match):
            patterns = [
                value
                for case in node.cases
                for each in ast.walk(case.pattern)
                if isinstance(each, ast.MatchValue)
                for value in _first_text(each.value)
            ]
            yield node.lineno, patterns


def _top_rows(module: Module) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of each assignment at the top level of the module and of its classes."""
    bodies = [module.tree.body]
    bodies += [node.body for node in module.tree.body if isinstance(node, ast.ClassDef)]
    for body in bodies:
        for node in body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                yield node.lineno, list(_rows(node.value))


def _rows(value: ast.expr) -> Iterator[str]:
    match value:
        case ast.Dict(keys=keys, values=values):
            for key, inner in zip(keys, values, strict=True):
                yield from _first_text(key) if key is not None else _rows(inner)
        case ast.List(elts=rows) | ast.Tuple(elts=rows) | ast.Set(elts=rows):
            for row in rows:
                yield from _first_text(row)
        case ast.DictComp() | ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            for generator in value.generators:
                yield from _rows(generator.iter)
        case ast.Call():  # frozenset({…}), dict.fromkeys((…)), "a b c".split()
            for part in (value.func, *value.args):
                yield from _rows(part)
        case ast.Attribute(value=ast.Constant(value=str(text)), attr="split"):
            yield from text.split()
        case ast.BinOp(left=left, right=right):
            yield from _rows(left)
            yield from _rows(right)
        case ast.Starred(value=inner):
            yield from _rows(inner)


def _first_text(row: ast.expr) -> Iterator[str]:
    """Yield the text that a row begins with."""
    match row:
        case ast.Constant(value=str(text)) | ast.Attribute(attr=text):
            yield text
        case ast.Tuple(elts=[first, *_]):
            yield from _first_text(first)
        case ast.Starred(value=inner):
            yield from _rows(inner)
        case ast.Call(args=args, keywords=keywords):
            named = [each.value for each in keywords if each.arg == "name"]
            for first in (named or args)[:1]:
                yield from _first_text(first)
