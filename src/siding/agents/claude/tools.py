"""The tools of Claude Code: which do nothing, and what the others do.

Helpers, workflows and skills do nothing themselves: each call of a tool that they lead to is
reported as one of the session is. Names of several versions are here, to 2.1.329.
"""

from collections.abc import Mapping
from typing import Any

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
from siding.shellguard.face import Effect

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
)
