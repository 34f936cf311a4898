"""What people type by habit: from git and its like, or from a tool that Siding follows on."""

# What is typed -> the command that is meant, and run.
MEANT: dict[str, str] = {
    "start": "task start",
    "new": "task start",
    "ls": "task list",
    "list": "task list",
    "ps": "runs",
    "kill": "stop",
    "flow": "phase",
    "task new": "task start",
    "task ls": "task list",
    "task get": "task show",
    "worktree ls": "worktree list",
    "workflow ls": "workflow list",
    "session ls": "session list",
    "worktree restore": "task reopen",
}

_CLOSE = "`siding task close TASK` moves its workspace to the trash, --delete its records as well"
_GO_ON = (
    "`siding attach` shows a run that goes on, `siding session` goes on with a conversation, "
    "`siding workflow resume` with a workflow, `siding task reopen` with a closed task"
)
_RECORD = (
    "a run records what it changed by itself; `siding checkpoint` records what you changed, and "
    "`siding apply` makes the commit on the main line"
)

# What is typed -> what does that here: several commands could be meant, or one that takes away.
INSTEAD: dict[str, str] = {
    "add": _RECORD,
    "branch": "each task has its own: `siding task list`, `siding worktree list`",
    "checkout": "`siding switch TASK` chooses a task, `siding rollback` goes back to a step",
    "clean": "`siding gc` says what tasks use on disk, and frees closed ones",
    "commit": _RECORD,
    "continue": _GO_ON,
    "delete": _CLOSE,
    "history": "`siding log` shows the steps of a task, `siding task list --all` all tasks",
    "merge": "`siding apply` puts a task's change onto the main line; `siding sync` brings the "
    "main line into the task",
    "push": "`siding pr` pushes a task's branch and opens a pull request",
    "rebase": "`siding sync` brings the main line into the task",
    "remove": _CLOSE,
    "reset": "`siding rollback --base` goes back to where the task began, --step N to a step",
    "restore": "`siding task reopen TASK` brings a closed task back, `siding rollback --step N "
    "PATH` a file",
    "resume": _GO_ON,
    "revert": "`siding undo` takes the newest act back, `siding rollback` goes to any step",
    "rm": _CLOSE,
    "update": "`siding task update` changes a task; pipx, uv or pip bring Siding up to date",
    "wrap": "`siding run -- COMMAND` runs any command in the task's workspace and records it",
    "task complete": "`siding task close TASK` finishes a task; --keep leaves its workspace",
    "task create": "`siding task start NAME` makes a task and its workspace, --no-workspace one "
    "that is only planned",
    "task delete": _CLOSE,
    "task rm": _CLOSE,
    "worktree create": "`siding task start NAME` makes a task with its workspace, `siding worktree "
    "add TASK` gives one to a task that is there",
    "worktree rm": "`siding worktree remove TASK` moves a workspace to the trash",
    "worktree run": "`siding run -t TASK -- COMMAND` runs a command in a task's workspace",
    "phase back-confirm": "`siding phase back-part PHASE SUMMARY` goes back at once",
    "phase clean": "earlier passes stay in `siding phase list`; `siding task close` ends a task",
    "workflow stop": "`siding workflow kill RUN` ends a run, or one of its agents",
}
