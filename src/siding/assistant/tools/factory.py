"""Making the tools of one conversation."""

from siding.assistant.tools.bounding import Bounded
from siding.assistant.tools.files.changing import Changer
from siding.assistant.tools.files.edit import Edit
from siding.assistant.tools.files.known import KnownFiles
from siding.assistant.tools.files.multi_edit import MultiEdit
from siding.assistant.tools.files.notebook_edit import NotebookEdit
from siding.assistant.tools.files.paths import Paths
from siding.assistant.tools.files.read import Read
from siding.assistant.tools.files.write import Write
from siding.assistant.tools.own.siding import Siding
from siding.assistant.tools.person.ask_user_question import AskUserQuestion
from siding.assistant.tools.person.todo_write import Todos, TodoWrite
from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Tool
from siding.assistant.tools.search.glob import Glob
from siding.assistant.tools.search.grep import Grep
from siding.assistant.tools.search.searching import Searches
from siding.assistant.tools.shell.bash import Bash
from siding.assistant.tools.shell.bash_output import BashOutput
from siding.assistant.tools.shell.kill_shell import KillShell
from siding.assistant.tools.shell.shells import Shells
from siding.assistant.tools.web.web_fetch import WebFetch
from siding.ground.namedtuples import NamedTuple

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
