"""What the tools of agents are read as: files and addresses, by what is done to them."""

import json
from pathlib import Path

import pytest

from siding import broker
from siding.agents.hooks import Moment, adapter_of
from siding.agents.places import notes_of
from siding.agents.table import AGENTS
from siding.agents.tool_words import OWN_TOOLS
from siding.ground.process.broker import hook
from siding.shellguard.face import Effect, ToolUse

R, W, D, F = Effect.READS, Effect.WRITES, Effect.DELETES, Effect.FETCHES
PATCH = """*** Begin Patch
*** Add File: a b
+*** Add File: not this
*** Update File: c
*** Move to: d/e
@@
-*** Delete File: nor this
*** Delete File: ../f
*** End Patch
"""
PATCHED = ((W, "a b"), (W, "c"), (W, "d/e"), (D, "../f"))
EVENTS = {"claude": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool"}


def use(agent: str, tool: str, given: dict[str, object]) -> ToolUse | None:
    """Return what a hook of an agent says that it is about to use."""
    adapter = adapter_of(agent)
    assert adapter is not None
    payload = {"hook_event_name": EVENTS[agent], "tool_name": tool, "tool_input": given}
    said = adapter.read(payload)
    if said is None:
        return None
    assert said.moment is Moment.TOOL
    return said.uses


@pytest.mark.parametrize(
    ("agent", "tool", "given", "touches"),
    [
        ("claude", "Write", {"file_path": "/w/a", "content": "x"}, ((W, "/w/a"),)),
        ("claude", "Edit", {"file_path": "/w/a", "old_string": "/etc"}, ((W, "/w/a"),)),
        ("claude", "MultiEdit", {"file_path": "/w/a", "edits": []}, ((W, "/w/a"),)),
        ("claude", "NotebookEdit", {"notebook_path": "/w/a.ipynb"}, ((W, "/w/a.ipynb"),)),
        ("claude", "Read", {"file_path": "/w/a"}, ((R, "/w/a"),)),
        ("claude", "Grep", {"pattern": "x", "path": "/w"}, ((R, "/w"),)),
        ("claude", "Grep", {"pattern": "x"}, ()),
        ("claude", "WebFetch", {"url": "https://e.org", "prompt": "x"}, ((F, "https://e.org"),)),
        ("codex", "apply_patch", {"command": PATCH}, PATCHED),
        ("codex", "write_stdin", {"session_id": 1, "chars": ":!ls"}, ((Effect.TYPES, ":!ls"),)),
        ("gemini", "save_memory", {"fact": "x"}, ((W, "~/.gemini/GEMINI.md"),)),
        ("gemini", "write_file", {"file_path": "a", "content": "x"}, ((W, "a"),)),
        ("gemini", "replace", {"file_path": "a"}, ((W, "a"),)),
        ("gemini", "read_file", {"file_path": "a"}, ((R, "a"),)),
        ("gemini", "read_many_files", {"include": ["a", "b/*"]}, ((R, "a"), (R, "b/*"))),
        (
            *("gemini", "web_fetch", {"prompt": "Sum up https://e.org/a and http://127.0.0.1:1/."}),
            ((F, "https://e.org/a"), (F, "http://127.0.0.1:1/.")),
        ),
    ],
)
def test_its_tools(
    agent: str, tool: str, given: dict[str, object], touches: tuple[tuple[Effect, str], ...]
) -> None:
    assert use(agent, tool, given) == ToolUse(tool, tuple(touches))


@pytest.mark.parametrize("tool", ["TodoWrite", "Task", "Glob", "mcp__any__thing", ""])
def test_other_tools_are_of_no_interest(tool: str) -> None:
    assert use("claude", tool, {"file_path": "/etc/passwd"}) is None


def test_a_tool_that_is_not_known_is_told_with_its_input() -> None:
    adapter = adapter_of("opencode")
    assert adapter is not None
    payload = {"moment": "tool", "tool": "shop_buy", "given": {"item": "a"}, "cwd": "/w"}
    said = adapter.read(payload)
    assert said is not None
    assert said.unknown == ToolUse("shop_buy", ((Effect.UNKNOWN, '{"item": "a"}'),))
    for own in ("siding_task", "todowrite"):
        assert adapter.read({**payload, "tool": own}) is None
    for tool, given in (("bash", {"cmd": "ls"}), ("write", {"path": "a"}), ("read", "a")):
        said = adapter.read({**payload, "tool": tool, "given": given})
        assert said is not None
        assert said.unread.startswith(f"{tool}: ")
        assert (said.command, said.uses) == ("", None)
    said = adapter.read({**payload, "tool": "bash", "given": {"command": "ls"}})
    assert said is not None
    assert (said.command, said.unread) == ("ls", "")


def test_what_a_hook_may_have_cut_off_is_not_judged_by_its_beginning() -> None:
    adapter = adapter_of("codex")
    assert adapter is not None
    typed = {"session_id": 1, "chars": "x" * 20_000 + "\r:!rm -rf ~\r"}
    payload = {"hook_event_name": "PreToolUse", "tool_name": "write_stdin", "tool_input": typed}
    cut = hook._without_contents(payload)
    assert isinstance(cut, dict)
    said = adapter.read(cut)
    assert said is not None
    assert (said.uses, said.unread) == (None, "write_stdin: 'chars' is too long to be judged")
    patch = PATCH.replace("+*** Add", "+" + "x" * 20_000 + "\n+*** Add")
    payload |= {"tool_name": "apply_patch", "tool_input": {"command": patch}}
    cut = hook._without_contents(payload)
    assert isinstance(cut, dict)
    said = adapter.read(cut)
    assert said is not None
    assert said.uses == ToolUse("apply_patch", tuple(PATCHED))


def test_the_tools_of_our_own_server_are_known() -> None:
    text = (Path(broker.__file__).parent / "known_tools.json").read_text()
    found = json.loads(text)["new"]["tools/list"]["result"]["tools"]
    assert {each["name"] for each in found} == OWN_TOOLS
    assert use("claude", "mcp__siding__task", {}) is None
    adapter = adapter_of("claude")
    assert adapter is not None
    other = {"hook_event_name": "PreToolUse", "tool_name": "mcp__siding__shell", "tool_input": {}}
    said = adapter.read(other)
    assert said is not None
    assert said.unknown is not None


def codex_says(command: str) -> tuple[str, ToolUse | None]:
    adapter = adapter_of("codex")
    assert adapter is not None
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash"}
    said = adapter.read({**payload, "tool_input": {"command": command}})
    assert said is not None
    return said.command, said.uses


@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_shell_that_only_applies_a_patch_is_that_tool(quote: str) -> None:
    touches = tuple(PATCHED)
    command = f"apply_patch <<{quote}EOF{quote}\n{PATCH}EOF\n"
    assert codex_says(command) == ("", ToolUse("apply_patch", touches))


@pytest.mark.parametrize(
    "command",
    [
        f"apply_patch <<EOF\n{PATCH}EOF\n",  # a shell would look into it
        f"apply_patch <<'EOF'; rm -rf ~\n{PATCH}EOF\n",
        f"apply_patch <<'EOF'\n{PATCH}EOF\nrm -rf ~\n",
        f"apply_patch <<'EOF'\n{PATCH}EOF\nrm -rf ~\nEOF\n",
        f"cd /; apply_patch <<'EOF'\n{PATCH}EOF\n",
        f"apply_patch <<'EOF\n{PATCH}EOF\n",
        "apply_patch",
    ],
)
def test_any_other_line_is_a_command(command: str) -> None:
    assert codex_says(command) == (command, None)


def test_plain_words_name_what_is_touched() -> None:
    adapter = adapter_of("any")
    assert adapter is not None
    payload = {"moment": "tool", "tool": "save", "writes": ["a", "b"], "reads": "c", "cwd": "/w"}
    said = adapter.read(payload)
    assert said is not None
    touched = ((R, "c"), (W, "a"), (W, "b"))
    assert (said.uses, said.cwd) == (ToolUse("save", touched), "/w")
    only = adapter.read({"moment": "tool", "command": "ls"})
    assert only is not None
    assert (only.command, only.uses) == ("ls", None)


def test_where_an_agent_writes_for_itself() -> None:
    memory = ".claude/projects/-w-my-app-2/memory"
    assert notes_of("claude", "/w/my.app_2") == (".claude/plans", memory)
    assert notes_of(None, "/w") == notes_of("nobody", "/w") == ()
    for agent in AGENTS:
        assert not any(each.startswith(("/", "..")) for each in agent.notes)
