"""How calls of tools are shown, in a terminal, as Markdown and on a page."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.transcripts.markdown import markdown, says_nothing, shown_call
from siding.agents.transcripts.page import page

OLD_NEW = {"old_string": "a\nb\nc\n", "new_string": "a\nB\nc\n"}
CALLS: list[tuple[str, object, tuple[str, str, str]]] = [
    (
        "Edit",
        {"file_path": "x.py", **OLD_NEW},
        ("Edit x.py", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "diff"),
    ),
    (
        "MultiEdit",
        {"file_path": "x.py", "edits": [{"old_string": "a", "new_string": "b"}, 5]},
        ("MultiEdit x.py", "@@ -1 +1 @@\n-a\n+b\n", "diff"),
    ),
    (
        "Bash",
        {"command": "ls -l", "description": "List"},
        ("Bash: List", "ls -l", "sh"),
    ),
    ("shell", {"command": ["ls", "-l"]}, ("shell", "ls -l", "sh")),
    ("Read", {"file_path": "x.py", "offset": 3}, ("Read x.py offset 3", "", "")),
    ("Write", {"file_path": "x.py", "content": "a\n"}, ("Write x.py", "a\n", "")),
    (
        "apply_patch",
        {"input": "*** Begin Patch\n*** End Patch"},
        ("apply_patch", "*** Begin Patch\n*** End Patch", "diff"),
    ),
    ("Other", {"a": 1}, ("Other", '{\n  "a": 1\n}', "json")),
]


@pytest.mark.parametrize(("name", "arguments", "wanted"), CALLS)
def test_calls_are_shown_by_what_they_do(
    name: str, arguments: object, wanted: tuple[str, str, str]
) -> None:
    assert tuple(shown_call(name, arguments)) == wanted


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["command", "file_path", "edits", "old_string", "new_string", "input"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(JSON, JSON)
def test_arguments_of_any_shape_are_shown(name: Any, arguments: Any) -> None:
    assert shown_call(name, arguments).label


def answer(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": list(blocks)}}


def test_a_page_has_diffs_and_images_and_nothing_else_that_is_loaded() -> None:
    edit = {"type": "tool_use", "name": "Edit", "input": {"file_path": "<x>", **OLD_NEW}}
    image = {"type": "image", "source": {"media_type": "image/png", "data": "aGk="}}
    drawing = {"type": "image", "source": {"media_type": "image/svg+xml", "data": "aGk="}}
    odd = {"type": "image", "source": {"media_type": "image/png", "data": '"><script>'}}
    shown = "".join(page("t", [answer(edit, image, drawing, odd)]))
    assert "<del>-b\n</del><ins>+B\n</ins>" in shown
    assert "<summary>Edit &lt;x&gt;</summary>" in shown
    assert shown.count("<img ") == 1
    assert 'src="data:image/png;base64,aGk="' in shown
    assert "<script>" not in shown
    assert shown.count("[image]") == 2
    assert "<img" not in "".join(page("t", [answer({**image, "type": "document"})]))
    without = "".join(page("t", [answer(image)], images=False))
    assert "<img" not in without
    assert "[image]" in without


def test_hooks_and_empty_attachments_say_nothing() -> None:
    hook = {"type": "system", "subtype": "stop_hook_summary"}
    empty = {"type": "attachment", "attachment": {"type": "skill_listing"}}
    named = {"type": "attachment", "attachment": {"filename": "notes.txt"}}
    boundary = {"type": "system", "subtype": "compact_boundary"}
    assert [says_nothing(each) for each in (hook, empty, named, boundary)] == [
        True,
        True,
        False,
        False,
    ]
    assert "".join(markdown("t", [hook, empty])) == "# t\n"
    assert "notes.txt" in "".join(markdown("t", [named]))
