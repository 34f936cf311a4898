"""Where the source names an agent: files outside the agent's own folder, and tables by agent."""

import ast
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple, TypeGuard

from tools.house.source import Module, Package

FEWEST = 3  # agents that make a table of agents
# Here the words are families of models and those who offer them, and two are called as agents are.
# So nothing in these places counts as a table of agents, or as a file that names one.
OF_MODELS = ("assistant.models", "agents.own.providers")
_LITTLE_WORDS = frozenset(
    "a an and are as at be by do for from has in is it its no not of on or other than that the"
    " this to what which who with would".split()
)


class AgentTable(NamedTuple):
    """A table that has a row for each of several agents."""

    module: Module
    line: int
    agents: tuple[str, ...]


def files_naming(package: Package, agent: str) -> list[Module]:
    """Return the modules that have the name of an agent as a word, in code, text or comment.

    Left out are the agent's own folder, the one of its name in the folder `agents` of the package,
    and the places of models.
    """
    word = re.compile(rf"\b{re.escape(agent)}\b")
    own = f"{package.name}.agents.{agent}"
    return [
        module
        for name, module in package.modules.items()
        if word.search(module.text) and not _is_in(name, own) and not _is_of_models(package, name)
    ]


def files_using(package: Package, agent: str) -> list[Module]:
    """Return the modules whose code names an agent: what it does may depend on the name.

    A comment, a docstring and a sentence in a text only tell a reader of it. Code are identifiers,
    imports, and texts without any of the little words that a sentence has: names, paths and lists
    of them.
    """
    own = f"{package.name}.agents.{agent}"
    return [
        module
        for name, module in package.modules.items()
        if agent in module.text.lower()
        and not _is_in(name, own)
        and not _is_of_models(package, name)
        and any(agent in re.split(r"[\W_]+", word.lower()) for word in _words_of_code(module))
    ]


def _is_in(name: str, folder: str) -> bool:
    return name == folder or name.startswith(f"{folder}.")


def _is_of_models(package: Package, name: str) -> bool:
    return any(_is_in(name, f"{package.name}.{each}") for each in OF_MODELS)


def _words_of_code(module: Module) -> Iterator[str]:
    parts = {
        id(part)
        for node in module.nodes
        if isinstance(node, ast.JoinedStr)
        if _is_sentence("".join(str(each.value) for each in node.values if _is_text(each)))
        for part in node.values
    }
    for node in module.texts:
        if id(node) not in parts and not _is_sentence(str(node.value)):
            yield str(node.value)
    for each in module.nodes:
        match each:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.FunctionDef(name=word):
                yield word
            case ast.ClassDef(name=word) | ast.alias(name=word) | ast.ImportFrom(module=str(word)):
                yield word
            case ast.arg():
                yield each.arg
            case ast.keyword():
                yield each.arg or ""


def _is_sentence(text: str) -> bool:
    return not _LITTLE_WORDS.isdisjoint(text.lower().split())


def _is_text(node: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant)


def agent_tables(package: Package, agents: Collection[str]) -> list[AgentTable]:
    """Return the tables with rows for three agents or more.

    Such a table is a dictionary, a set, a list or a tuple at the top level of a module or class, or
    a `match`. A row begins with the agent's name: as a key, an element, a first or `name` argument.
    A name is a text ("gemini", "Gemini CLI") or a member of an enumeration (`Form.GEMINI`).
    """
    found: list[AgentTable] = []
    for name, module in package.modules.items():
        if _is_of_models(package, name):
            continue
        if sum(agent in module.text.lower() for agent in agents) < FEWEST:
            continue
        for line, texts in (*_match_rows(module), *_top_rows(module)):
            first_words = (text.lower().partition(" ")[0] for text in texts)
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
