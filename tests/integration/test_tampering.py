"""Whoever changes a record is shown by `siding verify`, also after further steps.

What leaves the anchor alone is found. Who rewrites the anchor as well is shown by a head that was
noted elsewhere, and by nothing else: that is asserted, too.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox import Sandbox
from siding.app.place.project import require_project
from siding.app.place.wiring import open_app
from siding.app.recording.verify import Proof, verify
from siding.errors import SidingError
from siding.ledger.anchor import Anchor

TASK = "demo"
STEPS = (
    ("run", "--no-tty", "--", "sh", "-c", "echo one >one.txt; echo said"),
    ("run", "--no-tty", "--", "sh", "-c", "echo two >two.txt; exit 3"),
    ("run", "--no-tty", "--", "sh", "-c", "echo three >three.txt"),
    ("run", "--no-tty", "--", "sh", "-c", "echo four >four.txt; echo last"),
)


class Home:
    """A real home with a task of four steps and one of two, which can be put back as it was."""

    def __init__(self, directory: Path) -> None:
        self.sandbox = Sandbox(directory)
        self.kept: dict[int, Path] = {}
        self.heads: list[str] = []
        self.sandbox.siding("-q", "task", "start", "other")
        for words in STEPS[:2]:
            self.sandbox.siding("-q", *words, status=None)
        self.sandbox.siding("-q", "task", "start", TASK)
        for number, words in enumerate(STEPS, start=1):
            self.sandbox.siding("-q", *words, status=None)
            self.heads.append(self.sandbox.json("verify", "--format", "json")["head"])
            self.kept[number] = directory / f"kept-{number}"
            self._copy(self.sandbox.project, self.kept[number])
        self.id = self._id(TASK)
        self.root = self.sandbox.project / "tasks" / self.id
        self.ledger = self.root / "ledger.jsonl"
        self.artifacts = self.root / "artifacts"
        self.task_json = self.root / "task.json"
        self.store = self.sandbox.project / "snapshots.git"
        self.anchor = self.store / "tasks" / self.id / "ledger-head"
        self.ref = self.store / "refs" / "tasks" / self.id
        self.registry = self.sandbox.project / "worktrees.json"
        self.other = self.sandbox.project / "tasks" / self._id("other")

    def _id(self, name: str) -> str:
        return str(self.sandbox.json("task", "show", name, "--format", "json")["id"])

    def _copy(self, source: Path, target: Path) -> None:
        """Copy all of a project but its workspaces."""
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("workspaces"))

    def put_back(self, name: str = "", *, as_of: int = len(STEPS)) -> None:
        """Make the project, or a part of it, what it was after that many steps."""
        source, target = self.kept[as_of] / name, self.sandbox.project / name
        if source.is_file():
            shutil.copyfile(source, target)
            return
        for each in target.iterdir():
            if each.name == "workspaces" and not name:
                continue
            shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
        self._copy_over(source, target)

    def _copy_over(self, source: Path, target: Path) -> None:
        shutil.copytree(source, target, dirs_exist_ok=True)

    def lines(self) -> list[bytes]:
        return self.ledger.read_bytes().splitlines(keepends=True)

    def write(self, lines: list[bytes]) -> None:
        self.ledger.write_bytes(b"".join(lines))

    def edit(self, number: int, **fields: Any) -> None:
        """Change fields of a line; negative numbers count from the end; None removes a field."""
        lines = self.lines()
        line = json.loads(lines[number])
        line.update(fields)
        line = {name: value for name, value in line.items() if name not in fields or value != GONE}
        lines[number] = as_line(line)
        self.write(lines)

    def chain_again(self) -> None:
        """Give each line the hash of the one before it, as a forger would."""
        before, made = "0" * 64, []
        for raw in self.lines():
            line = as_line({**json.loads(raw), "prev": before})
            before = sha256(line[:-1]).hexdigest()
            made.append(line)
        self.write(made)

    def anchor_again(self) -> None:
        """Write the anchor that belongs to the ledger as it is now."""
        lines = self.lines()
        head = sha256(lines[-1][:-1]).hexdigest()
        self.anchor.write_bytes(Anchor(len(lines), len(b"".join(lines)), head).encoded())

    def change(self, path: Path, **fields: Any) -> None:
        """Change fields of a document."""
        path.write_text(json.dumps({**json.loads(path.read_bytes()), **fields}))

    def change_workspace(self, **fields: Any) -> None:
        document = json.loads(self.registry.read_bytes())
        for entry in document["worktrees"]:
            if entry["task_id"] == self.id:
                entry.update(fields)
        self.registry.write_text(json.dumps(document))

    def verify(self, *words: str, status: int | None = None) -> str:
        done = self.sandbox.siding("verify", *words, status=status)
        assert b"Traceback" not in done.stderr
        return (done.stdout + done.stderr).decode()

    def prove(self) -> Proof:
        """Verify in this process, where a start costs nothing."""
        project = require_project(open_app(env=self.sandbox.env, cwd=self.sandbox.repo))
        return verify(project, TASK)


GONE = "to be removed"


def as_line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("tampering"))


@pytest.fixture
def home(made: Home) -> Iterator[Home]:
    yield made
    made.put_back()


# --- tamperings that leave the anchor alone ---------------------------------------------------


def last_exit_code(home: Home) -> None:
    home.edit(-1, exit_code=1, status="failed")


def last_command(home: Home) -> None:
    home.edit(-1, cmd=["true"])


def last_snapshot(home: Home) -> None:
    home.edit(-1, snapshot=json.loads(home.lines()[0])["snapshot"])


def last_figures(home: Home) -> None:
    home.edit(-1, diff_stat={"files": 0, "additions": 0, "deletions": 0, "file_list": []})


def last_time(home: Home) -> None:
    home.edit(-1, started_at="2020-01-01T00:00:00.000Z")


def last_without_its_task(home: Home) -> None:
    home.edit(-1, task=GONE)


def last_with_another_number(home: Home) -> None:
    home.edit(-1, step_id="0005")


def last_spelled_otherwise(home: Home) -> None:
    lines = home.lines()
    home.write([*lines[:-1], json.dumps(json.loads(lines[-1])).encode() + b"\n"])


def last_with_a_carriage_return(home: Home) -> None:
    lines = home.lines()
    home.write([*lines[:-1], lines[-1][:-1] + b"\r\n"])


def last_with_a_byte_changed(home: Home) -> None:
    lines = home.lines()
    home.write([*lines[:-1], lines[-1][:40] + b"\xff" + lines[-1][41:]])


def last_as_nuls(home: Home) -> None:
    lines = home.lines()
    home.write([*lines[:-1], bytes(len(lines[-1]))])


def last_line_removed(home: Home) -> None:
    home.write(home.lines()[:-1])


def last_step_removed(home: Home) -> None:
    home.write(home.lines()[:-1])
    for path in home.artifacts.glob("0004.*"):
        path.unlink()


def last_step_removed_with_its_snapshot(home: Home) -> None:
    last_step_removed(home)
    home.ref.write_text(json.loads(home.lines()[-1])["snapshot"] + "\n")


def last_two_steps_removed(home: Home) -> None:
    home.write(home.lines()[:-2])
    for number in (3, 4):
        for path in home.artifacts.glob(f"000{number}.*"):
            path.unlink()


def last_step_replaced_by_another_number(home: Home) -> None:
    last_step_removed(home)
    line = json.loads(home.lines()[-1])
    prev = sha256(home.lines()[-1][:-1]).hexdigest()
    home.write([*home.lines(), as_line({**line, "step_id": "0004", "artifacts": {}, "prev": prev})])


def everything_but_the_first_removed(home: Home) -> None:
    home.write(home.lines()[:1])
    for number in (2, 3, 4):
        for path in home.artifacts.glob(f"000{number}.*"):
            path.unlink()


def emptied(home: Home) -> None:
    home.write([])
    shutil.rmtree(home.artifacts)


def ledger_removed(home: Home) -> None:
    home.ledger.unlink()
    shutil.rmtree(home.artifacts)


def thirty_bytes_cut_off(home: Home) -> None:
    home.ledger.write_bytes(home.ledger.read_bytes()[:-30])


def thirty_bytes_cut_off_and_closed(home: Home) -> None:
    home.ledger.write_bytes(home.ledger.read_bytes()[:-30] + b"\n")


def last_duplicated(home: Home) -> None:
    home.write([*home.lines(), home.lines()[-1]])


def forged_at_the_end(home: Home) -> None:
    line = json.loads(home.lines()[-1])
    prev = sha256(home.lines()[-1][:-1]).hexdigest()
    forged = {**line, "step_id": "0005", "cmd": ["make", "test"], "artifacts": {}, "prev": prev}
    home.write([*home.lines(), as_line({**forged, "act": "a000000000000"})])


def first_command(home: Home) -> None:
    home.edit(0, cmd=["true"])


def first_removed(home: Home) -> None:
    home.write(home.lines()[1:])


def middle_exit_code(home: Home) -> None:
    home.edit(1, exit_code=0, status="completed")


def middle_removed(home: Home) -> None:
    home.write([*home.lines()[:1], *home.lines()[2:]])


def middle_inserted(home: Home) -> None:
    home.write([*home.lines()[:2], *home.lines()[1:]])


def middle_swapped(home: Home) -> None:
    one, two, three, four = home.lines()
    home.write([one, three, two, four])


def last_two_swapped(home: Home) -> None:
    one, two, three, four = home.lines()
    home.write([one, two, four, three])


def blank_line_inserted(home: Home) -> None:
    one, *rest = home.lines()
    home.write([one, b"\n", *rest])


def chained_again_after_an_edit(home: Home) -> None:
    home.edit(1, exit_code=0, status="completed")
    home.chain_again()


def old_ledger_put_back(home: Home) -> None:
    home.put_back(f"tasks/{home.id}", as_of=3)


def ledger_of_another_task(home: Home) -> None:
    shutil.copyfile(home.other / "ledger.jsonl", home.ledger)


def patch_changed(home: Home) -> None:
    path = home.artifacts / "0002.patch"
    path.write_bytes(path.read_bytes().replace(b"two", b"2wo"))


def patch_removed(home: Home) -> None:
    (home.artifacts / "0002.patch").unlink()


def patches_swapped(home: Home) -> None:
    os.rename(home.artifacts / "0001.patch", home.artifacts / "x")
    os.rename(home.artifacts / "0002.patch", home.artifacts / "0001.patch")
    os.rename(home.artifacts / "x", home.artifacts / "0002.patch")


def output_changed(home: Home) -> None:
    path = home.artifacts / "0004.output"
    path.write_bytes(path.read_bytes().replace(b"last", b"lost"))


def output_cut(home: Home) -> None:
    path = home.artifacts / "0001.output"
    path.write_bytes(path.read_bytes()[:-1])


def output_removed(home: Home) -> None:
    (home.artifacts / "0004.output").unlink()


def artifact_added(home: Home) -> None:
    (home.artifacts / "0009.patch").write_bytes(b"")


def ref_moved_back(home: Home) -> None:
    home.ref.write_text(json.loads(home.lines()[1])["snapshot"] + "\n")


def ref_removed(home: Home) -> None:
    home.ref.unlink()


def objects_removed(home: Home) -> None:
    for path in (home.store / "objects/pack").iterdir():
        path.unlink()


def task_name(home: Home) -> None:
    home.change(home.task_json, name="renamed")


def task_base(home: Home) -> None:
    home.change(home.task_json, base_commit="0" * 40)


def task_base_ref(home: Home) -> None:
    home.change(home.task_json, base_ref="elsewhere")


def task_branch(home: Home) -> None:
    home.change(home.task_json, branch="main")


def task_of_another(home: Home) -> None:
    shutil.copyfile(home.other / "task.json", home.task_json)


def workspace_base(home: Home) -> None:
    home.change_workspace(base_commit="0" * 40)


def workspace_base_snapshot(home: Home) -> None:
    home.change_workspace(base_snapshot=json.loads(home.lines()[1])["snapshot"])


# --- of the anchor alone ----------------------------------------------------------------------


def anchor_removed(home: Home) -> None:
    home.anchor.unlink()


def anchor_emptied(home: Home) -> None:
    home.anchor.write_bytes(b"")


def anchor_is_a_link(home: Home) -> None:
    os.rename(home.anchor, home.anchor.with_name("x"))
    home.anchor.symlink_to("x")


def anchor_with_another_head(home: Home) -> None:
    home.anchor.write_bytes(Anchor(4, home.ledger.stat().st_size, "0" * 64).encoded())


def anchor_with_another_count(home: Home) -> None:
    home.anchor.write_bytes(Anchor(3, home.ledger.stat().st_size, home.heads[-1]).encoded())


def anchor_with_a_wrong_checksum(home: Home) -> None:
    home.change(home.anchor, lines=3)


def anchor_with_another_type(home: Home) -> None:
    home.change(home.anchor, lines="four")


def old_anchor(home: Home) -> None:
    home.put_back(f"snapshots.git/tasks/{home.id}/ledger-head", as_of=3)


def anchor_of_another_task(home: Home) -> None:
    shutil.copyfile(home.store / "tasks" / home.other.name / "ledger-head", home.anchor)


LINE = "ledger.jsonl"
HEAD = "ledger-head"
FOUND: dict[Callable[[Home], None], str] = {
    last_exit_code: LINE,
    last_command: LINE,
    last_snapshot: LINE,
    last_figures: LINE,
    last_time: LINE,
    last_without_its_task: LINE,
    last_with_another_number: LINE,
    last_spelled_otherwise: LINE,
    last_with_a_carriage_return: LINE,
    last_with_a_byte_changed: LINE,
    last_as_nuls: LINE,
    last_line_removed: LINE,
    last_step_removed: LINE,
    last_step_removed_with_its_snapshot: LINE,
    last_two_steps_removed: LINE,
    last_step_replaced_by_another_number: LINE,
    everything_but_the_first_removed: LINE,
    emptied: LINE,
    ledger_removed: LINE,
    thirty_bytes_cut_off: LINE,
    thirty_bytes_cut_off_and_closed: LINE,
    last_duplicated: LINE,
    forged_at_the_end: LINE,
    first_command: LINE,
    first_removed: LINE,
    middle_exit_code: LINE,
    middle_removed: LINE,
    middle_inserted: LINE,
    middle_swapped: LINE,
    last_two_swapped: LINE,
    blank_line_inserted: LINE,
    chained_again_after_an_edit: LINE,
    old_ledger_put_back: LINE,
    ledger_of_another_task: LINE,
    patch_changed: "artifacts/0002.patch",
    patch_removed: "artifacts/0002.patch",
    patches_swapped: "artifacts/0001.patch",
    output_changed: "artifacts/0004.output",
    output_cut: "artifacts/0001.output",
    output_removed: "artifacts/0004.output",
    artifact_added: "artifacts/0009.patch",
    ref_moved_back: "is missing",
    ref_removed: "has no snapshot",
    objects_removed: "snapshot",
    task_name: "task.json: says name 'renamed'",
    task_base: "task.json: says base_commit",
    task_base_ref: "task.json: says base_ref 'elsewhere'",
    task_branch: "task.json: says branch 'main'",
    task_of_another: "task.json",
    workspace_base: "worktrees.json: says base_commit",
    workspace_base_snapshot: "worktrees.json: says base_snapshot",
    anchor_removed: HEAD,
    anchor_emptied: HEAD,
    anchor_is_a_link: HEAD,
    anchor_with_another_head: HEAD,
    anchor_with_another_count: HEAD,
    anchor_with_another_type: HEAD,
    anchor_with_a_wrong_checksum: HEAD,
    old_anchor: HEAD,
    anchor_of_another_task: HEAD,
}


@pytest.mark.parametrize("tamper", FOUND, ids=lambda each: each.__name__)
def test_it_is_found_and_stays_found(home: Home, tamper: Callable[[Home], None]) -> None:
    tamper(home)
    said = home.verify(status=1)
    assert FOUND[tamper] in said
    assert "is whole" not in said
    # Whatever is recorded next must not make it good.
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true", status=None)
    assert "is whole" not in home.verify(status=1)


# --- tamperings that rewrite the anchor as well -----------------------------------------------


def all_chained_and_anchored_again(home: Home) -> None:
    chained_again_after_an_edit(home)
    home.anchor_again()


def last_edited_and_anchored_again(home: Home) -> None:
    last_exit_code(home)
    home.anchor_again()


def last_removed_and_anchored_again(home: Home) -> None:
    last_step_removed(home)
    home.anchor_again()


def rolled_back(home: Home) -> None:
    """Ledger, artifacts and anchor are those of before: nothing in them disagrees."""
    old_ledger_put_back(home)
    old_anchor(home)


def rolled_back_with_everything(home: Home) -> None:
    home.put_back(as_of=3)


def made_as_of_before_anchors(home: Home) -> None:
    for number in range(len(home.lines())):
        home.edit(number, task=GONE)
    last_exit_code(home)
    home.chain_again()
    home.anchor.unlink()


DECLARED = [
    all_chained_and_anchored_again,
    last_edited_and_anchored_again,
    last_removed_and_anchored_again,
    rolled_back,
    rolled_back_with_everything,
    made_as_of_before_anchors,
]


@pytest.mark.parametrize("tamper", DECLARED)
def test_only_a_noted_head_shows_it(home: Home, tamper: Callable[[Home], None]) -> None:
    tamper(home)
    assert "is whole" in home.verify(status=0)
    said = home.verify("--head", home.heads[-1], status=1)
    assert f"has no line with the hash {home.heads[-1]}" in said


# --- heads ------------------------------------------------------------------------------------


def test_a_head_noted_earlier_proves_what_was_there_then(home: Home) -> None:
    assert f"\nhead {home.heads[-1]}\n" in home.verify(status=0)
    assert "steps" not in home.verify("--head", home.heads[-1], status=0).partition("head")[2]
    said = home.verify("--head", home.heads[1].upper(), status=0)
    assert f"unchanged up to the head {home.heads[1]}; since then: 2 steps" in said
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true")
    proof = home.sandbox.json("verify", "--head", home.heads[1], "--format", "json")
    assert (proof["whole"], proof["since"]) == (True, 3)
    assert proof["head"] not in home.heads
    assert home.sandbox.json("verify", "--format", "json")["since"] is None


def test_a_head_of_another_task_is_none_of_this_one(home: Home) -> None:
    other = home.sandbox.json("verify", "other", "--format", "json")["head"]
    assert "has no line with the hash" in home.verify("--head", other, status=1)


@pytest.mark.parametrize("given", ["", "abc", "g" * 64, "0" * 63, "0" * 65])
def test_what_is_no_head_is_refused(home: Home, given: str) -> None:
    said = home.verify("--head", given, status=2)
    assert "64 hexadecimal digits" in said
    assert "`siding verify` prints" in said


# --- what is no tampering ---------------------------------------------------------------------


def test_the_missing_newline_is_found_until_the_next_step_writes_it(home: Home) -> None:
    before = home.ledger.read_bytes()
    home.ledger.write_bytes(before[:-1])
    assert "the newline at its end is missing" in home.verify(status=1)
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true")
    assert home.ledger.read_bytes().startswith(before)
    assert "is whole" in home.verify(status=0)


@pytest.mark.parametrize("more", [b"\n", b"  \n\n", b'{"v":1,"step'])
def test_what_is_no_line_at_the_end_is_no_damage(home: Home, more: bytes) -> None:
    """White space, and the beginning of a line that was promised to nobody."""
    with home.ledger.open("ab") as file:
        file.write(more)
    assert "is whole" in home.verify(status=0)
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true")
    assert "is whole" in home.verify(status=0)
    assert "unchanged up to" in home.verify("--head", home.heads[0], status=0)


def test_what_a_person_may_change_of_a_task_is_not_bound(home: Home) -> None:
    words = ("--owner", "ada", "-m", "what for", "--tags", "a,b", "--blocked-by", "other")
    home.sandbox.siding("task", "update", *words, "--force")
    assert "is whole" in home.verify(status=0)
    home.sandbox.siding("task", "close", "--keep")
    assert "is whole" in home.verify(TASK, status=0)
    home.sandbox.siding("task", "reopen", TASK)
    assert "is whole" in home.verify(TASK, "--head", home.heads[-1], status=0)


# --- ledgers of before ------------------------------------------------------------------------


def before_anchors(home: Home) -> None:
    """Make the record one of a version that had no anchors."""
    for number in range(len(home.lines())):
        home.edit(number, task=GONE)
    home.chain_again()
    home.anchor.unlink()


def test_a_ledger_of_before_is_anchored_by_its_next_step(home: Home) -> None:
    before_anchors(home)
    said = home.verify(status=0)
    assert "is not anchored yet" in said
    assert "the next step does it" in said
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true")
    said = home.verify(status=0)
    assert "note" not in said
    assert json.loads(home.anchor.read_bytes())["lines"] == 5
    home.anchor.unlink()
    assert "ledger-head: is missing" in home.verify(status=1)


def of_another_tool(home: Home) -> None:
    """Make the lines those of a tool that has no chain."""
    for number in range(len(home.lines())):
        home.edit(number, task=GONE, prev=GONE)
    home.anchor.unlink()


def test_the_lines_of_another_tool_are_sealed_by_the_first_step(home: Home) -> None:
    of_another_tool(home)
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true")
    assert "is whole" in home.verify(status=0)
    home.edit(1, exit_code=0)
    assert "the lines before it were changed" in home.verify(status=1)
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true")
    assert "the lines before it were changed" in home.verify(status=1)


# --- a law ------------------------------------------------------------------------------------


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_record_is_whole_whose_bytes_are_not_as_they_were(
    made: Home, data: st.DataObject
) -> None:
    """Any change of bytes of the ledger or of an artifact, but what is no line at the end."""
    files = [made.ledger, *sorted(made.artifacts.iterdir())]
    path = data.draw(st.sampled_from(files))
    before = path.read_bytes()
    start = data.draw(st.integers(0, len(before)))
    end = data.draw(st.integers(start, min(len(before), start + 40)))
    put = data.draw(st.one_of(st.binary(max_size=8), st.sampled_from([b"\n", b" ", b"\r\n", b"{"])))
    after = before[:start] + put + before[end:]
    more = after[len(before) :]
    is_no_line = path == made.ledger and after.startswith(before) and not more.strip(b" \t\r\v\f\n")
    is_torn = path == made.ledger and after.startswith(before) and b"\n" not in more
    path.write_bytes(after)
    try:
        proof = made.prove()
    except SidingError:
        return
    finally:
        path.write_bytes(before)
    assert proof.whole == (after == before or is_no_line or is_torn), (path.name, start, end, put)


# --- what others say of it --------------------------------------------------------------------


def test_the_doctor_and_the_next_step_say_it_too(home: Home) -> None:
    assert home.sandbox.siding("doctor", "--check").stdout == b"everything agrees\n"
    last_command(home)
    said = home.sandbox.siding("doctor", "--check", status=1).stdout.decode()
    assert f"the record of task {home.id} was changed: ledger.jsonl:4" in said
    said = home.sandbox.siding("-q", "run", "--no-tty", "--", "true").stderr.decode()
    assert "the ledger is not as its anchor says" in said
    assert "`siding verify` says more" in said


def test_a_newer_anchor_is_refused_before_anything_begins(home: Home) -> None:
    home.change(home.anchor, version=99)
    before = home.ledger.read_bytes()
    said = home.sandbox.siding("run", "--no-tty", "--", "touch", "begun", status=1).stderr
    assert b"format version 99" in said
    assert not (home.sandbox.workspace() / "begun").exists()
    assert home.ledger.read_bytes() == before


# --- what happens to a task in its life -------------------------------------------------------


def test_a_record_stays_whole_through_the_life_of_its_task(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", TASK)
    for words in STEPS:
        sandbox.siding("-q", *words, status=None)
    head = sandbox.json("verify", "--format", "json")["head"]

    def is_whole() -> None:
        assert b"is whole" in sandbox.siding("verify", TASK, "--head", head).stdout
        assert b"note" not in sandbox.siding("verify", TASK).stdout

    sandbox.siding("task", "close", TASK, "--force")
    is_whole()
    sandbox.siding("gc")
    is_whole()
    sandbox.siding("task", "reopen", TASK)
    is_whole()
    moved = sandbox.directory / "moved"
    os.rename(sandbox.repo, moved)
    sandbox.repo = moved
    is_whole()
    sandbox.siding("-q", "run", "--no-tty", "-t", TASK, "--", "true")
    is_whole()
    sandbox.siding("task", "close", TASK, "--delete", "--force")
    sandbox.siding("task", "reopen", TASK)
    is_whole()


def test_the_anchor_outlives_lost_snapshots(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", TASK)
    sandbox.siding("-q", *STEPS[0])
    shutil.rmtree(sandbox.project / "snapshots.git" / "objects")
    sandbox.siding("doctor")
    said = sandbox.siding("verify", status=1).stdout.decode()
    assert "is missing" in said
    assert "anchor" not in said
