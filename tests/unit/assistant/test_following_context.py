"""What the model is told while the conversation goes on."""

import asyncio
from pathlib import Path

from siding.assistant.briefing import FollowingContext

from .scenes import Scene


def following(scene: Scene) -> FollowingContext:
    return FollowingContext(scene.briefing())


def below(context: FollowingContext, path: Path) -> str:
    return asyncio.run(context.below(path))


def changed(context: FollowingContext) -> str:
    return asyncio.run(context.changed_since())


def test_nothing_changed_is_nothing_said(scene: Scene) -> None:
    scene.write("AGENTS.md", "said @x.md")
    scene.write("x.md", "x")
    context = following(scene)
    assert changed(context) == changed(context) == ""


def test_a_change_is_said_once(scene: Scene) -> None:
    scene.write("AGENTS.md", "old @x.md")
    scene.write("x.md", "x one")
    context = following(scene)
    scene.write("x.md", "x two")
    told = changed(context)
    assert "x two" in told
    assert "old" not in told
    assert told.startswith("<system-reminder>")
    assert changed(context) == ""
    scene.write("CLAUDE.md", "made later")
    scene.write("AGENTS.md", "no import any more")
    told = changed(context)
    assert "made later" in told
    assert "no import any more" in told
    assert "gone and count no more: x.md" in told
    assert changed(context) == ""


def test_a_new_day_is_said_once(scene: Scene) -> None:
    context = following(scene)
    before = scene.briefing().environment.day
    scene.tomorrow()
    told = changed(context)
    assert scene.briefing().environment.day in told
    assert before not in told
    assert changed(context) == ""


def test_a_directory_is_told_of_when_it_is_looked_into(scene: Scene) -> None:
    scene.write("a/AGENTS.md", "for a")
    scene.write("a/b/CLAUDE.md", "for b @more.md")
    scene.write("a/b/more.md", "more")
    scene.write("c/AGENTS.md", "for c")
    context = following(scene)
    assert changed(context) == ""
    told = below(context, scene.root / "a" / "b" / "x.py")
    assert [told.index(each) for each in ("for a", "for b", "\nmore\n")] == sorted(
        told.index(each) for each in ("for a", "for b", "\nmore\n")
    )
    assert "for c" not in told
    assert below(context, scene.root / "a" / "b" / "x.py") == ""
    assert below(context, scene.root / "a" / "y.py") == ""
    assert below(context, scene.root / "z.py") == below(context, Path("/etc/passwd")) == ""
    assert changed(context) == ""
    scene.write("a/b/more.md", "less")
    assert "\nless\n" in changed(context)
    assert changed(context) == ""


def test_what_the_start_has_read_is_not_told_again(scene: Scene) -> None:
    scene.write("AGENTS.md", "@a/AGENTS.md")
    scene.write("a/AGENTS.md", "for a")
    context = following(scene)
    assert below(context, scene.root / "a" / "x") == ""


def test_after_a_compaction_it_is_all_told_again(scene: Scene) -> None:
    scene.write("AGENTS.md", "old")
    scene.write("a/AGENTS.md", "for a")
    context = following(scene)
    first = below(context, scene.root / "a" / "x")
    scene.write("AGENTS.md", "new")
    scene.tomorrow()
    told = changed(context)
    context.forget()
    assert changed(context) == told
    assert below(context, scene.root / "a" / "x") == first
    assert changed(context) == ""


def test_directories_that_are_not_told_of_together_have_room_each(scene: Scene) -> None:
    """What had room when it was told of is not gone when all of it is looked at again."""
    context = following(scene)
    for at in range(5):
        scene.write(f"d{at}/AGENTS.md", f"{at}" * 39_000)
        assert f"{at}" * 39_000 in below(context, scene.root / f"d{at}" / "x")
    assert changed(context) == ""


def test_calls_at_the_same_time_tell_once(scene: Scene) -> None:
    scene.write("a/AGENTS.md", "for a")
    context = following(scene)

    async def both() -> list[str]:
        paths = [scene.root / "a" / name for name in ("x", "y", "z")]
        return await asyncio.gather(*map(context.below, paths))

    assert [bool(each) for each in asyncio.run(both())] == [True, False, False]
