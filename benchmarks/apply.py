"""Apply of a 10-file change, against the bare git commands for the same effect."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import command, settle_disk, side_by_side
from benchmarks.repositories import name_of

GOAL = 1.5
CHANGED = 10

# Record the workspace, commit it, see what the person has changed, merge, then move the branch and
# its checkout; flushed as Siding flushes. A script that did less would not have the same effect.
FLOOR = """\
set -e
git() { command git -c core.fsync=all -c core.fsyncMethod=fsync "$@"; }
cd "$WORKSPACE"
cp -p "$(git rev-parse --git-path index)" "$SCRATCH/index"
GIT_INDEX_FILE="$SCRATCH/index" git add -A
tree=$(GIT_INDEX_FILE="$SCRATCH/index" git write-tree)
cd "$REPO"
old=$(git rev-parse main)
work=$(git commit-tree -p "$BASE" -m work "$tree")
merged=$(git merge-tree --write-tree "$old" "$work")
new=$(git commit-tree -p "$old" -m applied "$merged")
git diff-tree -r --name-only "$old" "$new" >"$SCRATCH/incoming"
git status --porcelain --untracked-files=no >"$SCRATCH/dirty"
git update-ref -m applied refs/heads/main "$new" "$old"
git update-index -q --refresh
git read-tree -m -u "$old" "$new"
"""


def _measure(bench: Bench) -> Iterator[Row]:
    for files in bench.sizes(1_000, 20_000, 100_000):
        yield _row(bench, files, moved=False)
        yield _row(bench, files, moved=True)


def _row(bench: Bench, files: int, *, moved: bool) -> Row:
    name = f"apply-{files}-{'moved' if moved else 'same'}"
    repository = bench.scratch(f"{name}-repository") / "repo"
    bench.run(["cp", "-a", bench.repository(files), repository], cwd=bench.directory)
    bench.run(["git", "status"], cwd=repository)
    env = bench.home(f"{name}-home")
    base = bench.run(["git", "rev-parse", "main"], cwd=repository)
    bench.run([bench.siding, "-q", "task", "start", "measured"], cwd=repository, env=env)
    edits = "".join(f"echo edited >>{name_of(n * (files // CHANGED))}; " for n in range(CHANGED))
    bench.run([bench.siding, "-q", "run", "--", "sh", "-c", edits], cwd=repository, env=env)
    shown = bench.run([bench.siding, "task", "show", "--format", "json"], cwd=repository, env=env)
    workspace = Path(json.loads(shown)["workspace"]["path"])
    bench.run(["git", "status"], cwd=workspace)
    if moved:
        with (repository / name_of(1)).open("a") as file:
            file.write("moved\n")
        bench.run(["git", "commit", "-qam", "moved"], cwd=repository)
    start = bench.run(["git", "rev-parse", "main"], cwd=repository)
    scratch = bench.scratch(f"{name}-scratch")
    floor_env = {
        **env,
        "WORKSPACE": str(workspace),
        "REPO": str(repository),
        "SCRATCH": str(scratch),
        "BASE": base,
    }

    def back() -> None:
        bench.run(["git", "reset", "-q", "--hard", start], cwd=repository)
        os.utime(repository / ".git/index")
        bench.run(["git", "status"], cwd=repository)
        settle_disk()

    ours = command([bench.siding, "-q", "apply", "--no-close"], env=env, cwd=repository, after=back)
    floor = command(["sh", "-c", FLOOR], env=floor_env, cwd=repository, after=back)
    bench.say(f"apply at {files:,} files, target {'moved' if moved else 'as it was'}")
    timings = side_by_side([ours, floor], rounds=bench.rounds(7))
    return Row(
        series="target moved" if moved else "target as it was",
        case=f"{files:,} files",
        size=files,
        ours=timings[0],
        floor=timings[1],
        floor_name="git add, merge-tree, update-ref, read-tree",
        goal=GOAL,
    )


FIGURE = Figure(
    title="Apply of a 10-file change",
    goal=f"at most {GOAL} times the bare git commands for the same effect",
    floor=FLOOR,
    follows="the number of files, by what git needs to look at two worktrees and to write an index",
    measure=_measure,
)
