"""`siding agent context` and `siding agent perf`."""

from integration.undo.desk import Desk
from unit.faces.cli.in_process import CommandLine

from .conversations import Asked, Talk, fixed


def test_a_new_conversation_has_a_system_prompt_and_tools(siding: CommandLine, desk: Desk) -> None:
    found = siding.json("agent", "context", "--json")
    assert (found["session"], found["messages"], found["counted"]) == ("", [], None)
    assert {"Read", "Bash"} <= {each["name"] for each in found["tools"]}
    sizes = [each["tokens"] for each in (*found["parts"], *found["tools"])]
    assert found["tokens"] == sum(sizes)
    assert all(sizes)
    text = siding("agent", "context").out
    assert text.startswith("a new one\nabout ")
    assert f"of {found['window']:,} (" in text


def test_instruction_files_are_parts_of_it(siding: CommandLine, desk: Desk) -> None:
    (desk.root / "AGENTS.md").write_text("Be brief. " * 400)
    parts = siding.json("agent", "context", "--json")["parts"]
    (own,) = [each for each in parts if each["name"].endswith("AGENTS.md")]
    assert own["tokens"] >= 1000


def test_messages_are_counted_by_kind_until_they_are_compacted(
    siding: CommandLine, desk: Desk
) -> None:
    fixed(desk)
    found = siding.json("agent", "context", "--json")
    tokens = {(each["name"], each["origin"]): each["tokens"] for each in found["messages"]}
    assert tokens["results of tools", "tools"] == 300 // 4 + len("2 failed") // 4
    assert ("calls of tools", "the model") in tokens
    assert found["counted"] == 15
    assert "the model counted 15 with the last request" in siding("agent", "context").out
    siding("session", "compact", "--clear-results", "0")
    after = siding.json("agent", "context", "--json")["messages"]
    less = {(each["name"], each["origin"]): each["tokens"] for each in after}
    assert less["results of tools", "tools"] != tokens["results of tools", "tools"]


def test_an_image_is_a_fixed_size_and_not_its_letters(siding: CommandLine, desk: Desk) -> None:
    talk = Talk(desk)
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 100_000}}
    talk.session.user([{"type": "text", "text": "look"}, image])
    talk.text("I see.", Asked(input=7))
    talk.close()
    found = siding.json("agent", "context", "--json")["messages"]
    (images,) = [each for each in found if each["name"].startswith("images")]
    assert images["tokens"] == 1600


def test_a_named_conversation_that_is_not_there_is_not_a_new_one(
    siding: CommandLine, desk: Desk
) -> None:
    assert "no session 'nothing'" in siding("agent", "context", "nothing", status=1).err


def test_phases_of_the_start_are_measured(siding: CommandLine, desk: Desk) -> None:
    fixed(desk)
    found = siding.json("agent", "perf", "-", "--json")
    names = [each["name"] for each in found["phases"]]
    assert names == ["python", "version", "command", "agent"]
    assert not [each["problem"] for each in found["phases"] if each["problem"]]
    modules = [each["modules"] for each in found["phases"]]
    assert modules == sorted(modules)
    assert found["phases"][-1]["memory"] > 1 << 20
    assert {each["name"] for each in found["tools"]} == {"Read", "Bash"}


def test_a_library_that_cannot_be_loaded_is_said(siding: CommandLine, desk: Desk) -> None:
    (desk.sandbox.directory / "fake").mkdir()
    fake = desk.sandbox.directory / "fake" / "httpx2.py"
    fake.write_text("raise ImportError('it is broken')\n")
    siding.env |= {"SIDING_AGENT_MODEL": "local:x", "PYTHONPATH": str(fake.parent)}
    *_, last = siding.json("agent", "perf", "--json")["phases"]
    assert (last["name"], "it is broken" in last["problem"]) == ("libraries", True)
    assert "it is broken" in siding("agent", "perf").out
