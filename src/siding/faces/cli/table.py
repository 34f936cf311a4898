"""The table of all verbs and groups: where their code is, and their line in the help."""

import sys
from typing import Any

# verb -> (where its code is, see `load`; what it does).
VERBS: dict[str, tuple[str, str]] = {
    "run": ("running.run", "run a command in the task's workspace and record it"),
    "agent": ("assistant.work", "work on a task with Siding's own agent"),
    "chat": ("chat.talk", "talk with an agent that goes on without this terminal"),
    "acp": ("acp", "be an agent for an editor, by the Agent Client Protocol"),
    "status": ("record.status", "where you are: task, workspace, last step"),
    "today": ("feed:TODAY", "what waits, runs, broke, is ready, in every project"),
    "switch": ("tasks.switch:SWITCH", "choose the task that this terminal is about"),
    "runs": ("running.runs:RUNS", "what runs: each run with its last line"),
    "output": ("running.runs:OUTPUT", "what a run has printed; --follow goes on"),
    "attach": ("running.runs:ATTACH", "show a run in this terminal and type into it"),
    "send": ("running.runs:SEND", "type into a run: a line, keys, a file"),
    "stop": ("running.runs:STOP", "end what runs, with everything it started"),
    "fork": ("forks:FORK", "start a task from the state of another one, or of a step"),
    "log": ("record.log", "the steps of a task"),
    "show": ("record.show", "one step with its output"),
    "diff": ("record.diff", "what a task, a step or a range of steps changed"),
    "apply": ("applying.apply", "switch a task's change onto the main line"),
    "sync": ("syncing", "bring what has moved on the base branch into the workspace"),
    "pr": ("applying.pr", "push a task's branch and open a pull request"),
    "rollback": ("undo.rollback", "go back to any step, or to the base"),
    "retry": ("undo.retry", "go back to before a step and run it, or another command, again"),
    "race": ("workflows.race", "several agents try a task side by side; the best is brought back"),
    "undo": ("undo.undo:UNDO", "take the newest act back: a run, rollback, apply, phase move"),
    "redo": ("undo.undo:REDO", "do again what an undo took back"),
    "rewind": ("undo.rewind", "go back to before a prompt, with the agent's conversation"),
    "viewed": ("looks", "what you have read of a task's change: mark it, and list it"),
    "bisect": ("bisect", "which step or prompt broke it: a check in the states of a task"),
    "checkpoint": ("running.checkpoint", "record the workspace as it stands"),
    "integrate": ("integrating:INTEGRATE", "have an agent report wherever you start it"),
    "turns": ("integrating:TURNS", "what such an agent did in this checkout, beside the branch"),
    "mcp": ("broker:MCP", "inside a run: the tools of an agent, by MCP"),
    "note": ("broker:NOTE", "inside a run: write a note into its record"),
    "cd": ("shell:CD", "go into a task's workspace (see `siding cd --help`)"),
    "path": ("shell:PATH", "where a task's workspace is"),
    "open": ("tasks.switch:OPEN", "open a task's workspace in your editor"),
    "usage": ("usage", "tokens and dollars, by day, model, task, run, …"),
    "verify": ("record.verify", "check that a task's record is whole and unchanged"),
    "ui": ("siding.faces.web.command", "the dashboard: this project in a browser"),
    "gc": ("tasks.gc", "what tasks use on disk; free closed ones, recoverably"),
    "init": ("feed:INIT", "make this repository a project (implicit on first use)"),
    "doctor": ("upkeep", "find and mend what disagrees, without deleting work"),
    "import": ("importing", "bring in a board of tasks, or a folder .aide"),
    "statusline": (
        "statusline:STATUSLINE",
        "the line of status: run its command once",
    ),
    "projects": ("feed:PROJECTS", "every project, and where its repository is"),
    "inbox": ("feed:INBOX", "what waits for a person, in every project"),
    "trust": ("guard.trust", "allow hooks and permissions that come with the repository"),
    "guard": ("guard.policy:GUARD", "whether agents run sandboxed and judged, in all projects"),
    "shell-init": ("shell:SHELL_INIT", "print the function that makes `siding cd` work"),
    "completion": ("shell:COMPLETION", "print the completion script of a shell"),
}

GROUPS: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "task": (
        "what is to be done",
        {
            "start": ("tasks.task:START", "make a task and its workspace"),
            "list": ("tasks.list", "the tasks of this project"),
            "show": ("tasks.task:SHOW", "one task and its start card"),
            "switch": ("tasks.switch:SWITCH", "choose the task that this terminal is about"),
            "update": ("tasks.task:UPDATE", "change owner, description, tags, blocked-by"),
            "close": ("tasks.task:CLOSE", "finish a task; keep or remove its workspace"),
            "reopen": ("tasks.task:REOPEN", "bring a closed or deleted task back"),
            "keep": ("forks:KEEP", "make a fork of a workflow a task of the board"),
            "bring-back": (
                "forks:BRING_BACK",
                "bring a fork's change onto the task it is of",
            ),
            "drop": ("forks:DROP", "give the workspaces of forks back"),
        },
    ),
    "worktree": (
        "where it is done",
        {
            "add": ("tasks.worktrees:ADD", "give a task a workspace"),
            "adopt": ("tasks.worktrees:ADOPT", "make a worktree that is there a task's workspace"),
            "bind": ("tasks.worktrees:BIND", "give a task the workspace of another one"),
            "unbind": ("tasks.worktrees:UNBIND", "leave a task's workspace to a new task"),
            "list": ("tasks.worktrees:LIST", "the workspaces of this project"),
            "status": ("tasks.worktrees:STATUS", "what changed in a workspace"),
            "keep": ("tasks.worktrees:KEEP", "record that a workspace stays"),
            "remove": ("tasks.worktrees:REMOVE", "move a workspace away, recoverably"),
            "events": ("tasks.worktrees:EVENTS", "the newest lifecycle events"),
        },
    ),
    "policy": (
        "what commands may do",
        {
            "check": ("guard.policy:CHECK", "the policy's verdict on a command"),
            "test": ("guard.policy:TEST", "run the project's own examples"),
            "list": ("guard.policy:LIST", "every rule, and where it comes from"),
            "show": ("guard.policy:SHOW", "the policy's files, or one rule"),
        },
    ),
    "decide": (
        "questions put to a person, and the answers",
        {
            "submit": (
                "asking.submit:SUBMIT",
                "put one and wait (so does `decide 'Which one?' a b`)",
            ),
            "result": ("asking.submit:RESULT", "the answer, as one line of JSON"),
            "list": ("asking.decisions:LIST", "the decisions that wait"),
            "show": ("asking.decisions:SHOW", "one decision, with what speaks for each option"),
            "answer": ("asking.answer", "answer one in the terminal"),
            "effect": ("effect:EFFECT", "what the command it is about would change"),
            "cancel": ("asking.decisions:CANCEL", "take a question back"),
            "clean": ("asking.decisions:CLEAN", "move old records to the trash"),
        },
    ),
    "comments": (
        "comments on lines of a change, for its agent",
        {
            "list": ("comments:LIST", "the open ones (so does `comments` alone)"),
            "add": ("comments:ADD", "comment on lines: PATH:LINE TEXT"),
            "resolve": ("comments:RESOLVE", "say that they are done"),
            "send": ("comments:SEND", "give them to the agent as its next prompt"),
        },
    ),
    "devices": (
        "phones and browsers that may answer in a person's name",
        {
            "list": ("asking.devices:LIST", "the paired devices (so does `devices` alone)"),
            "pair": ("asking.devices:PAIR", "show a code, and wait until a device brings it"),
            "remove": ("asking.devices:REMOVE", "end what a device may do, at once"),
            "log": ("asking.devices:LOG", "what devices did, and what was refused to them"),
        },
    ),
    "phase": (
        "where a task stands in its process",
        {
            "start": ("phases:START", "begin, in any phase"),
            "next-step": ("phases:NEXT_STEP", "go on by a step"),
            "back-step": ("phases:BACK_STEP", "a step has to be done again"),
            "next-part": (
                "phases:NEXT_PART",
                "go on to the next phase, past its gates",
            ),
            "back-part": ("phases:BACK_PART", "go back to an earlier phase"),
            "issue": ("phases:ISSUE", "record something to come back to"),
            "error": ("phases:ERROR", "record what went wrong"),
            "status": ("phases:STATUS", "phase, step, what came last"),
            "list": ("phases:LIST", "the passes of all tasks"),
            "show": ("phases:SHOW", "the history of one"),
        },
    ),
    "workflow": (
        "scripts that run many agents",
        {
            "run": ("workflows.run:RUN", "run one: by name, from a file, from standard input"),
            "list": ("workflows.runs:LIST", "the runs, and with --scripts the workflows"),
            "show": ("workflows.runs:SHOW", "a run: its phases, agents, result"),
            "watch": ("workflows.runs:WATCH", "a run as it goes"),
            "resume": ("workflows.run:RESUME", "go on with one that was cut off, failed or ended"),
            "kill": ("workflows.runs:KILL", "end a run, or one of its agents"),
            "skip": ("workflows.runs:SKIP", "let a run go on without an agent"),
            "retry": ("workflows.runs:RETRY", "let an agent begin again"),
            "check": ("workflows.scripts:CHECK", "what is wrong with a script, without running it"),
            "new": ("workflows.scripts:NEW", "begin a script"),
            "convert": ("workflows.scripts:CONVERT", "translate a JavaScript one into Python"),
            "remove": ("workflows.runs:REMOVE", "put runs that are over into the trash"),
            "guide": ("workflows.scripts:GUIDE", "how to write one, and when it is worth it"),
        },
    ),
    "session": (
        "conversations: transcripts that open at once",
        {
            "list": (
                "sessions.shelf:LIST",
                "the sessions of this repository, wherever they are kept",
            ),
            "open": (
                "sessions.shelf:OPEN",
                "go on with one in its client (so does `session` alone)",
            ),
            "show": ("sessions.show", "a conversation: text, Markdown, JSON, a page"),
            "search": ("sessions.shelf:SEARCH", "words in all sessions"),
            "resume": (
                "sessions.resume:RESUME",
                "how a session ended, and what a model would be sent",
            ),
            "branch": ("sessions.resume:BRANCH", "copy one, to go on in the copy"),
            "rewind": ("sessions.resume:REWIND", "go on from an earlier message"),
            "compact": ("sessions.resume:COMPACT", "make the context shorter"),
            "export": (
                "sessions.transcripts:EXPORT",
                "write it as Claude Code, Codex or Gemini CLI would",
            ),
            "pages": ("sessions.shelf:PAGES", "write a page for each, and an index page over all"),
            "import": (
                "sessions.transcripts:IMPORT",
                "read one of Claude Code, Codex or Gemini CLI",
            ),
            "doctor": ("sessions.shelf:DOCTOR", "find what is damaged"),
            "usage": ("usage", "the same as `siding usage`"),
        },
    ),
}

# What `siding --help` shows first, and the rest by what a person wants: verbs and groups. Each has
# one place, or is in `FOR_PROGRAMS`.
EVERY_DAY = ("run", "status", "log", "show", "diff", "undo", "retry", "apply", "switch", "cd")
SECTIONS: dict[str, tuple[str, ...]] = {
    "tasks": ("task", "worktree", "fork", "sync", "pr", "phase", "open", "path"),
    "runs": (
        "runs",
        "output",
        "attach",
        "send",
        "stop",
        "agent",
        "chat",
        "acp",
        "session",
        "usage",
        "checkpoint",
    ),
    "going back": ("redo", "rollback", "rewind", "bisect"),
    "many agents": ("workflow", "race"),
    "questions": ("today", "inbox", "decide", "comments", "viewed", "devices", "statusline"),
    "limits": ("guard", "policy", "trust"),
    "upkeep": (
        "ui",
        "projects",
        "doctor",
        "verify",
        "gc",
        "import",
        "integrate",
        "shell-init",
        "completion",
    ),
}
FOR_PROGRAMS = ("mcp", "note", "turns", "init")  # what agents and hooks call, or runs by itself

# verb -> verbs below it. One is meant where its name is the first word behind the verb; any other
# word is an argument of the verb itself, and so is each one behind `--`.
BELOW: dict[str, dict[str, tuple[str, str]]] = {
    "chat": {
        "list": ("chat.stories:LIST", "the conversations of a task"),
        "show": ("chat.stories:SHOW", "one from its beginning, and with --follow as it goes on"),
        "send": ("chat.prompts:SEND", "give its agent a prompt: the next turn"),
        "steer": ("chat.prompts:STEER", "give it a prompt into the turn that runs"),
        "wait": ("chat.turns:WAIT", "wait until it is done, or waits for a person"),
        "answer": ("chat.asks:ANSWER", "answer what its agent asks"),
        "always": ("chat.always:ALWAYS", "what agents may do without asking, and take it back"),
        "queue": ("chat.queue:QUEUE", "what waits for its agent, with numbers"),
        "edit": ("chat.queue:EDIT", "change a prompt that waits"),
        "move": ("chat.queue:MOVE", "put a prompt that waits elsewhere"),
        "drop": ("chat.queue:DROP", "drop prompts that wait"),
        "again": ("chat.queue:AGAIN", "send a prompt again that is unsure"),
        "go-on": ("chat.queue:GO_ON", "send what is held"),
        "set": ("chat.settings:SET", "change its agent's model, mode or effort"),
        "compact": ("chat.settings:COMPACT", "have its agent make it shorter"),
        "commands": ("chat.settings:COMMANDS", "its agent's own commands"),
        "complete": ("chat.mentions:COMPLETE", "what fits behind the @ or / of a prompt"),
        "abilities": ("chat.settings:ABILITIES", "what can be asked of each agent"),
        "stop": ("chat.turns:STOP", "end the turn, and drop what waits"),
        "end": ("chat.turns:END", "end the agent; a prompt brings it back"),
        "take": ("chat.take:TAKE", "go on with a run of an agent's own screen"),
        "switch": ("chat.switch:SWITCH", "have another agent go on with it"),
    },
    "agent": {
        "doctor": (
            "assistant.setup:DOCTOR",
            "whether the agent can work here, and what is missing",
        ),
        "env": ("assistant.setup:ENV", "the variables that it reads, and whether they are set"),
        "context": (
            "assistant.conversations:CONTEXT",
            "what its context consists of, and of which window",
        ),
        "usage": (
            "assistant.conversations:USAGE",
            "tokens, dollars, turns, calls and time of a conversation",
        ),
        "cost": ("assistant.conversations:USAGE", "the same as `usage`"),
        "stats": ("assistant.conversations:USAGE", "the same as `usage`"),
        "recap": (
            "assistant.conversations:RECAP",
            "what was done in a conversation, without asking a model",
        ),
        "away": ("assistant.conversations:RECAP", "the same as `recap`"),
        "catchup": ("assistant.conversations:RECAP", "the same as `recap`"),
        "summary": (
            "assistant.conversations:SUMMARY",
            "have the model sum a conversation up, and keep it",
        ),
        "debug-tool-call": (
            "assistant.conversations:DEBUG_TOOL_CALL",
            "the last calls of tools, or one whole",
        ),
        "break-cache": (
            "assistant.conversations:BREAK_CACHE",
            "where the prompt cache was missed, and why",
        ),
        "perf": ("assistant.setup:PERF", "what it costs to start: CPU time and memory by phase"),
        "effort": (
            "assistant.setup:EFFORT",
            "how much the model is to think: show it, keep another",
        ),
    },
}

# group -> the verb that is meant when nothing stands behind it, or an option.
BARE: dict[str, str] = {"devices": "list", "session": "open", "comments": "list"}

# group -> (the verb that is meant when the first argument begins like this, beginnings). No verb of
# the group has such a name: `siding decide '{...}'` is `siding decide submit '{...}'`.
UNNAMED: dict[str, tuple[str, tuple[str, ...]]] = {"decide": ("submit", ("{", "[", '"', "-"))}

ALONE = "today"  # what `siding` without a verb is, in a pipe
TERMINAL = "siding.faces.tui.command"  # and at a terminal

HIDDEN: dict[str, tuple[str, str]] = {
    "__hub": ("feed:HUB", "folds the feed for the screens that are open"),
    "__broker": ("broker:BROKER", "answers what a run asks"),
    "__effect": ("effect:COUNT", "tries a command that a person is asked about"),
    "__workflow": ("workflows.run:WORK", "works on a run of a workflow"),
    "__report": ("integrating:REPORT", "records what an integrated agent reports"),
    "__notice": ("asking.notice:NOTICE", "tells a person what has ended, after a while"),
    "__complete": ("completion:COMPLETE", "values for shell completion"),
}


def is_mixed(verb: Any) -> bool:
    """Tell whether options may stand between the words of a verb (``MIXED`` in its module)."""
    return getattr(verb, "MIXED", False) is True


def module_of(place: str) -> str:
    """Return the name of the module that has a verb.

    `place` is a module below `siding.faces.cli`, or one that begins with `siding.`; with ``:NAME``
    behind it, a name in that module.
    """
    module = place.partition(":")[0]
    return module if module.startswith("siding.") else f"siding.faces.cli.{module}"


def load(place: str) -> Any:
    """Return the module of a verb, or the `Verb` in one: both have `add_arguments` and `run`."""
    module = module_of(place)
    __import__(module)  # `importlib` is three modules more at every start
    found = sys.modules[module]
    name = place.partition(":")[2]
    return getattr(found, name) if name else found
