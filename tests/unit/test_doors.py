"""Imports inside functions: only in the modules listed here, each with what it keeps out.

Everything else imports at the top. A door is worth it when a command that people wait for would
load several modules more without it, or a large one of the standard library: each door but a
handful keeps out 0.5 to 60 ms of what its own module has not loaded anyway.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "siding"

DOORS = {
    # The start of every command.
    "cli/main.py": "the command's own module, help, argparse for what needs none",
    "cli/edge.py": "the report of an error",
    "cli/help.py": "textwrap",
    "cli/verbs/complete.py": "a completion loads what it completes",
    "cli/task/start.py": "going back and applying, for a task that starts from somewhere else",
    "cli/verbs/show.py": "the screens of programs that draw",
    "cli/runs/output.py": "the same",
    "cli/verbs/status.py": "the broker; all that the whole status looks at, for the short one",
    "cli/verbs/run.py": "what is said of a task that a run started; the background",
    "cli/agent/work.py": "the loop and its tools, within a run; runs, outside of one",
    "cli/agent/starting.py": "what is said of a task that a run started",
    "cli/screen/screen.py": "progress lines with their thread; tables of characters",
    "cli/screen/pager.py": "the pager's process",
    "cli/telling/step_lines.py": "policy, sandbox and coverage, for the steps that have them",
    "cli/telling/runs.py": "what was refused, for runs with a list of hosts",
    "cli/telling/guards.py": "what looks for a sandbox: it is asked about once",
    "cli/telling/isolation.py": "the isolation of a run",
    "cli/decide/submit.py": "webbrowser",
    "cli/verbs/mcp.py": "the SDK of the protocol, an extra",
    "adapters/agents/headless/scripted_program.py": "yaml, for a table that is no JSON",
    "adapters/models/any_model.py": "the libraries of models, an extra: 1 to 3 s",
    "adapters/models/scripted.py": "yaml, for a script that is no JSON",
    "app/broker/answers.py": "workflows and patches, for the few runs that ask for them",
    "app/waiting/inbox.py": "the states of workflows, where there are runs of any",
    "app/waiting/tasks.py": "the same",
    "app/waiting/today.py": "the same",
    "cli/telling/beside.py": "what ends a workflow, for those who ask for it",
    "adapters/prices.py": "genai-prices with pydantic, an extra: 0.2 s; yaml",
    "cli/verbs/usage.py": "csv, which the table needs not",
    "sessions/counting/opencode.py": "urllib.parse with ipaddress, where there is no database",
    "app/usage/report.py": "the prices, where dollars are asked",
    # The project: git, redaction and repairs, for the commands that need them.
    "app/place/project.py": "git; a project that is new, moved, or whose links are wrong",
    "app/place/project_places.py": "git, to tell a copy from a move",
    "app/place/redaction.py": "the rules of redaction",
    "app/agent/subagent_files.py": "yaml, for files that define subagents",
    "app/place/settings.py": "yaml, for settings that are there",
    "app/traps/marks.py": "traps that no snapshot has, where a sandboxed run was",
    "app/place/selection.py": "difflib, for a name that is not there",
    "app/place/dashboard.py": "hmac",
    "app/place/locks.py": "the process tree, when a task is busy; processes left paused",
    "app/acts/quiet.py": "git in a sandbox, where a sandboxed run was",
    "app/back/sandbox_part.py": "the same",
    "app/place/lost_workspaces.py": "git's worktrees, when the registry is lost",
    "app/place/old_home.py": "git's worktrees, for a task of another tool",
    "runs/store.py": "the processes of a run whose lock cannot be opened",
    # What is rare in an act.
    "app/acts/skeleton.py": "the pausing of runs, while some live",
    "app/unfinished/by_kind.py": "the recovery of each kind of act",
    "app/unfinished/runs.py": "commits of a sandbox that was cut off",
    "app/life/recovery.py": "workspaces whose making was cut off",
    "app/recording/opening.py": "a cut-off phase move; a task of another tool; a broken link",
    "app/recording/artifacts.py": "the output of runs",
    "app/recording/recorder.py": "runs that were cut off; traps, for steps that changed something",
    "app/running/weights.py": "what a sandbox may write, for runs that have one",
    "app/running/held.py": "traps, for tasks that have had a sandboxed run",
    "adapters/traps/parts.py": "tomllib",
    "app/running/agents.py": "how an agent reports, for runs of agents that can",
    "app/running/broker.py": "what a run asked, for the few that ask",
    "app/running/wire.py": "the proxy, for the runs that have one",
    "app/running/checkpoint.py": "what passed the proxy, for turns of these runs",
    "app/sandbox/launch.py": "lists of hosts, for the sandboxes that have one",
    "app/sandbox/settings.py": "ipaddress, for lists of hosts",
    "wire/reaching.py": "ssl: 28 ms, and models on this machine are reached without it",
    "app/running/plan.py": "ports, once in a task; a broken link",
    "app/running/command.py": "versions, once in a task; traps, for sandboxed runs; what was left",
    "app/recording/snapshots.py": "a look without a snapshot; shutil, tempfile",
    "app/recording/calling_step.py": "the process tree, inside a step",
    "app/policy/enforcement.py": "the policy, where there is one",
    "app/sandbox/sandbox.py": "the sandbox, for runs that have one",
    "app/running/run.py": "the start of a task, for a run that starts one",
    "app/running/isolation.py": "the comparison of checkouts, which runs behind the command",
    "app/undo/undo.py": "git's side of an apply",
    "app/phases/gates.py": "the whole of a run, for a gate that is a command",
    "app/phases/phases.py": "git, when a phase move was cut off",
    "app/decisions/gates.py": "the phases, for decisions that are a gate's",
    "app/waiting/short.py": "the questions, in a project in which none was asked",
    "app/waiting/calling.py": "urllib, where a webhook is set",
    "app/waiting/notifier.py": "the notifications, where they are set up",
    "app/devices/desk.py": "cryptography, before a device signs; it is an extra of the package",
    "app/devices/serving.py": "cryptography, where the dashboard is not served to devices",
    "app/doctor/sandbox.py": "socket",
    "app/life/archives.py": "tarfile",
    "app/life/collection.py": "shutil",
    "workflows/structured.py": "jsonschema: 90 ms, and most calls have no schema",
    "tools/search/choosing.py": "importlib.metadata with email, until something is searched",
    "tools/checking.py": "jsonschema: 90 ms, until a tool is called",
    # A step: what only some kinds and some questions need.
    "ledger/step.py": "everything but the fields that all steps have",
    "ledger/details/__init__.py": "the kinds of steps that a ledger does not have",
    "ledger/draft.py": "the fields of a run",
    "ledger/intents.py": "the drafts, when an act is in progress",
    # Redaction: text without a trace of a secret needs few rules.
    "redaction/redactor.py": "names and values that sound secret",
    "redaction/commands.py": "the same",
    "redaction/rules.py": "rules for text around a secret",
    "redaction/stream.py": "Hyperscan, for long streams; blocks, for few",
    "redaction/window.py": "rules for key blocks",
    "redaction/word_lists.py": "the words of a wallet's seed",
    # Large modules of the standard library and of others.
    "git/settings.py": "the repository's own drivers, where it has some",
    "git/repository.py": "attributes, where a filter is off",
    "app/life/startcard.py": "the same",
    "git/discovery.py": "reading an index, where core.bare is set in a repository that has one",
    "git/refs.py": "git, where refs are not files",
    "git/applying/checkout.py": "shutil",
    "git/worktrees/linked.py": "shutil",
    "hashing.py": "OpenSSL, for what is large",
    "policy/hosts.py": "unicodedata and ipaddress, for addresses in odd spellings",
    "policy/examiner.py": "what loops write without end, for the few lines that have a loop",
    "policy/programs/plain.py": "names of tasks, for programs that run a project's script",
    "policy/programs/service_meanings.py": "the scan of program texts, which few commands hold",
    "policy/programs/text_meanings.py": "the scan of program texts, which few commands hold",
    "process/secluded.py": "ctypes, for processes that have secrets",
    "policy/file.py": "yaml; the table of programs, for a file with rows",
    "policy/row.py": "difflib, for a word that is not there",
    "process/broker/follow.py": "stands alone, as the next one",
    "process/broker/tools_front.py": "threads and processes, until a tool is used",
    "process/broker/hook.py": "its neighbour, which it finds without the package",
    "process/broker/client.py": "`os`, when it is only a module",
    "process/output/behind.py": "threads",
    "process/control/control.py": "what serves viewers, for runs that live longer than a moment",
    "process/output/digest.py": "threads",
    "process/procfs.py": "ctypes",
    "process/pausing/suspending.py": "the stopping of a whole tree, at Ctrl-Z without a terminal",
    "web/command.py": "webbrowser",
    "prose.py": "the Markdown parser",
    "agent/context/imports.py": "the same, for instruction files that import something",
    "web/syntax.py": "the lexers",
}


# One at the top of a module begins its line; the formatter leaves none behind other code.
INDENTED = re.compile(r"^[ \t]+(?:import|from)\b", re.MULTILINE)


def imports_inside(source: str) -> Iterator[str]:
    """Yield the modules that functions of a module import."""
    if not INDENTED.search(source):
        return  # most modules: parsing all takes seconds
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for each in ast.walk(node):
                if isinstance(each, ast.ImportFrom):
                    yield each.module or "."
                elif isinstance(each, ast.Import):
                    yield from (alias.name for alias in each.names)


def test_only_doors_import_inside_functions() -> None:
    inside = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(imports_inside(path.read_text(encoding="utf-8")))
    }
    assert sorted(inside - DOORS.keys()) == [], "import at the top, or say here what it keeps out"
    assert sorted(DOORS.keys() - inside) == [], "it is no door any more"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import os\n", []),
        ("def f():\n    import os\n", ["os"]),
        ("class A:\n    async def f(self):\n        if 1:\n            from a import b\n", ["a"]),
    ],
)
def test_an_import_inside_a_function_is_found(source: str, found: list[str]) -> None:
    assert list(imports_inside(source)) == found
