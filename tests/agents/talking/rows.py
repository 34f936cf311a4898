"""The agents that the conformance suite holds: a row each."""

import sys
import uuid
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.conftest import AgentAtWork, ClaudeAtWork, CodexAtWork, program
from agents.models import Answer, Call, ModelServer
from agents.talking.driver import Driven
from sandbox import Sandbox
from siding.agents.table import OWN
from siding.agents.talking.port import TALKING, Hold, Talking

PICTURE = bytes.fromhex(  # a PNG of one red pixel
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cf"
    "c0000003010100c9fe92ef0000000049454e44ae426082"
)


class Row:
    """How the suite holds one agent."""

    kind: type[AgentAtWork]
    mode = ""  # in which it asks before it changes something
    model = ""  # with which it begins, and another that it takes
    other_model = ""
    effort = ""
    thinks = True  # what the tests' model thinks is shown
    steers_s = 0.5  # after which a steer that was sent has arrived
    # What it writes below the home for itself, as globs: all else has to stay as it was.
    writes: Collection[str] = ()

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def talking(self) -> Talking:
        found = TALKING.of(self.name)
        assert found is not None
        return found

    @property
    def executable(self) -> str | None:
        """The path of its program, None if it is not installed."""
        return program(self.name)

    def workspace(self, sandbox: Sandbox) -> Path:
        """Return the directory in which it works."""
        return sandbox.repo

    def prepare(self, agent: AgentAtWork) -> None:
        """Write what its settings must have for the tests' model server."""

    def options(self, _agent: AgentAtWork) -> Sequence[str]:
        """Return flags that a person would give it."""
        return ()

    def edits(self, _path: Path, _old: str, _new: str) -> Sequence[Answer]:
        """Return the answers with which the model changes a text in a file that is there."""
        return ()

    def asks_person(self, _question: str, _options: Sequence[str]) -> Call | None:
        """Return the call with which the model asks the person something."""
        return None

    asks_person_in = ""  # the mode in which its model can

    def model_of(self, request: Mapping[str, Any]) -> str:
        """Return which model a request is for."""
        return str(request.get("model"))


class ClaudeRow(Row):
    """Claude Code."""

    kind = ClaudeAtWork
    mode = "default"
    other_model = "claude-haiku-4-5"
    writes: Collection[str] = (".claude.json", ".claude/*")

    def edits(self, path: Path, old: str, new: str) -> Sequence[Answer]:
        changed = {"file_path": str(path), "old_string": old, "new_string": new}
        return [[Call("Read", {"file_path": str(path)})], [Call("Edit", changed)]]

    def asks_person(self, question: str, options: Sequence[str]) -> Call:
        offered = [{"label": each, "description": f"It is {each}."} for each in options]
        asked = {"question": question, "header": "Choose", "multiSelect": False}
        return Call("AskUserQuestion", {"questions": [{**asked, "options": offered}]})


class OwnAtWork(ClaudeAtWork):
    """Siding's own agent. It speaks to the same server as Claude Code."""

    name = OWN
    package = "siding"


class OwnRow(ClaudeRow):
    """Siding's own agent, which works in a workspace of a task."""

    kind = OwnAtWork
    model = "anthropic:claude-sonnet-4-5"
    other_model = "anthropic:claude-haiku-4-5"
    writes = ()

    @property
    def executable(self) -> str:
        return str(Path(sys.executable).with_name(OWN))

    def workspace(self, sandbox: Sandbox) -> Path:
        sandbox.siding("task", "start", "talked")
        return sandbox.workspace()

    def model_of(self, request: Mapping[str, Any]) -> str:
        return f"anthropic:{request['model']}"


class CodexRow(Row):
    """The Codex CLI. Its own sandbox is off, as in all tests of it (`CodexAtWork`)."""

    kind = CodexAtWork
    other_model = "gpt-5.4"
    asks_person_in = "plan"
    writes = (
        *(".codex/sessions/*", ".codex/skills/.system/*", ".codex/shell_snapshots/*"),
        *(".codex/*.sqlite", ".codex/*.sqlite-*", ".codex/installation_id", ".codex/tmp/*"),
        *(".codex/thread-writer-locks/*", ".codex/.sandbox_migration", ".codex/models_cache.json"),
    )

    def options(self, agent: AgentAtWork) -> Sequence[str]:
        words = agent.words("")[2:-1]  # without `codex exec` and the prompt
        return [*words, "-a", "untrusted"]  # a thread takes it; the flag and the settings do not

    def edits(self, path: Path, old: str, new: str) -> Sequence[Answer]:
        lines = "".join(f"-{each}\n" for each in old.splitlines())
        lines += "".join(f"+{each}\n" for each in new.splitlines())
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n{lines}*** End Patch\n"
        return [[Call("apply_patch", {"patch": patch})]]

    def asks_person(self, question: str, options: Sequence[str]) -> Call | None:
        offered = [{"label": each, "description": f"{each} it is"} for each in options]
        asked = {"id": "colour", "header": "Colour", "question": question, "options": offered}
        return Call("request_user_input", {"questions": [asked]})


ROWS: Mapping[str, Row] = {each.name: each for each in (ClaudeRow(), OwnRow(), CodexRow())}


class Place:
    """A home and a repository in which one agent is held, and the model that answers it."""

    def __init__(self, row: Row, directory: Path) -> None:
        executable = row.executable
        assert executable is not None
        self.row = row
        self.sandbox = Sandbox(directory)
        self.agent = row.kind(self.sandbox, executable)
        self.model: ModelServer = self.agent.says()
        self.session = str(uuid.uuid4())
        self.driven: list[Driven] = []
        self.workspace = row.workspace(self.sandbox)
        row.prepare(self.agent)

    def hold(self, **fields: Any) -> Hold:
        row = self.row
        return Hold(
            program=(row.name,),
            cwd=self.workspace,
            env=dict(self.sandbox.env),
            directory=str(self.sandbox.directory / "files"),
            options=tuple(row.options(self.agent)),
            model=row.model,
            mode=row.mode,
            effort=row.effort,
            new_session=self.session,
        )._replace(**fields)

    def begin(self, *script: Answer, **fields: Any) -> Driven:
        """Start the agent; the model answers as the script says. It is open when this returns."""
        self.model.says(*script)
        hold = self.hold(**fields)
        env = dict(self.sandbox.env)
        driven = Driven(self.row.talking.opened(hold), hold, env)
        self.driven.append(driven)
        driven.opened()
        return driven

    def go_on(self, *script: Answer, session: str = "") -> Driven:
        """Start it once more, with the conversation that there is."""
        return self.begin(*script, session=session or self.driven[-1].talker.session)

    def close(self) -> None:
        for driven in self.driven:
            if driven.process.returncode is None:
                driven.kill()
        self.agent.close()
