"""The table of all verbs and groups: where their code is, and their line in the help."""

from importlib import import_module
from typing import Any

# verb -> (where its code is, see `load`; what it does). The help lists them in this order.
VERBS: dict[str, tuple[str, str]] = {
    "run": ("running.run", "run a command in the task's workspace and record it"),
    "agent": ("assistant.work", "work on a task with Siding's own agent"),
    "status": ("record.status", "where you are: task, workspace, last step"),
    "today": ("feed.inbox:TODAY", "what waits, runs, broke, is ready, in every project"),
    "switch": ("tasks.switch", "choose the task that this terminal is about"),
    "runs": ("running.runs", "what runs: each run with its last line"),
    "output": ("running.output", "what a run has printed; --follow goes on"),
    "attach": ("running.attach", "show a run in this terminal and type into it"),
    "send": ("running.send", "type into a run: a line, keys, a file"),
    "stop": ("running.stop", "end what runs, with everything it started"),
    "fork": ("forks.fork", "start a task from the state of another one, or of a step"),
    "log": ("record.log", "the steps of a task"),
    "show": ("record.show", "one step with its output"),
    "diff": ("record.diff", "what a task, a step or a range of steps changed"),
    "apply": ("applying.apply", "switch a task's change onto the main line"),
    "sync": ("syncing.sync", "bring what has moved on the base branch into the workspace"),
    "pr": ("applying.pr", "push a task's branch and open a pull request"),
    "rollback": ("undo.rollback", "go back to any step, or to the base"),
    "retry": ("undo.retry", "go back to before a step and run it, or another command, again"),
    "race": ("workflows.race", "several agents try a task side by side; the best is brought back"),
    "undo": ("undo.undo:UNDO", "take the newest act back: a run, rollback, apply, phase move"),
    "redo": ("undo.undo:REDO", "do again what an undo took back"),
    "rewind": ("undo.rewind", "go back to before a prompt, with the agent's conversation"),
    "checkpoint": ("running.checkpoint", "record the workspace as it stands"),
    "integrate": ("integrating.integrate", "have an agent report wherever you start it"),
    "turns": ("integrating.turns", "what such an agent did in this checkout, beside the branch"),
    "mcp": ("broker.mcp", "inside a run: the tools of an agent, by MCP"),
    "note": ("broker.note", "inside a run: write a note into its record"),
    "cd": ("shell.cd", "go into a task's workspace (see `siding cd --help`)"),
    "path": ("shell.path", "where a task's workspace is"),
    "open": ("tasks.open", "open a task's workspace in your editor"),
    "usage": ("usage.usage", "tokens and dollars, by day, model, task, run, …"),
    "verify": ("record.verify", "check that a task's record is whole and unchanged"),
    "ui": ("siding.faces.web.command", "the dashboard: this project in a browser"),
    "gc": ("upkeep.gc", "what tasks use on disk; free closed ones, recoverably"),
    "init": ("tasks.init", "make this repository a project (implicit on first use)"),
    "doctor": ("upkeep.doctor", "find and mend what disagrees, without deleting work"),
    "import": ("importing.import_records", "bring in a board of tasks, or a folder .aide"),
    "projects": ("feed.projects", "every project, and where its repository is"),
    "inbox": ("feed.inbox", "what waits for a person, in every project"),
    "trust": ("guard.trust", "allow hooks and permissions that come with the repository"),
    "guard": ("guard.guard", "whether agents run sandboxed and judged, in all projects"),
    "shell-init": ("shell.shell_init", "print the function that makes `siding cd` work"),
    "completion": ("shell.completion", "print the completion script of a shell"),
}

GROUPS: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "task": (
        "what is to be done",
        {
            "start": ("tasks.start", "make a task and its workspace"),
            "list": ("tasks.list", "the tasks of this project"),
            "show": ("tasks.show", "one task and its start card"),
            "switch": ("tasks.switch", "choose the task that this terminal is about"),
            "update": ("tasks.update", "change owner, description, tags, blocked-by"),
            "close": ("tasks.close", "finish a task; keep or remove its workspace"),
            "reopen": ("tasks.reopen", "bring a closed or deleted task back"),
            "keep": ("tasks.keep", "make a fork of a workflow a task of the board"),
            "bring-back": ("tasks.bring_back", "bring a fork's change onto the task it is of"),
            "drop": ("tasks.drop", "give the workspaces of forks back"),
        },
    ),
    "worktree": (
        "where it is done",
        {
            "add": ("tasks.worktrees.add", "give a task a workspace"),
            "adopt": ("tasks.worktrees.adopt", "make a worktree that is there a task's workspace"),
            "bind": ("tasks.worktrees.bind", "give a task the workspace of another one"),
            "list": ("tasks.worktrees.list", "the workspaces of this project"),
            "status": ("tasks.worktrees.status", "what changed in a workspace"),
            "keep": ("tasks.worktrees.keep", "record that a workspace stays"),
            "remove": ("tasks.worktrees.remove", "move a workspace away, recoverably"),
            "events": ("tasks.worktrees.events", "the newest lifecycle events"),
        },
    ),
    "policy": (
        "what commands may do",
        {
            "check": ("guard.check", "the policy's verdict on a command"),
            "test": ("guard.test", "run the project's own examples"),
            "list": ("guard.list", "every rule, and where it comes from"),
            "show": ("guard.show", "the policy's files, or one rule"),
        },
    ),
    "decide": (
        "questions put to a person, and the answers",
        {
            "submit": ("asking.submit", "put one and wait (so does `decide '<json>'`)"),
            "result": ("asking.result", "the answer, as one line of JSON"),
            "list": ("asking.list", "the decisions that wait"),
            "show": ("asking.show", "one decision, with what speaks for each option"),
            "answer": ("asking.answer", "answer one in the terminal"),
            "cancel": ("asking.cancel", "take a question back"),
            "clean": ("asking.clean", "move old records to the trash"),
        },
    ),
    "devices": (
        "phones and browsers that may answer in a person's name",
        {
            "list": ("asking.devices.list", "the paired devices (so does `devices` alone)"),
            "pair": ("asking.devices.pair", "show a code, and wait until a device brings it"),
            "remove": ("asking.devices.remove", "end what a device may do, at once"),
            "log": ("asking.devices.log", "what devices did, and what was refused to them"),
        },
    ),
    "phase": (
        "where a task stands in its process",
        {
            "start": ("phases.moves:START", "begin, in any phase"),
            "next-step": ("phases.moves:NEXT_STEP", "go on by a step"),
            "back-step": ("phases.moves:BACK_STEP", "a step has to be done again"),
            "next-part": (
                "phases.moves:NEXT_PART",
                "go on to the next phase, past its gates",
            ),
            "back-part": ("phases.moves:BACK_PART", "go back to an earlier phase"),
            "issue": ("phases.moves:ISSUE", "record something to come back to"),
            "error": ("phases.moves:ERROR", "record what went wrong"),
            "status": ("phases.status", "phase, step, what came last"),
            "list": ("phases.list", "the passes of all tasks"),
            "show": ("phases.show", "the history of one"),
        },
    ),
    "workflow": (
        "scripts that run many agents",
        {
            "run": ("workflows.run", "run one: by name, from a file, from standard input"),
            "list": ("workflows.list", "the runs, and with --scripts the workflows"),
            "show": ("workflows.show", "a run: its phases, agents, result"),
            "watch": ("workflows.watch", "a run as it goes"),
            "resume": ("workflows.resume", "go on with one that was cut off, failed or ended"),
            "kill": ("workflows.controls:KILL", "end a run, or one of its agents"),
            "skip": ("workflows.controls:SKIP", "let a run go on without an agent"),
            "retry": ("workflows.controls:RETRY", "let an agent begin again"),
            "check": ("workflows.check", "what is wrong with a script, without running it"),
            "new": ("workflows.new", "begin a script"),
            "convert": ("workflows.convert", "translate a JavaScript one into Python"),
            "remove": ("workflows.remove", "put runs that are over into the trash"),
            "guide": ("workflows.guide", "how to write one, and when it is worth it"),
        },
    ),
    "session": (
        "conversations: transcripts that open at once",
        {
            "list": ("sessions.list", "the sessions of this repository, wherever they are kept"),
            "open": ("sessions.open", "go on with one in its client (so does `session` alone)"),
            "show": ("sessions.show", "a conversation: text, Markdown, JSON, a page"),
            "search": ("sessions.search", "words in all sessions"),
            "resume": ("sessions.resume", "how a session ended, and what a model would be sent"),
            "branch": ("sessions.branch", "copy one, to go on in the copy"),
            "rewind": ("sessions.rewind", "go on from an earlier message"),
            "compact": ("sessions.compact", "make the context shorter"),
            "export": ("sessions.export", "write it as Claude Code, Codex or Gemini CLI would"),
            "pages": ("sessions.pages", "write a page for each, and an index page over all"),
            "import": (
                "sessions.import_transcript",
                "read one of Claude Code, Codex or Gemini CLI",
            ),
            "doctor": ("sessions.doctor", "find what is damaged"),
            "usage": ("usage.usage", "the same as `siding usage`"),
        },
    ),
}

# verb -> verbs below it. One is meant where its name is the first word behind the verb; any other
# word is an argument of the verb itself, and so is each one behind `--`.
BELOW: dict[str, dict[str, tuple[str, str]]] = {
    "agent": {
        "doctor": (
            "assistant.verbs.doctor",
            "whether the agent can work here, and what is missing",
        ),
        "env": ("assistant.verbs.env", "the variables that it reads, and whether they are set"),
        "context": ("assistant.verbs.context", "what its context consists of, and of which window"),
        "usage": (
            "assistant.verbs.usage",
            "tokens, dollars, turns, calls and time of a conversation",
        ),
        "cost": ("assistant.verbs.usage", "the same as `usage`"),
        "stats": ("assistant.verbs.usage", "the same as `usage`"),
        "recap": (
            "assistant.verbs.recap",
            "what was done in a conversation, without asking a model",
        ),
        "away": ("assistant.verbs.recap", "the same as `recap`"),
        "catchup": ("assistant.verbs.recap", "the same as `recap`"),
        "summary": ("assistant.verbs.summary", "have the model sum a conversation up, and keep it"),
        "debug-tool-call": (
            "assistant.verbs.debug_tool_call",
            "the last calls of tools, or one whole",
        ),
        "break-cache": (
            "assistant.verbs.break_cache",
            "where the prompt cache was missed, and why",
        ),
        "perf": ("assistant.verbs.perf", "what it costs to start: CPU time and memory by phase"),
        "effort": (
            "assistant.verbs.effort",
            "how much the model is to think: show it, keep another",
        ),
    },
}

# group -> the verb that is meant when nothing stands behind it, or an option.
BARE: dict[str, str] = {"devices": "list", "session": "open"}

# group -> (the verb that is meant when the first argument begins like this, beginnings). No verb of
# the group has such a name: `siding decide '{...}'` is `siding decide submit '{...}'`.
UNNAMED: dict[str, tuple[str, tuple[str, ...]]] = {"decide": ("submit", ("{", "[", '"', "-"))}

ALONE = "today"  # what `siding` without a verb is

HIDDEN: dict[str, tuple[str, str]] = {
    "__broker": ("broker.broker", "answers what a run asks"),
    "__workflow": ("workflows.work", "works on a run of a workflow"),
    "__report": ("integrating.report", "records what an integrated agent reports"),
    "__complete": ("shell.complete", "values for shell completion"),
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
    found = import_module(module_of(place))
    name = place.partition(":")[2]
    return getattr(found, name) if name else found
