"""A line says what its act told and what was found; what is not there is left out."""

from siding.record.ledger.draft import Draft
from siding.record.ledger.figures import DiffFigures, ModeFigures
from siding.record.ledger.intents import Intent
from siding.record.ledger.line import LedgerLine
from siding.record.ledger.run_details import CheckpointDetail
from siding.record.snapshots.coverage import Coverage

INTENT = Intent(
    act="a000000000001",
    number=1,
    kind="checkpoint",
    started_at="2026-01-01",
    pid=7,
    token="",
    parent=None,
    draft=Draft(CheckpointDetail("so far", "asked")).completed(),
)
LINE = LedgerLine(
    intent=INTENT,
    ended_at="2026-01-02",
    duration_ms=5,
    diff=DiffFigures(),
    modes=ModeFigures(),
    snapshot="b" * 40,
    parent="a" * 40,
    coverage=Coverage(),
)


def test_what_is_there_is_said() -> None:
    full = LINE._replace(commits=("c" * 40,), patch_sha256="d" * 64).as_record()
    assert full["act"] == "a000000000001"
    assert full["commits"] == ["c" * 40]
    assert full["patch_sha256"] == "d" * 64
    assert (full["ended_at"], full["duration_ms"]) == ("2026-01-02", 5)


def test_what_is_not_there_is_left_out() -> None:
    bare = LINE._replace(intent=INTENT._replace(act="")).as_record()
    assert not bare.keys() & {"act", "commits", "patch_sha256", "modes", "mode_count"}


def test_what_the_act_told_of_its_end_counts() -> None:
    told = INTENT._replace(draft=INTENT.draft._replace(ended_at="2026-01-03", duration_ms=9))
    line = LINE._replace(intent=told).as_record()
    assert (line["ended_at"], line["duration_ms"]) == ("2026-01-03", 9)
