"""Real agents, with homes of their own and a model server of the tests'."""

import json
import os
import shutil
import subprocess
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.models import Answer, Call, Elsewhere, ModelServer
from sandbox import SIDING, Sandbox

# Where `run.py test` installs them.
INSTALLED = Path(__file__).parents[2] / ".venv" / "agents" / "node_modules" / ".bin"


def program(name: str) -> str | None:
    """Return the path of an agent's program, None if it is not installed."""
    return shutil.which(name, path=os.pathsep.join([str(INSTALLED), os.environ.get("PATH", "")]))


class AgentAtWork:
    """An agent in a task, and the model that answers it."""

    name: str
    package: str  # of npm; an agent that is not there has a twin (`aider_twin.py`) in place of this
    needs_root = False  # to report
    has_transcript = True  # a file of each conversation
    names_calls = True  # its hook has the id that the call has in the transcript
    writes_compactions = False  # what a compaction has used is in the transcript
    # In the middle of what it tells that a person has interrupted it.
    tells_interrupts: Collection[str] = ("answer", "command")
    interrupts: Sequence[bytes] = (b"\x1b",)  # the keys with which a person does
    interrupted = "nterrupted"  # is on its screen then
    ready = "? for shortcuts"  # is on its screen when it can be given a prompt
    quits = "/quit"

    def __init__(self, task: Sandbox, executable: str) -> None:
        self.task = task
        self.model: ModelServer | None = None
        self.settings = Path(task.env["HOME"]) / f".{self.name}"  # the person's own, of the agent
        self.settings.mkdir()
        task.env["PATH"] = os.pathsep.join([str(Path(executable).parent), task.env["PATH"]])

    def words(self, prompt: str) -> list[str]:
        """Return the command line that has one prompt answered, and ends."""
        raise NotImplementedError

    def again(self, session: str, prompt: str) -> list[str]:
        """Return the command line that goes on with a conversation; "" is the newest one."""
        raise NotImplementedError

    def interactive(self) -> list[str]:
        """Return the command line of its screen, on which it asks nothing before a prompt."""
        raise NotImplementedError

    def shell(self, command: str) -> Call:
        """Return the call with which the model runs a command."""
        raise NotImplementedError

    def writes(self, path: Path) -> Call:
        """Return the call of its own tool with which the model makes a file."""
        raise NotImplementedError

    def helper(self, prompt: str) -> Sequence[Call]:
        """Return the calls, one after the other, with which the model has a helper do something."""
        raise NotImplementedError

    def helped(self, prompt: str, *script: Answer) -> Elsewhere:
        """Return what the model says to that helper."""
        return {prompt: [*script, ["There are two."]]}

    def tool(self, name: str, **fields: object) -> Call:
        """Return the call of one of Siding's tools."""
        return Call(f"mcp__siding__{name}", fields)

    def says(self, *script: Answer, elsewhere: Elsewhere | None = None) -> ModelServer:
        """Have the model answer so, from now on."""
        if self.model is not None:
            self.model.close()
        self.model = ModelServer(script, elsewhere)
        return self.model

    def prompt(self, prompt: str, *more: str, options: Sequence[str] = ()) -> str:
        """Have one prompt answered; return what was printed."""
        words = [*self.words(prompt), *more]
        return self.task.siding("run", *options, "--", *words, timeout=100).stdout.decode()

    def goes_on(self, session: str, prompt: str, *, options: Sequence[str] = ()) -> str:
        """Have one more prompt of a conversation answered; return what Siding says of it."""
        words = self.again(session, prompt)
        done = self.task.siding("run", *options, "--", *words, timeout=100)
        return done.stderr.decode()

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The steps of the task that are turns, oldest first."""
        return [step for step in self.task.steps() if step.get("origin") == "turn"]

    @property
    def run(self) -> dict[str, Any]:
        """The newest step that is a run."""
        return [step for step in self.task.steps() if step["kind"] == "run"][-1]

    def close(self) -> None:
        if self.model is not None:
            self.model.close()


class ClaudeAtWork(AgentAtWork):
    """Claude Code."""

    name = "claude"
    package = "@anthropic-ai/claude-code"
    tells_interrupts = ()

    def __init__(self, task: Sandbox, executable: str) -> None:
        super().__init__(task, executable)
        task.env |= {
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ANTHROPIC_API_KEY": "sk-ant-of-a-test",
        }

    def says(self, *script: Answer, elsewhere: Elsewhere | None = None) -> ModelServer:
        model = super().says(*script, elsewhere=elsewhere)
        self.task.env["ANTHROPIC_BASE_URL"] = model.url
        return model

    def words(self, prompt: str) -> list[str]:
        return ["claude", "-p", prompt, "--allowedTools", "Bash Write Edit Read"]

    def again(self, session: str, prompt: str) -> list[str]:
        named = ["--resume", session] if session else ["--continue"]
        return [*self.words(prompt), *named]

    def interactive(self) -> list[str]:
        state = {
            "hasCompletedOnboarding": True,
            "customApiKeyResponses": {"approved": [self.task.env["ANTHROPIC_API_KEY"][-20:]]},
            "projects": {
                str(each): {"hasTrustDialogAccepted": True}
                for each in (self.task.repo, self.task.workspace())
            },
        }
        (Path(self.task.env["HOME"]) / ".claude.json").write_text(json.dumps(state))
        mode = ["--permission-mode", "default"]  # the usual one asks a model about each call
        return ["claude", *mode, "--allowedTools", "Bash Write Edit Read"]

    def shell(self, command: str) -> Call:
        return Call("Bash", {"command": command, "description": "as asked"})

    def writes(self, path: Path) -> Call:
        return Call("Write", {"file_path": str(path), "content": "written\n"})

    def configure(self, settings: dict[str, Any]) -> Path:
        """Write the person's own settings of Claude Code."""
        path = self.settings / "settings.json"
        path.write_text(json.dumps(settings))
        return path

    def talk(self, *options: str) -> "Conversation":
        """Begin a conversation of several prompts in one run."""
        return Conversation(self, options)


class CodexAtWork(AgentAtWork):
    """The Codex CLI. Its own sandbox is off: it has its own tests, and needs rights we may lack."""

    name = "codex"
    ready = "Ask Codex"
    writes_compactions = True
    package = "@openai/codex"
    more = ""  # settings of its provider

    def __init__(self, task: Sandbox, executable: str) -> None:
        super().__init__(task, executable)
        task.env["OF_A_TEST"] = "sk-of-a-test"

    def words(self, prompt: str) -> list[str]:
        return ["codex", "exec", *self._settings(), prompt]

    def interactive(self) -> list[str]:
        trusted = json.dumps(str(self.task.repo))
        trust = f'projects={{{trusted}={{trust_level="trusted"}}}}'
        # Of a model that it knows it asks whether a newer one would not be better.
        return ["codex", *self._settings("a-model"), "-c", trust]

    def _settings(self, name: str = "gpt-5.5") -> list[str]:
        assert self.model is not None
        provider = {"name": "test", "base_url": f"{self.model.url}/v1", "env_key": "OF_A_TEST"}
        fields = ",".join(f"{name}={json.dumps(value)}" for name, value in provider.items())
        settings = [
            'model_provider="test"',
            f'model_providers.test={{{fields},wire_api="responses"{self.more}}}',
            f'model="{name}"',
            "analytics.enabled=false",
            "model_auto_compact_token_limit=200000",
        ]
        given = [word for each in settings for word in ("-c", each)]
        off = ["--disable", "plugins", "--disable", "apps", "--enable", "multi_agent_v2"]
        return ["-s", "danger-full-access", *given, *off]

    def again(self, session: str, prompt: str) -> list[str]:
        return [*self.words(prompt)[:-1], "resume", session or "--last", prompt]

    def shell(self, command: str) -> Call:
        return Call("exec_command", {"cmd": command})

    def writes(self, path: Path) -> Call:
        patch = f"*** Begin Patch\n*** Add File: {path}\n+written\n*** End Patch\n"
        return Call("apply_patch", {"patch": patch})

    def helper(self, prompt: str) -> Sequence[Call]:
        started = {"task_name": "counting", "message": prompt}
        return [
            Call(f"collaboration__{name}_agent", fields)
            for name, fields in (("spawn", started), ("wait", {}))
        ]

    def helped(self, prompt: str, *script: Answer) -> Elsewhere:
        # The prompt is enciphered; this is what any helper is told.
        return super().helped("You are an agent in a team", *script)


class GeminiAtWork(AgentAtWork):
    """The Gemini CLI. It takes hooks for one run from root alone."""

    name = "gemini"
    interrupted = "Request cancelled"
    ready = "Type your message"
    package = "@google/gemini-cli"
    needs_root = True
    names_calls = False
    tells_interrupts = ("answer",)

    def __init__(self, task: Sandbox, executable: str) -> None:
        super().__init__(task, executable)
        task.env |= {"GEMINI_API_KEY": "of-a-test", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        }
        (self.settings / "settings.json").write_text(json.dumps(settings))

    def says(self, *script: Answer, elsewhere: Elsewhere | None = None) -> ModelServer:
        model = super().says(*script, elsewhere=elsewhere)
        self.task.env["GOOGLE_GEMINI_BASE_URL"] = model.url
        return model

    def words(self, prompt: str) -> list[str]:
        return [*self.interactive(), "-p", prompt]

    def interactive(self) -> list[str]:
        return ["gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo"]

    def again(self, session: str, prompt: str) -> list[str]:
        return [*self.words(prompt), "--resume", session or "latest"]

    def shell(self, command: str) -> Call:
        return Call("run_shell_command", {"command": command, "description": "as asked"})

    def writes(self, path: Path) -> Call:
        return Call("write_file", {"file_path": str(path), "content": "written\n"})

    def helper(self, prompt: str) -> Sequence[Call]:
        return [Call("invoke_agent", {"agent_name": "generalist", "prompt": prompt})]

    def helped(self, prompt: str, *script: Answer) -> Elsewhere:
        done = Call("complete_task", {"result": {"response": "There are two."}})
        return {prompt: [*script, [done]]}

    def tool(self, name: str, **fields: object) -> Call:
        return Call(f"mcp_siding_{name}", fields)


_OF_OPENCODE = {
    "attachment": True,
    "limit": {"context": 200000, "output": 8000},
    "modalities": {"input": ["text", "image"], "output": ["text"]},
}


class OpencodeAtWork(AgentAtWork):
    """opencode. A provider of the person's own, in its settings, is the test's."""

    name = "opencode"
    package = "opencode-ai"
    has_transcript = False  # but a database of all
    interrupts = (b"\x1b", b"\x1b")
    ready = "Ask anything"
    quits = "/exit"

    def __init__(self, task: Sandbox, executable: str) -> None:
        super().__init__(task, executable)
        task.env |= {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            # It looks for packages of its own, and would wait for them.
            "npm_config_registry": "http://127.0.0.1:9",
            "npm_config_fetch_retries": "0",
        }

    def says(self, *script: Answer, elsewhere: Elsewhere | None = None) -> ModelServer:
        model = super().says(*script, elsewhere=elsewhere)
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{model.url}/v1", "apiKey": "of-a-test"},
            "models": {name: dict(_OF_OPENCODE) for name in ("a-model", "b-model")},
        }
        settings = {
            "$schema": "https://opencode.ai/config.json",
            "autoupdate": False,
            "share": "disabled",
            "model": "test/a-model",
            "small_model": "test/a-model",
            "provider": {"test": provider},
            "permission": {"edit": "allow", "bash": "allow"},
        }
        path = Path(self.task.env["HOME"]) / ".config" / "opencode" / "opencode.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))
        return model

    def words(self, prompt: str) -> list[str]:
        return ["opencode", "run", prompt]

    def interactive(self) -> list[str]:
        return ["opencode"]

    def again(self, session: str, prompt: str) -> list[str]:
        named = ["--session", session] if session else ["--continue"]
        return ["opencode", "run", *named, prompt]

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "as asked"})

    def writes(self, path: Path) -> Call:
        return Call("write", {"filePath": str(path), "content": "written\n"})

    def helper(self, prompt: str) -> Sequence[Call]:
        fields = {"description": "count", "prompt": prompt, "subagent_type": "general"}
        return [Call("task", fields)]

    def tool(self, name: str, **fields: object) -> Call:
        return Call(f"siding_{name}", fields)


class Conversation:
    """One run of Claude Code that gets its prompts one after the other, as a program gives them."""

    def __init__(self, claude: ClaudeAtWork, options: Sequence[str]) -> None:
        stream = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        words = ["claude", "-p", *stream, "--allowedTools", "Bash Write Edit Read"]
        self._process = subprocess.Popen(
            [*SIDING, "run", "--stdin", "pass", *options, "--", *words],
            cwd=claude.task.repo,
            env=claude.task.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def says(self, prompt: str) -> dict[str, Any]:
        """Give a prompt and return the result of the turn."""
        self.types(prompt)
        return self.until("result")

    def types(self, prompt: str) -> None:
        content = [{"type": "text", "text": prompt}]
        self.writes({"type": "user", "message": {"role": "user", "content": content}})

    def writes(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def until(self, kind: str) -> dict[str, Any]:
        """Read what it prints until a message of this kind; return that."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("type") == kind:
                assert isinstance(message, dict)
                return message
        raise AssertionError(f"it has ended without {kind}")

    def ends(self) -> int:
        """End its input and wait for it; return the exit status."""
        self._process.communicate(timeout=60)
        return self._process.returncode

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


def at_work(
    sandbox: Sandbox, kind: type[AgentAtWork], executable: str | None = None
) -> AgentAtWork:
    """Return an agent in a new task; skip the test where it is not installed."""
    executable = executable or program(kind.name)
    if executable is None:
        pytest.skip(f"{kind.name} is not installed (npm: {kind.package})")
    if kind.needs_root and os.geteuid() != 0:
        pytest.skip(f"{kind.name} reports to root alone")
    sandbox.siding("task", "start", "talked")
    sandbox.siding("guard", "off")  # or the first one at a terminal would ask
    return kind(sandbox, executable)


@pytest.fixture
def claude(sandbox: Sandbox) -> Iterator[ClaudeAtWork]:
    """Claude Code in a new task."""
    found = at_work(sandbox, ClaudeAtWork)
    assert isinstance(found, ClaudeAtWork)
    yield found
    found.close()


@contextmanager
def agent_named(sandbox: Sandbox, name: str) -> Iterator[AgentAtWork]:
    """An agent in a new task, by its name."""
    (kind,) = (each for each in (*FORGET, *REMEMBER) if each.name == name)
    found = at_work(sandbox, kind)
    try:
        yield found
    finally:
        found.close()


FORGET = [ClaudeAtWork, CodexAtWork]  # a conversation goes on without what was taken back


@pytest.fixture(
    params=[ClaudeAtWork, CodexAtWork, GeminiAtWork, OpencodeAtWork], ids=lambda kind: kind.name
)
def agent(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[AgentAtWork]:
    """Each agent that can report, in a new task."""
    found = at_work(sandbox, request.param)
    yield found
    found.close()


REMEMBER = [GeminiAtWork, OpencodeAtWork]  # and here it is told what was


@pytest.fixture(params=REMEMBER, ids=lambda kind: kind.name)
def remembering(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[AgentAtWork]:
    """Each agent that is only told what was taken back, in a new task."""
    found = at_work(sandbox, request.param)
    yield found
    found.close()


@pytest.fixture(params=FORGET, ids=lambda kind: kind.name)
def forgetting(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[AgentAtWork]:
    """Each agent that goes on without what was taken back, in a new task."""
    found = at_work(sandbox, request.param)
    yield found
    found.close()
