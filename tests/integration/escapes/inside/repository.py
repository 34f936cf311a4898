"""The person's repository: what git obeys, and what it would lose.

Where directories of ours take the place of git's, writing works, and whether it got out is for who
looks from outside.
"""

# mypy: ignore-errors
import os
import subprocess

from told import WORLD, any_of, succeeds, write

GIT = WORLD["git"]


def _write(name):
    path = f"{GIT}/{name}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return write(path)


def write_a_hook():
    return any_of(_write, ("hooks/post-commit", "hooks/post-checkout", "hooks/fsmonitor-watchman"))


def write_git_config():
    return any_of(_write, ("config", "config.worktree"))


def write_rules_of_files():
    return any_of(_write, ("info/attributes", "info/exclude", "info/sparse-checkout"))


def write_lies_about_history():
    return any_of(_write, ("info/grafts", "shallow"))


def write_the_list_of_refs():
    return _write("packed-refs")


def write_the_head_of_the_checkout():
    return any_of(_write, ("HEAD", "ORIG_HEAD", "MERGE_HEAD", "index"))


def leave_a_rebase_in_the_checkout():
    return any_of(_write, ("rebase-merge/git-rebase-todo", "sequencer/todo", "rebase-apply/patch"))


def write_a_tag():
    return _write("refs/tags/escaped")


def write_a_remote_branch():
    return _write("refs/remotes/origin/escaped")


def write_the_stash():
    return _write("refs/stash")


def replace_a_commit():
    return any_of(_write, ("refs/replace/" + "0" * 40,))


def write_another_branch():
    return _write("refs/heads/main")


def write_a_new_branch():
    return _write("refs/heads/escaped")


def remove_a_branch():
    os.unlink(f"{GIT}/refs/heads/main")
    return True


def write_the_reflog():
    return any_of(_write, ("logs/HEAD", "logs/refs/stash"))


def write_the_reflog_of_a_branch():
    return _write("logs/refs/heads/main")


def borrow_objects():
    return _write("objects/info/alternates")


def add_a_pack_of_nonsense():
    return _write(f"objects/pack/pack-{1:040d}.pack")


def remove_an_object():
    for directory, _folders, names in os.walk(f"{GIT}/objects"):
        for name in names:
            if len(name) == 38:
                os.unlink(f"{directory}/{name}")
                return True
    return False


def add_a_submodule():
    return _write("modules/x/config")


def register_a_worktree():
    return _write("worktrees/escaped/gitdir")


def change_another_worktree():
    return any_of(
        lambda name: _write(f"worktrees/{name}/HEAD"),
        [each for each in os.listdir(f"{GIT}/worktrees") if each != _own()],
    )


def change_the_id_of_the_project():
    return _write("siding/id")


def _own():
    place = subprocess.run(
        ["git", "rev-parse", "--git-dir"], capture_output=True, text=True, check=False
    )
    return os.path.basename(place.stdout.strip())


def plant_in_its_git_directory():
    place = f"worktrees/{_own()}"
    names = (
        "config.worktree",
        "commondir",
        "gitdir",
        "gitk.cache",
        "ORIG_HEAD",
        "rebase-merge/git-rebase-todo",
        "sequencer/todo",
        "hooks/post-commit",
        "info/attributes",
        "modules/x/config",
        "refs/worktree/x",
        "refs/bisect/bad",
    )
    return any_of(_write, [f"{place}/{name}" for name in names])


def tell_git_to_move_a_branch():
    return any_of(
        lambda line: succeeds("git", *line),
        (
            ["update-ref", "refs/heads/main", "HEAD"],
            ["branch", "-f", "escaped", "HEAD"],
            ["push", "-q", ".", "HEAD:refs/heads/escaped"],
        ),
    )


def tell_git_to_change_the_repository():
    return any_of(
        lambda line: succeeds("git", *line),
        (
            ["config", "core.hooksPath", "evil"],
            ["remote", "add", "evil", "ext::sh -c true"],
            ["tag", "escaped"],
            ["replace", "HEAD", "HEAD^"],
            ["notes", "add", "-m", "x"],
            ["pack-refs", "--all"],
            ["gc", "-q", "--prune=now"],
            ["worktree", "prune", "--expire=now"],
        ),
    )


def tell_git_to_add_a_worktree():
    return succeeds("git", "worktree", "add", "-q", "--detach", "/tmp/escaped")
