"""Imports inside functions: only in verbs, and in the modules listed here with what each keeps out.

A verb's module has at its top what its parser needs, and each function that carries the verb out
imports the feature: so `--help`, a usage error and a completion load nothing of it.

Everything else imports at the top. A door is worth it when a command that people wait for would
load several modules more without it, or a large one of the standard library: each door but a
handful keeps out 0.5 to 60 ms of what its own module has not loaded anyway.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from siding.faces.cli.table import module_of
from unit.verb_imports import places

SOURCE = Path(__file__).parents[2] / "src" / "siding"

DOORS = {
    # The start of every command.
    "faces/cli/main.py": "the command's own module, help, argparse for what needs none",
    "faces/cli/edge.py": "the report of an error",
    "faces/tui/start.py": "the screen with Textual, or plain mode: each only where it is shown",
    "record/place/terminal_settings.py": "yaml, for a file that has such a section",
    "faces/cli/globals.py": "the home and the clock, which no page of help needs",
    "faces/cli/help.py": "textwrap",
    "faces/cli/overview.py": "textwrap; the table, where one group is shown",
    "faces/cli/formats.py": "json and pathlib, for the pages of verbs that can print",
    "faces/cli/screen/screen.py": "progress lines with their thread; tables of characters",
    "faces/cli/screen/pager.py": "the pager's process; shlex",
    "chat/conversations.py": "what makes a task, where one is wanted: a host needs it never",
    "chat/hold.py": "what reads agents' transcripts, where a screen was cut off: 5 MB of each host",
    "chat/host.py": "what puts an ask to a person, until an agent asks: 6 MB of each host",
    "faces/cli/chat/pieces.py": "difflib, for an agent that sends two texts and no patch",
    "faces/cli/chat/input.py": "the pictures, which a page of help does not need",
    "faces/cli/chat/which.py": "the conversations, which a page of help does not need",
    "faces/cli/sessions/options.py": "as a verb: the sessions, which the options need not",
    "faces/cli/record/step_lines.py": "policy, sandbox and coverage, for the steps that have them",
    "faces/tui/places/home/acting.py": "what acts, until the list is there: 90 of its 120 ms",
    "faces/tui/places/home/place.py": "what acts, until the list is there: 90 of its 120 ms",
    "faces/tui/cards/answering.py": "what reads about an ask: a thread loads it",
    "faces/tui/effort_act.py": "conversations, until an effort is asked for",
    "faces/tui/status_line.py": "settings, tasks and conversations, until the screen is there",
    "faces/tui/table.py": "each place, until it is shown first",
    "faces/cli/telling/runs.py": "questions, where somebody is asked; what hosts were refused",
    "faces/cli/telling/questions.py": "what looks for a sandbox: it is asked about once",
    "faces/cli/telling/step_words.py": "the isolation of a run, where something changed elsewhere",
    "faces/cli/telling/restorations.py": "the questions, where consent is needed",
    "agents/headless/scripted_program.py": "yaml, for a table that is no JSON",
    "assistant/settings.py": "asyncio, until an answer is kept",
    "assistant/models/any_model.py": "the libraries of models, an extra: 1 to 3 s",
    "assistant/models/scripted.py": "yaml, for a script that is no JSON",
    "broker/inside.py": "the messages, where there is no broker to ask",
    "broker/answers.py": "workflows and patches, for the few runs that ask for them",
    "feed/destination.py": "runs of workflows and conversations, where one is named",
    "chat/notices.py": "the ways to tell a person, until there is something to tell",
    "feed/running.py": "conversations, where there are any",
    "feed/agent_waits.py": "the emulator and the way to a host, until an agent may ask",
    "feed/project_fold.py": "workflows and conversations, where there are any",
    "feed/board.py": "the workspace and the ports of a task, for the one that is shown",
    "faces/cli/telling/whole_feed.py": "the hub and the fold, for the status of one task",
    "faces/cli/telling/beside.py": "what ends runs and workflows, for those who ask for it",
    "usage/prices.py": "genai-prices with pydantic, an extra: 0.2 s; yaml",
    "agents/opencode/counting.py": "urllib.parse, where there is no database",
    "usage/report.py": "the prices, where dollars are asked",
    # The project: git, redaction and repairs, for the commands that need them.
    "record/place/project.py": "stores, until they are asked; projects new, moved or badly linked",
    "record/place/lost_projects.py": "git, to tell a copy from a move",
    "record/place/project_of_repository.py": "the search for a repository that was moved",
    "record/place/redaction.py": "the rules of redaction",
    "assistant/subagent_kinds.py": "yaml, for files that define subagents",
    "record/place/settings.py": "yaml, for files that say something",
    "record/place/settings_files.py": "the sections, for the same",
    "record/place/settings_sections.py": "the plan of phases",
    "record/traps/marks.py": "traps that no snapshot has, where a sandboxed run was",
    "record/place/selection.py": "runs, outside of one; names, where the task is not named",
    "record/place/dashboard.py": "hmac",
    "record/place/locks.py": "what a busy task is busy with; processes left paused",
    "record/acts/pausing.py": "git in a sandbox, where a sandboxed run was",
    "record/restoring/act.py": "the same; HEAD, branch and index, where they differ; the trash",
    "record/files/restore.py": "what cannot be moved, where something cannot",
    "record/restoring/survey.py": "links and the trash, where there are any; git, where it differs",
    "record/restoring/git_plan.py": "git's worktrees, where HEAD or a branch moves",
    "record/place/lost_workspaces.py": "git's worktrees, when the registry is lost",
    "record/place/task_workspace.py": "git's worktrees, for a task of another tool",
    "record/place/wiring.py": "what marks the processes of a step; durable writing, once in a home",
    "record/runs/paused.py": "what lets processes go on, where some were left paused",
    "record/place/busy.py": "the process tree",
    "record/place/named_task.py": "difflib, for a name that is not there",
    "record/runs/store.py": "the records, where there are any",
    # What is rare in an act.
    "record/acts/skeleton.py": "the pausing of runs, while some live",
    "record/unfinished/by_kind.py": "the recovery of each kind of act",
    "record/unfinished/runs.py": "commits of a sandbox that was cut off",
    "record/workspaces/recovery.py": "workspaces whose making was cut off",
    "record/recording/opening.py": "a cut-off phase move; a task of another tool; a broken link",
    "record/recording/artifacts.py": "what a run asked; the recovery of an output",
    "record/recording/recorder.py": "runs that were cut off; traps, for steps with changes",
    "running/outside_changes.py": "what a sandbox may write, for runs that have one",
    "running/held.py": "traps, for tasks that have had a sandboxed run",
    "agents/traps.py": "tomllib",
    "running/companions.py": "how an agent reports, what was asked, the proxy: for runs with them",
    "running/isolation.py": "the comparison of checkouts, behind the command; whose a change is",
    "running/checkpoint.py": "what passed the proxy, for turns of these runs",
    "sandbox/launch.py": "lists of hosts, for the sandboxes that have one",
    "sandbox/settings.py": "ipaddress, for lists of hosts",
    "sandbox/wire/ends.py": "ssl: 28 ms, and models on this machine are reached without it",
    "running/plan.py": "ports, once in a task; a broken link",
    "running/command.py": "versions, once in a task; the watch for turns, `siding gc`, traps, what "
    "was left: for few",
    "record/recording/snapshots.py": "what each question needs; tempfile; what joins packs",
    "record/recording/calling_step.py": "the process tree, inside a step",
    "record/recording/status.py": "what runs left running, where one did",
    "guard/enforcement.py": "the policy, where there is one",
    "sandbox/sandbox.py": "the sandbox, for runs that have one",
    "applying/apply.py": "the closing of the task, hooks, proofs, where they are asked for",
    "applying/content.py": "links and submodules, and the conversion of files: for tasks with any",
    "applying/history.py": "the graph of commits, after the branch was rewritten",
    "applying/rolled_back_commits.py": "the graph of commits, where a rollback was",
    "applying/plan.py": "links and the graph of commits, where the agent made any",
    "applying/task_title.py": "what was asked and gone back from, for a name made from a command",
    "applying/git/attributes.py": "filters of the repository that are off",
    "applying/branch_move.py": "the way back of a move, when it fails or is undone",
    "applying/git/merging.py": "the entries of an index, for conflicts",
    "record/recording/held_traps.py": "what is trusted, where there are traps",
    "record/recording/line_base.py": "the line of a task that was synced",
    "running/run.py": "the start of a task, for a run that starts one; the name of that task",
    "usage/reached.py": "how Siding is installed, where an extra is missing",
    "undo/undo.py": "git's side of an apply; the closing and opening of tasks; titles of prompts",
    "phases/gates.py": "the whole of a run, for a gate that is a command",
    "phases/phases.py": "git, when a phase move was cut off",
    "asking/kinds.py": "the phases, for decisions that are a gate's",
    "feed/short.py": "questions and acts in progress, where there are none",
    "asking/notifications.py": "urllib, where a webhook is set",
    "asking/notifier.py": "the notifications, where they are set up",
    "asking/devices/refusals.py": "how Siding is installed, where an extra is missing",
    "agents/claude/hooks.py": "transcripts, for an agent that goes on with no conversation: 2.5 MB",
    "agents/claude/talking.py": "transcripts, for an agent that does not go back: 2.5 MB",
    "ground/process/job.py": "tempfile, for commands that read nothing",
    "asking/devices/device.py": "OpenSSL, where no code is checked: 3.5 MB of each host",
    "running/agent_reports.py": "what counts in transcripts, until a run ends: 3 MB of each host",
    "running/hosting.py": "concurrent.futures with logging, for coroutines: 1 MB of each host",
    "asking/devices/desk.py": "cryptography, before a device signs; it is an extra of the package",
    "asking/devices/store.py": "cryptography, where the dashboard is not served to devices",
    "upkeep/sandbox.py": "socket",
    "record/workspaces/archives.py": "tarfile; shutil",
    "workflows/display.py": "entries of the inbox, which lists of runs have none of",
    "workflows/structured.py": "jsonschema: 90 ms, and most calls have no schema",
    "assistant/tools/search/ripgrep.py": "importlib.metadata, until something is searched",
    "assistant/tools/spec.py": "jsonschema: 90 ms, until a tool is called",
    # A step: what only some kinds and some questions need.
    "record/ledger/step.py": "the details of the kinds of steps",
    "record/ledger/step_fields.py": "reports that few steps have",
    "record/recording/freed.py": "the journal, in a project that has freed nothing",
    "record/recording/logged.py": "the graph, for a log without one; paths, for a search by one",
    "record/recording/difference.py": "one step, freed or not; figures for programs",
    "record/recording/named_paths.py": "the trees of snapshots, where paths are named",
    "record/recording/missing_steps.py": "the intents, for what is in progress or torn",
    "record/ledger/draft.py": "the kinds of steps that a ledger does not have",
    "record/ledger/intents.py": "the drafts, when an act is in progress",
    # Redaction: text without a trace of a secret needs few rules.
    "secretmask/redactor.py": "names and values that sound secret; streams, where texts are clean",
    "secretmask/commands.py": "the same",
    "secretmask/rules.py": "rules for text around a secret",
    "secretmask/places.py": "the judging of values, and key blocks, where none is found",
    "secretmask/phrases.py": "the judging of values, where none is found",
    "secretmask/stream.py": "Hyperscan, for long streams; blocks, for few",
    "secretmask/window.py": "rules for key blocks",
    # Large modules of the standard library and of others.
    "ground/git/settings.py": "the repository's own drivers, where it has some",
    "ground/git/repository.py": "attributes, where a filter is off",
    "tasks/startcard.py": "the same",
    "ground/git/discovery.py": "reading an index, where core.bare is set beside one",
    "ground/git/refs.py": "git, where refs are not files; durable writing",
    "ground/git/objects.py": "durable writing, for commands that only read",
    "record/worktrees/linked.py": "shutil",
    "record/tasks/terminals.py": "processes, where no terminal is bound to a task; durable writing",
    "record/tasks/store.py": "durable writing, for commands that only read",
    "record/snapshots/changes.py": "coverage, where something is left out",
    "record/snapshots/status_look.py": "sparse checkouts, and durable writing, for a look only",
    "record/snapshots/tree_look.py": "the index made anew; modes that are in no cache",
    "record/snapshots/capture.py": "what a change needs, and a failure, and a branch elsewhere",
    "record/snapshots/git_look.py": "the storing, where the index or a small file changed",
    "ground/files/attributes.py": "ctypes, where no flags are asked for",
    "ground/hashing.py": "OpenSSL, for what is large",
    "shellguard/hosts.py": "unicodedata and ipaddress, for addresses in odd spellings",
    "shellguard/examiner.py": "what loops write without end, for the few lines that have a loop",
    "shellguard/programs/plain.py": "names of tasks, for programs that run a project's script",
    "shellguard/programs/service_meanings.py": "the scan of program texts, which few commands hold",
    "shellguard/programs/text_meanings.py": "the scan of program texts, which few commands hold",
    "ground/process/identity.py": "reading of processes, where none is asked for",
    "ground/process/secluded.py": "ctypes, for processes that have secrets",
    "shellguard/policy.py": "yaml, the engine and rows of programs, until they are needed",
    "shellguard/programs/rows.py": "difflib, for a word that is not there",
    "ground/process/broker/follow.py": "stands alone, as the next one",
    "ground/process/broker/tools_front.py": "threads and processes, until a tool is used",
    "ground/process/broker/hook.py": "its neighbour, which it finds without the package",
    "ground/process/broker/client.py": "`os`, when it is only a module",
    "ground/process/output/recording.py": "threads, for much output",
    "ground/process/control/recent.py": "the modes of a terminal",
    "ground/process/drive.py": "what ends processes, where something has to be ended",
    "ground/process/streams.py": "the modes of a terminal",
    "ground/process/record.py": "what ends processes, where something has to be ended",
    "ground/process/side.py": "terminals, and limits, for commands that have them",
    "ground/process/spawn.py": "a child without a keeper, for systems that have none",
    "ground/process/control/control.py": "what serves viewers, for runs that live longer",
    "ground/process/procfs.py": "ctypes",
    "ground/process/ctrl_z.py": "the stopping of a tree, at Ctrl-Z without a terminal",
    "ground/prose.py": "the Markdown parser",
    "assistant/loop/instructions.py": "the same, for files that import others",
    "ground/storage/documents.py": "what writes, for commands that only read",
    "ground/storage/locks.py": "durable writing, for commands that only read",
    "ground/storage/journals.py": "what writes, for commands that only read",
    "faces/web/syntax.py": "the lexers",
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
    inside -= {f"{'/'.join(module_of(place).split('.')[1:])}.py" for place in places()}
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
