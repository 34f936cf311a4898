"""The values of an effect: their lines, and how they are kept."""

from siding.effect.effect import Counter, Effect, EffectState, Touch, TouchedFile, lines_of

EFFECT = Effect(
    state=EffectState.TRIED,
    command="rm -rf build; sed -i s/a/b/ x",
    cwd="/w",
    again=True,
    why="it ended with exit status 1 there",
    touched=(
        TouchedFile("build/a.o", Touch.DELETED, 0, 3),
        TouchedFile("x", Touch.CHANGED, 1, 2),
        TouchedFile("new", Touch.ADDED, 4, 0),
    ),
    files=5,
    added=1,
    changed=1,
    deleted=3,
    additions=5,
    deletions=5,
    places=("build/",),
    notes=("not shown: /tmp/x",),
    exit_code=1,
    counted_from="0123",
    counted_at="2026-01-01T00:00:00+00:00",
    left_out=("node_modules",),
    by=Counter(7, 8),
)


def test_it_is_kept_whole() -> None:
    assert Effect.from_document(EFFECT.as_document()) == EFFECT
    assert Effect.from_document({"state": "pending"}) == Effect(EffectState.PENDING)
    assert "patch" not in EFFECT.as_document()


def test_its_lines() -> None:
    assert lines_of(EFFECT, most=2) == [
        "effect: deletes 3 files: build/; changes 1 file; adds 1 file",
        "  - build/a.o",
        "  ~ x  (+1 -2)",
        "  and 3 more",
        "  it ended with exit status 1 there",
        "  not shown: /tmp/x",
    ]
    stale = lines_of(EFFECT._replace(state=EffectState.STALE))
    assert stale[1] == "  the workspace has changed since this was counted"
    refused = Effect(EffectState.NOT_TRIED, why="curl may reach more")
    assert lines_of(refused) == ["effect: not tried: curl may reach more"]


def test_what_is_not_whole_is_said_to_be_at_least_so_much() -> None:
    cut = EFFECT._replace(at_least=True, changed=0, added=0, deleted=20_000)
    assert cut.summary == "deletes at least 20,000 files: build/"
    one = Effect(EffectState.TRIED, files=1, changed=1, additions=1, deletions=2)
    assert one.summary == "changes 1 file (+1 -2)"
    assert Effect(EffectState.TRIED).summary == "changes no file of the workspace"
    many = EFFECT._replace(places=("a", "b", "c", "d"))
    assert "a, b, c …" in many.summary


def test_programs_get_what_they_need() -> None:
    record = EFFECT._replace(patch="/x.patch").as_record()
    wanted = ("state", "why", "summary", "files", "additions", "deletions", "deleted", "patch")
    assert [record[name] for name in wanted][3:] == [5, 5, 5, 3, "/x.patch"]
    assert record["counted_from"] == "0123"
    assert "command" not in record, "the question has it"
