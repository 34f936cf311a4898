"""Claude Code: how it reports, and what its tools do.

Its hooks are given for one run by `--settings`. Of several `--settings` only the last one counts,
so what the person gave is merged with ours; hooks of their own settings files run beside ours.
Tried with 2.1.197 and 2.1.329. `onFailure` is unknown to the older one: there a hook that is killed
lets the tool run. The exit status 2 blocks in both.
"""

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from siding.agents.claude.queue import typed_in
from siding.agents.claude.resuming import continues
from siding.agents.edits import replaces, replaces_several, writes
from siding.agents.hook_words import CALLED, JUDGED, Hooked, Words, merged
from siding.agents.hooks import (
    PERSON_S,
    Adapter,
    Injection,
    Moment,
    Past,
    Reach,
    Report,
    Shortened,
    Takes,
    TypedMeanwhile,
)
from siding.agents.tool_words import (
    NotUnderstood,
    ToolTable,
    Touch,
    does,
    fetched,
    ran,
    read,
    written,
)
from siding.ground.storage.fields import mapping
from siding.shellguard.face import Effect

# -- Its tools: which do nothing, and what the others do -------------------------------------------

# Helpers, workflows and skills do nothing themselves: each call of a tool that they lead to is
# reported as one of the session is. Names of several versions are here, to 2.1.329.
_HARMLESS = frozenset(
    """
    AskUserQuestion Brief CronList DeferredToolPlaceholder EnterPlanMode ExitPlanMode Glob LS
    ListAgents ListMcpResourcesTool ListPeers PushNotification ReadMcpResourceDirTool
    ReadMcpResourceTool ReportFindings SendUserMessage Skill SlashCommand StructuredOutput
    TodoRead TodoWrite ToolSearch WaitForMcpServers WebSearch
    AgentOutput AgentOutputTool BashOutput BashOutputTool TaskOutput
    KillBash KillShell TaskCreate TaskGet TaskList TaskStop TaskUpdate
    """.split()
)


def _helper(given: Mapping[str, Any]) -> tuple[Touch, ...]:
    """A helper works here; or in a worktree that is made for it; or on another machine."""
    match given.get("isolation"):
        case None:
            return ()
        case "worktree":
            return ((Effect.LEAVES, "a worktree for a helper"),)
        case other:
            return ((Effect.STEERS, f"a helper elsewhere ({other})"),)


def _left(given: Mapping[str, Any]) -> tuple[Touch, ...]:
    """What it leaves a worktree with: the worktree stays, or goes with what is in it."""
    if given.get("action") == "keep" and not given.get("discard_changes"):
        return ()
    return ((Effect.LEAVES, "removes the worktree"),)


def _wakeup(given: Mapping[str, Any]) -> tuple[Touch, ...]:
    if given.get("stop") is True:
        return ()
    return does(Effect.SCHEDULES, "prompt")(given)


def _message(given: Mapping[str, Any]) -> tuple[Touch, ...]:
    """A message to a helper of this session stays in it; an address with a scheme leads out."""
    to = given.get("to")
    if not isinstance(to, str) or not to:
        raise NotUnderstood("there is no 'to' in its input")
    return ((Effect.STEERS, to),) if ":" in to or "@" in to or "/" in to else ()


_REPLACES = replaces("file_path", "old_string", "new_string", ("replace_all",))
TOOLS = ToolTable(
    shell="Bash",
    touching={
        "Read": {"file_path": read},
        "NotebookRead": {"notebook_path": read},
        "Grep": {"path": read},
        "Write": {"file_path": written},
        "Edit": {"file_path": written},
        "MultiEdit": {"file_path": written},
        "NotebookEdit": {"notebook_path": written},
        "WebFetch": {"url": fetched},
        "Monitor": {"command": ran},
    },
    optional=frozenset({"Grep"}),
    acting={
        "Agent": _helper,
        "Task": _helper,
        "EnterWorktree": does(Effect.LEAVES, "name", "path"),
        "ExitWorktree": _left,
        "CronCreate": does(Effect.SCHEDULES, "cron", "prompt"),
        "CronDelete": does(Effect.SCHEDULES, "id"),
        "ScheduleWakeup": _wakeup,
        "RemoteTrigger": does(Effect.SCHEDULES, "action", "trigger_id"),
        "SendMessage": _message,
        "Workflow": does(Effect.SCRIPTS, "name", "scriptPath", "script"),
        "REPL": does(Effect.SCRIPTS, "code"),
        "PowerShell": does(Effect.SCRIPTS, "command"),
    },
    harmless=_HARMLESS,
    editing={
        "Write": writes("file_path", "content"),
        "Edit": _REPLACES,
        "MultiEdit": replaces_several("edits", "file_path", _REPLACES),
    },
)


# -- How it reports --------------------------------------------------------------------------------

# Of these it starts no conversation.
_OTHER_WORK = frozenset(
    {
        "agents",
        "auth",
        "config",
        "doctor",
        "install",
        "mcp",
        "plugin",
        "plugins",
        "setup-token",
        "update",
        "upgrade",
    }
)
_ONLY_TELLS = frozenset({"-h", "--help", "-v", "--version"})
_WITHOUT_HOOKS = frozenset({"--bare", "--safe-mode"})
_SETTINGS = "--settings"
_SERVERS = "--mcp-config"
MOMENTS = {
    "SessionStart": (Moment.SESSION, 30),  # and how many seconds the hook may take
    "UserPromptSubmit": (Moment.PROMPT, 120),
    "Notification": (Moment.WAITS, 30),
    "Stop": (Moment.STOPPED, 300),
    "StopFailure": (Moment.FAILED, 300),
}
_CHANGES = "Bash|Edit|MultiEdit|Write|NotebookEdit"  # tools that may change files
# Tools that it may ask a person for: that one has ended tells that nobody is waited for.
_ASKS = f"{_CHANGES}|WebFetch|WebSearch|AskUserQuestion|ExitPlanMode|mcp__.*"
_ASKS_NOBODY = frozenset({"-p", "--print"})
_RECORDING_S = 300


class Claude(Hooked):
    """The adapter of Claude Code.

    It writes its transcript ten times a second, and does not wait for that as a turn ends.
    """

    takes = Takes.AT_END

    def read(self, payload: Mapping[str, Any]) -> Report | None:
        said = super().read(payload)
        ends = said is not None and said.moment in (Moment.STOPPED, Moment.FAILED)
        return said._replace(unwritten=True) if said is not None and ends else said

    def typed_in(self, lines: Iterable[bytes], /) -> TypedMeanwhile:
        return typed_in(lines)

    def injected(self, argv: tuple[str, ...], reach: Reach) -> Injection:
        program, rest = argv[0], argv[1:]
        if (rest[:1] and rest[0] in _OTHER_WORK) or _ONLY_TELLS.intersection(rest[:1]):
            return Injection(argv, why_not="it begins no conversation")
        for word in _WITHOUT_HOOKS.intersection(rest):
            return Injection(argv, why_not=f"{word} switches its hooks off")
        kept, given = _without_settings(rest)
        theirs: Mapping[str, Any] = {}
        if given is not None:
            try:
                theirs = _settings(given, reach)
            except (OSError, ValueError):
                return Injection(argv, why_not="what --settings names cannot be read")
        asks = not _ASKS_NOBODY.intersection(rest)
        settings = merged(theirs, _hooks(reach, asks=asks))
        tools: tuple[str, ...] = ()
        if reach.tools and not any(word.startswith(_SERVERS) for word in kept):
            # It takes several values, so another option has to follow.
            tools = (_SERVERS, json.dumps({"mcpServers": {"siding": _server(reach)}}))
            settings = _allowing(settings, "mcp__siding")
        return Injection((program, *tools, _SETTINGS, json.dumps(settings), *kept))


def _without(argv: tuple[str, ...], past: Past) -> Shortened | None:
    from siding.agents.claude.past import without

    return without(argv, past)


_WORDS = Words({name: moment for name, (moment, _s) in MOMENTS.items()}, TOOLS)
ADAPTER: Adapter = Claude(_WORDS, continues, _without)


def _hooks(reach: Reach, *, asks: bool) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {
        name: [{"hooks": [_hook(reach.program, reach.seconds(moment, usual))]}]
        for name, (moment, usual) in MOMENTS.items()
    }
    if reach.judges:
        words = (*reach.program, "--closed" if reach.requires else "--judges")
        judging = _hook(words, PERSON_S)
        if reach.requires:
            # Without a matcher it is started for every tool, also one that nobody has heard of.
            found[JUDGED] = [{"hooks": [{**judging, "onFailure": "block"}]}]
        else:
            found[JUDGED] = [{"matcher": "|".join(TOOLS.judged), "hooks": [judging]}]
    if reach.calls or asks:
        called = {"matcher": _ASKS if asks else _CHANGES}
        found[CALLED] = [{**called, "hooks": [_hook(reach.program, _RECORDING_S)]}]
    return found


def _hook(program: tuple[str, ...], seconds: int) -> dict[str, Any]:
    return {"type": "command", "command": shlex.join(program), "timeout": seconds}


def _server(reach: Reach) -> dict[str, Any]:
    program, *words = reach.tools
    waits_ms = PERSON_S * 1000
    return {
        "command": program,
        "args": words,
        "env": {"SIDING_SOCKET": reach.socket},
        "timeout": waits_ms,
    }


def _allowing(settings: Mapping[str, Any], tool: str) -> dict[str, Any]:
    """Return settings with a tool that may be used without a question."""
    permissions = dict(mapping(settings.get("permissions")))
    allowed = permissions.get("allow")
    permissions["allow"] = [*(allowed if isinstance(allowed, list) else []), tool]
    return {**settings, "permissions": permissions}


def _without_settings(words: tuple[str, ...]) -> tuple[list[str], str | None]:
    """Return the words without `--settings`, and the value of the last one."""
    kept: list[str] = []
    given: str | None = None
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return [*kept, *words[at:]], given
        if word == _SETTINGS and at + 1 < len(words):
            given, at = words[at + 1], at + 2
        elif word.startswith(_SETTINGS + "="):
            given, at = word.partition("=")[2], at + 1
        else:
            kept.append(word)
            at += 1
    return kept, given


def _settings(given: str, reach: Reach) -> Mapping[str, Any]:
    """Return settings that are given as JSON or as the name of a file."""
    raw = given if given.lstrip().startswith("{") else reach.read(given)
    found = json.loads(raw)
    if not isinstance(found, dict):
        raise ValueError("settings are an object")  # noqa: TRY004 - of what is in a file
    return found
