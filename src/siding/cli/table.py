"""The table of all verbs and groups: where their code is, and their line in the help."""

from importlib import import_module
from typing import Any

# verb -> (where its code is, see `load`; what it does). The help lists them in this order.
VERBS: dict[str, tuple[str, str]] = {
    "run": ("verbs.run", "run a command in the task's workspace and record it"),
    "agent": ("agent.work", "work on a task with Siding's own agent"),
    "status": ("verbs.status", "where you are: task, workspace, last step"),
    "today": ("verbs.inbox:TODAY", "what waits, runs, broke, is ready, in every project"),
    "switch": ("task.switch", "choose the task that this terminal is about"),
    "runs": ("runs.runs", "what runs: each run with its last line"),
    "output": ("runs.output", "what a run has printed; --follow goes on"),
    "attach": ("runs.attach", "show a run in this terminal and type into it"),
    "send": ("runs.send", "type into a run: a line, keys, a file"),
    "stop": ("runs.stop", "end what runs, with everything it started"),
    "fork": ("verbs.fork", "start a task from the state of another one, or of a step"),
    "log": ("verbs.log", "the steps of a task"),
    "show": ("verbs.show", "one step with its output"),
    "diff": ("verbs.diff", "what a task, a step or a range of steps changed"),
    "apply": ("verbs.apply", "switch a task's change onto the main line"),
    "sync": ("verbs.sync", "bring what has moved on the base branch into the workspace"),
    "pr": ("verbs.pr", "push a task's branch and open a pull request"),
    "rollback": ("back.rollback", "go back to any step, or to the base"),
    "retry": ("back.retry", "go back to before a step and run it, or another command, again"),
    "race": ("workflow.race", "several agents try a task side by side; the best is brought back"),
    "undo": ("back.undo:UNDO", "take the newest act back: a run, rollback, apply, phase move"),
    "redo": ("back.undo:REDO", "do again what an undo took back"),
    "rewind": ("back.rewind", "go back to before a prompt, with the agent's conversation"),
    "checkpoint": ("verbs.checkpoint", "record the workspace as it stands"),
    "integrate": ("integrating.integrate", "have an agent report wherever you start it"),
    "turns": ("integrating.turns", "what such an agent did in this checkout, beside the branch"),
    "mcp": ("verbs.mcp", "inside a run: the tools of an agent, by MCP"),
    "note": ("verbs.note", "inside a run: write a note into its record"),
    "cd": ("verbs.cd", "go into a task's workspace (see `siding cd --help`)"),
    "path": ("verbs.path", "where a task's workspace is"),
    "open": ("verbs.open", "open a task's workspace in your editor"),
    "usage": ("verbs.usage", "tokens and dollars, by day, model, task, run, …"),
    "verify": ("verbs.verify", "check that a task's record is whole and unchanged"),
    "ui": ("siding.web.command", "the dashboard: this project in a browser"),
    "gc": ("verbs.gc", "what tasks use on disk; free closed ones, recoverably"),
    "init": ("verbs.init", "make this repository a project (implicit on first use)"),
    "doctor": ("verbs.doctor", "find and mend what disagrees, without deleting work"),
    "import": ("verbs.import_records", "bring in a board of tasks, or a folder .aide"),
    "projects": ("verbs.projects", "every project, and where its repository is"),
    "inbox": ("verbs.inbox", "what waits for a person, in every project"),
    "trust": ("verbs.trust", "allow hooks and permissions that come with the repository"),
    "guard": ("verbs.guard", "whether agents run sandboxed and judged, in all projects"),
    "shell-init": ("verbs.shell_init", "print the function that makes `siding cd` work"),
    "completion": ("verbs.completion", "print the completion script of a shell"),
}

GROUPS: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "task": (
        "what is to be done",
        {
            "start": ("task.start", "make a task and its workspace"),
            "list": ("task.list", "the tasks of this project"),
            "show": ("task.show", "one task and its start card"),
            "switch": ("task.switch", "choose the task that this terminal is about"),
            "update": ("task.update", "change owner, description, tags, blocked-by"),
            "close": ("task.close", "finish a task; keep or remove its workspace"),
            "reopen": ("task.reopen", "bring a closed or deleted task back"),
            "keep": ("task.keep", "make a fork of a workflow a task of the board"),
            "bring-back": ("task.bring_back", "bring a fork's change onto the task it is of"),
            "drop": ("task.drop", "give the workspaces of forks back"),
        },
    ),
    "worktree": (
        "where it is done",
        {
            "add": ("worktree.add", "give a task a workspace"),
            "adopt": ("worktree.adopt", "make a worktree that is there a task's workspace"),
            "bind": ("worktree.bind", "give a task the workspace of another one"),
            "list": ("worktree.list", "the workspaces of this project"),
            "status": ("worktree.status", "what changed in a workspace"),
            "keep": ("worktree.keep", "record that a workspace stays"),
            "remove": ("worktree.remove", "move a workspace away, recoverably"),
            "events": ("worktree.events", "the newest lifecycle events"),
        },
    ),
    "policy": (
        "what commands may do",
        {
            "check": ("policy.check", "the policy's verdict on a command"),
            "test": ("policy.test", "run the project's own examples"),
            "list": ("policy.list", "every rule, and where it comes from"),
            "show": ("policy.show", "the policy's files, or one rule"),
        },
    ),
    "decide": (
        "questions put to a person, and the answers",
        {
            "submit": ("decide.submit", "put one and wait (so does `decide '<json>'`)"),
            "result": ("decide.result", "the answer, as one line of JSON"),
            "list": ("decide.list", "the decisions that wait"),
            "show": ("decide.show", "one decision, with what speaks for each option"),
            "answer": ("decide.answer", "answer one in the terminal"),
            "cancel": ("decide.cancel", "take a question back"),
            "clean": ("decide.clean", "move old records to the trash"),
        },
    ),
    "devices": (
        "phones and browsers that may answer in a person's name",
        {
            "list": ("devices.list", "the paired devices (so does `devices` alone)"),
            "pair": ("devices.pair", "show a code, and wait until a device brings it"),
            "remove": ("devices.remove", "end what a device may do, at once"),
            "log": ("devices.log", "what devices did, and what was refused to them"),
        },
    ),
    "phase": (
        "where a task stands in its process",
        {
            "start": ("phase.moves:START", "begin, in any phase"),
            "next-step": ("phase.moves:NEXT_STEP", "go on by a step"),
            "back-step": ("phase.moves:BACK_STEP", "a step has to be done again"),
            "next-part": (
                "phase.moves:NEXT_PART",
                "go on to the next phase, past its gates",
            ),
            "back-part": ("phase.moves:BACK_PART", "go back to an earlier phase"),
            "issue": ("phase.moves:ISSUE", "record something to come back to"),
            "error": ("phase.moves:ERROR", "record what went wrong"),
            "status": ("phase.status", "phase, step, what came last"),
            "list": ("phase.list", "the passes of all tasks"),
            "show": ("phase.show", "the history of one"),
        },
    ),
    "workflow": (
        "scripts that run many agents",
        {
            "run": ("workflow.run", "run one: by name, from a file, from standard input"),
            "list": ("workflow.list", "the runs, and with --scripts the workflows"),
            "show": ("workflow.show", "a run: its phases, agents, result"),
            "watch": ("workflow.watch", "a run as it goes"),
            "resume": ("workflow.resume", "go on with one that was cut off, failed or ended"),
            "kill": ("workflow.controls:KILL", "end a run, or one of its agents"),
            "skip": ("workflow.controls:SKIP", "let a run go on without an agent"),
            "retry": ("workflow.controls:RETRY", "let an agent begin again"),
            "check": ("workflow.check", "what is wrong with a script, without running it"),
            "new": ("workflow.new", "begin a script"),
            "convert": ("workflow.convert", "translate a JavaScript one into Python"),
            "remove": ("workflow.remove", "put runs that are over into the trash"),
            "guide": ("workflow.guide", "how to write one, and when it is worth it"),
        },
    ),
    "session": (
        "conversations: transcripts that open at once",
        {
            "list": ("session.list", "the sessions of this repository, wherever they are kept"),
            "open": ("session.open", "go on with one in its client (so does `session` alone)"),
            "show": ("session.show", "a conversation: text, Markdown, JSON, a page"),
            "search": ("session.search", "words in all sessions"),
            "resume": ("session.resume", "how a session ended, and what a model would be sent"),
            "branch": ("session.branch", "copy one, to go on in the copy"),
            "rewind": ("session.rewind", "go on from an earlier message"),
            "compact": ("session.compact", "make the context shorter"),
            "export": ("session.export", "write it as Claude Code, Codex or Gemini CLI would"),
            "pages": ("session.pages", "write a page for each, and an index page over all"),
            "import": ("session.import_transcript", "read one of Claude Code, Codex or Gemini CLI"),
            "doctor": ("session.doctor", "find what is damaged"),
            "usage": ("verbs.usage", "the same as `siding usage`"),
        },
    ),
}

# verb -> verbs below it. One is meant where its name is the first word behind the verb; any other
# word is an argument of the verb itself, and so is each one behind `--`.
BELOW: dict[str, dict[str, tuple[str, str]]] = {
    "agent": {
        "doctor": ("agent.verbs.doctor", "whether the agent can work here, and what is missing"),
        "env": ("agent.verbs.env", "the variables that it reads, and whether they are set"),
        "context": ("agent.verbs.context", "what its context consists of, and of which window"),
        "usage": ("agent.verbs.usage", "tokens, dollars, turns, calls and time of a conversation"),
        "cost": ("agent.verbs.usage", "the same as `usage`"),
        "stats": ("agent.verbs.usage", "the same as `usage`"),
        "recap": ("agent.verbs.recap", "what was done in a conversation, without asking a model"),
        "away": ("agent.verbs.recap", "the same as `recap`"),
        "catchup": ("agent.verbs.recap", "the same as `recap`"),
        "summary": ("agent.verbs.summary", "have the model sum a conversation up, and keep it"),
        "debug-tool-call": ("agent.verbs.debug_tool_call", "the last calls of tools, or one whole"),
        "break-cache": ("agent.verbs.break_cache", "where the prompt cache was missed, and why"),
        "perf": ("agent.verbs.perf", "what it costs to start: CPU time and memory by phase"),
        "effort": ("agent.verbs.effort", "how much the model is to think: show it, keep another"),
    },
}

# group -> the verb that is meant when nothing stands behind it, or an option.
BARE: dict[str, str] = {"devices": "list", "session": "open"}

# group -> (the verb that is meant when the first argument begins like this, beginnings). No verb of
# the group has such a name: `siding decide '{...}'` is `siding decide submit '{...}'`.
UNNAMED: dict[str, tuple[str, tuple[str, ...]]] = {"decide": ("submit", ("{", "[", '"', "-"))}

ALONE = "today"  # what `siding` without a verb is

HIDDEN: dict[str, tuple[str, str]] = {
    "__broker": ("verbs.broker", "answers what a run asks"),
    "__workflow": ("workflow.work", "works on a run of a workflow"),
    "__report": ("integrating.report", "records what an integrated agent reports"),
    "__complete": ("verbs.complete", "values for shell completion"),
}


def is_mixed(verb: Any) -> bool:
    """Tell whether options may stand between the words of a verb (``MIXED`` in its module)."""
    return getattr(verb, "MIXED", False) is True


def load(place: str) -> Any:
    """Return the module of a verb, or the `Verb` in one: both have `add_arguments` and `run`.

    `place` is a module below `siding.cli`, or one that begins with `siding.`; with ``:NAME`` behind
    it, a name in that module.
    """
    module, _, name = place.partition(":")
    found = import_module(module if module.startswith("siding.") else f"siding.cli.{module}")
    return getattr(found, name) if name else found
