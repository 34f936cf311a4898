"""Making the tools of one conversation."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.assistant.tools.ask_user_question import AskUserQuestion
from siding.assistant.tools.bash import Bash, BashOutput, KillShell
from siding.assistant.tools.files.changes import Changer
from siding.assistant.tools.files.contents import KnownFiles
from siding.assistant.tools.files.edit import Edit, MultiEdit, Write
from siding.assistant.tools.files.notebook import NotebookEdit
from siding.assistant.tools.files.paths import Paths
from siding.assistant.tools.files.read import Read
from siding.assistant.tools.place import Place, file_name
from siding.assistant.tools.port import Call, Result, Tool, ToolSpec, Use
from siding.assistant.tools.search.glob import Glob
from siding.assistant.tools.search.grep import Grep
from siding.assistant.tools.search.ripgrep import Searches
from siding.assistant.tools.shells import Shells
from siding.assistant.tools.siding import Siding
from siding.assistant.tools.spec import failed
from siding.assistant.tools.todo_write import Todos, TodoWrite
from siding.assistant.tools.web_fetch import WebFetch
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple

# -- What holds for every tool: results that are too large are stored, errors are results ----------


MOST_RESULT = 30_000  # characters
_PREVIEW = 2_000


class Bounded:
    """A tool whose results are never too large, and which does not raise OSError.

    A larger result is stored in a file of `Place.results`, and its beginning is given with the
    path. `Result.details` names it as Claude Code does: ``persistedOutputPath`` and
    ``persistedOutputSize``, so that what the model saw can be told from what there was.
    """

    def __init__(self, tool: Tool, place: Place) -> None:
        self._tool = tool
        self._place = place

    @property
    def spec(self) -> ToolSpec:
        return self._tool.spec

    def is_safe(self, given: Mapping[str, Any]) -> bool:
        return self._tool.is_safe(given)

    def use(self, given: Mapping[str, Any]) -> Use:
        return self._tool.use(given)

    async def run(self, call: Call) -> Result:
        try:
            result = await self._tool.run(call)
        except OSError as error:
            return failed(f"{self.spec.name} failed: {error.strerror or error}")
        return fitted(self._place, call, result)


def fitted(place: Place, call: Call, result: Result) -> Result:
    """Return the result, with a preview and a path in the place of a text that is too large."""
    text = result.content
    if not isinstance(text, str) or len(text) <= MOST_RESULT:
        return result
    path = _stored(place.results / f"{file_name(call.id)}.txt", text)
    if path is None:
        cut = f"{text[:MOST_RESULT]}\n[… {counted(len(text) - MOST_RESULT, 'more character')}]"
        return result._replace(content=cut)
    preview = text[:_PREVIEW].rpartition("\n")[0] or text[:_PREVIEW]
    content = (
        f"The result is large ({len(text):,} characters) and was stored in {path}. Look there with "
        f"Read (offset and limit) or Grep. It begins:\n\n{preview}\n…"
    )
    kept = {"persistedOutputPath": str(path), "persistedOutputSize": len(text)}
    return result._replace(content=content, details={**result.details, **kept})


def _stored(path: Path, text: str) -> Path | None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text, "utf-8", errors="surrogateescape")
    except OSError:
        return None
    return path


# -- Making the tools of one conversation ----------------------------------------------------------


# Their results are as large as they may be already, or are parts of a file that is there.
_FIT_BY_THEMSELVES = frozenset({"Read", "Bash", "BashOutput"})


class Memory(NamedTuple):
    """What the tools of a conversation remember from call to call."""

    files: KnownFiles
    shells: Shells
    searches: Searches
    todos: Todos

    @classmethod
    def of(cls, place: Place) -> "Memory":
        """Return the memory of a conversation that begins."""
        return cls(KnownFiles(), Shells(place), Searches(place), Todos())

    async def close(self) -> None:
        """End all commands that still run. Call it when the conversation ends, in any case."""
        await self.shells.close()


def tools_of(place: Place, memory: Memory) -> dict[str, Tool]:
    """Return the tools by their names. Needs a running event loop when they are used."""
    paths = Paths(place)
    changer = Changer(paths, memory.files)
    tools: tuple[Tool, ...] = (
        Read(paths, memory.files),
        Write(changer),
        Edit(changer),
        MultiEdit(changer),
        NotebookEdit(changer),
        Glob(place, paths, memory.searches),
        Grep(place, paths, memory.searches),
        Bash(place, memory.shells),
        BashOutput(memory.shells, memory.searches),
        KillShell(memory.shells),
        WebFetch(place),
        TodoWrite(memory.todos),
        AskUserQuestion(place),
        Siding(place),
    )
    return {
        tool.spec.name: tool if tool.spec.name in _FIT_BY_THEMSELVES else Bounded(tool, place)
        for tool in tools
    }
