"""Which program is judged by what: one table, by name.

Which programs are agents is known outside the policy: the place a command is judged in says it.
"""

from collections.abc import Callable, Container
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from siding.shellguard.fields import ANYTHING, PrintedText
from siding.shellguard.names import ordered
from siding.shellguard.programs import plain
from siding.shellguard.programs.rows import MODULE_OF, Row, has_row, row_from, row_of

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call

Judge = Callable[["Examiner", "Call"], PrintedText]

_SYSTEM_DIRECTORIES = ordered("""
    /bin/ /usr/bin/ /usr/local/bin/ /sbin/ /usr/sbin/ /usr/local/sbin/ /opt/homebrew/bin/
    /opt/local/bin/ /lib/ /lib64/
""")


def known_program(name: str, agents: Container[str]) -> bool:
    """Return whether the policy knows a program of this name."""
    return has_row(name) or name in agents


def _judge_of(name: str, agents: Container[str]) -> Judge | None:
    if name in agents:
        return _agent
    row = row_of(name)
    return None if row is None else lambda examiner, call: _by_row(examiner, call, row)


def _agent(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge the start of an agent: its prompt is text, and what it then does is recorded and judged
    by itself. How it is guarded is the choice of a person, and no other agent's."""
    row = row_of(call.name) if examiner.place.by_agent else None
    return ANYTHING if row is None else _by_row(examiner, call, row)


def _by_row(examiner: "Examiner", call: "Call", row: Row) -> PrintedText:
    if row.code:
        function, *like = row.code
        found: Judge = getattr(_module(MODULE_OF[function]), function)
        return found(examiner, call._replace(words=(*like, *call.arguments)) if like else call)
    judge_row: Callable[..., PrintedText] = _module("by_row").judge_row  # not every run needs it
    return judge_row(examiner, call, row)


@cache
def _module(name: str) -> ModuleType:
    return import_module(f"siding.shellguard.programs.{name}")


def judge(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge one program by its name, or by where it lies; and by the person's own row for it."""
    name = call.name
    own = examiner.policy.programs.get(name)
    found = _judge_of(name, examiner.place.agents)
    if own is None:
        return _judged(examiner, call, found)
    if found is not None or "/" in call.words[0]:
        _judged(examiner, call, found)
    return _by_row(examiner, call, row_from(own, (name,)))


def _judged(examiner: "Examiner", call: "Call", found: Judge | None) -> PrintedText:
    first = call.words[0]
    if "/" not in first:
        return plain.unknown(examiner, call) if found is None else found(examiner, call)
    if first.startswith(_SYSTEM_DIRECTORIES) and first.rpartition("/")[0] + "/" in (
        *_SYSTEM_DIRECTORIES,
        "/lib/x86_64-linux-gnu/",
        "/lib/aarch64-linux-gnu/",
    ):
        return found(examiner, call) if found is not None else plain.unknown(examiner, call)
    output = plain.workspace_program(examiner, call)
    return output if found is None else found(examiner, call)
