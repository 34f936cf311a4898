"""Ways to tamper with a record: each is a small function on a real home.

What `FOUND` lists leaves the anchor or the rest alone, and `siding verify` names it. What
`DECLARED` lists rewrites both: only a head that was noted elsewhere shows it.
"""

import json
import os
import shutil
from collections.abc import Callable
from hashlib import sha256

from siding.record.ledger.anchor import Anchor

from .recorded_home import GONE, Home, as_line

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
