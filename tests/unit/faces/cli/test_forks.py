"""What the verbs about forks say: a name or an id for programs, sentences for people."""

from integration.forks.bench import made, state
from integration.undo.desk import Desk
from unit.faces.cli.in_process import CommandLine


def ids(siding: CommandLine) -> dict[str, str]:
    """Return the ids of all tasks, by their names."""
    told = siding.json("task", "list", "--format", "json")
    return {each["name"]: each["id"] for each in told}


def test_a_fork_of_a_task_takes_its_name_and_a_program_gets_its_id(
    desk: Desk, siding: CommandLine
) -> None:
    said = siding("fork")
    assert said.out == ""
    assert "work (fork)" in said.err
    named = siding("-q", "fork", "--task", desk.task.id, "another")
    tasks = ids(siding)
    assert tasks.keys() == {"work", "work (fork)", "another"}
    assert named.out == tasks["another"] + "\n"


def test_a_fork_that_is_kept_is_told_by_its_id_to_programs_alone(
    desk: Desk, siding: CommandLine
) -> None:
    first, second = (made(desk, state(desk), call) for call in ("a", "b"))
    assert siding("task", "keep", first.id, "for people").out == ""
    made_id = siding("-q", "task", "keep", second.id, "for programs").out.strip()
    assert ids(siding)["for programs"] == made_id
    assert "for people" in ids(siding)


def test_what_came_back_and_what_disagrees_is_said(desk: Desk, siding: CommandLine) -> None:
    found = made(desk, state(desk))
    (found.path / "one").write_text("1\n")
    said = siding("task", "bring-back", found.id)
    assert (said.out, said.err.count("step ")) == ("", 1)
    assert f"the task has all of {found.id} already" in siding("task", "bring-back", found.id).err
    told = siding.json("task", "bring-back", found.id, "--format", "json")
    assert told == {"step": None, "conflicts": [], "left": {}, "kept": []}
    (found.path / "hello.txt").write_text("mine\n")
    desk.write("hello.txt", "theirs\n")
    said = siding("task", "bring-back", found.id, status=1)
    assert "disagree; nothing was changed" in said.err
    assert "hello.txt" in said.err
    told = siding.json("task", "bring-back", found.id, "--format", "json", status=1)
    assert told["step"] is None
    assert [each["name"] for each in told["conflicts"]] == ["hello.txt"]


def test_what_is_dropped_and_what_stays_is_said(desk: Desk, siding: CommandLine) -> None:
    forks = [made(desk, state(desk), call) for call in ("a", "b")]
    for each in forks:
        each.close()  # they are not worked with any more
    other = forks[1]
    (other.path / "own").write_text("own\n")
    said = siding("task", "drop").err
    assert "dropped 1 fork" in said
    assert f"{other.id} has changes of its own: `siding diff -t {other.id}`" in said
    said = siding("task", "drop", other.id).err
    assert f"dropped {other.id}; `siding task keep {other.id}` still takes its last state" in said
