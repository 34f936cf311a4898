"""The ways, each as people and tools do it. Every one runs the real program."""

from prove.peers.ground import Ground, Way


def nothing(_ground: Ground) -> None:
    """Keep nothing: the last commit is what there is to go back to."""


# --- plain git --------------------------------------------------------------------------------


def checkout(ground: Ground) -> None:
    ground.long("git checkout -q -- .")


def reset(ground: Ground) -> None:
    ground.long("git reset -q --hard; git clean -qfd")


def reset_all(ground: Ground) -> None:
    ground.long("git reset -q --hard; git clean -qffdx")


def stash(ground: Ground) -> None:
    ground.long("git stash push -q -u")


def stash_pop(ground: Ground) -> None:
    ground.run("git", "stash", "pop", "-q", check=False)


# --- a shadow repository ----------------------------------------------------------------------

# The person's objects are borrowed, and the index begins as HEAD's, as tools do to save time.
_SHADOW = "export GIT_DIR={store}/shadow GIT_WORK_TREE=.; "
_SNAPSHOT = (
    "git add -A .; "
    "git update-ref refs/heads/{name} $(git commit-tree -m {name} $(git write-tree)); "
)


def _shadow(ground: Ground) -> str:
    return _SHADOW.format(store=ground.store)


def shadow_keep(ground: Ground) -> None:
    objects = ground.repo / ".git/objects"
    head = ground.run("git", "rev-parse", "HEAD")
    ground.run("git", "init", "-q", "--bare", "--template=", str(ground.store / "shadow"))
    (ground.store / "shadow/objects/info").mkdir(exist_ok=True)
    (ground.store / "shadow/objects/info/alternates").write_text(f"{objects}\n")
    ground.run("git", "--git-dir", str(ground.store / "shadow"), "config", "core.bare", "false")
    seeded = _shadow(ground) + f"git read-tree {head}; " + _SNAPSHOT.format(name="one")
    ground.run("sh", "-ec", seeded)


def shadow_back(ground: Ground) -> None:
    there = "git read-tree --reset -u one; git clean -qfd"
    ground.long(_shadow(ground) + _SNAPSHOT.format(name="two") + there)


def shadow_again(ground: Ground) -> None:
    ground.run("sh", "-ec", _shadow(ground) + "git read-tree --reset -u two; git clean -qfd")


# --- copies of all files ----------------------------------------------------------------------

_EMPTY = "find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +; "
_COPY = (
    "mkdir -p {there}; find . -mindepth 1 -maxdepth 1 ! -name .git -exec cp -a -t {there} {{}} +; "
)


def copy_keep(ground: Ground) -> None:
    ground.run("sh", "-ec", _COPY.format(there=ground.store / "one"))


def copy_back(ground: Ground) -> None:
    save = _COPY.format(there=ground.store / "two")
    ground.long(save + _EMPTY + f"cp -a {ground.store / 'one'}/. .")


def copy_again(ground: Ground) -> None:
    ground.run("sh", "-ec", _EMPTY + f"cp -a {ground.store / 'two'}/. .")


# --- Siding -----------------------------------------------------------------------------------


def siding_keep(ground: Ground) -> None:
    ground.run("siding", "checkpoint")


def siding_back(ground: Ground) -> None:
    # It refuses a nested repository, of which only the files are in a snapshot, without --force.
    ground.long("siding rollback --step 1 --force")


def siding_again(ground: Ground) -> None:
    ground.run("siding", "undo", check=False)


SIDING = Way("siding rollback, undo", siding_keep, siding_back, siding_again)
WAYS = (
    SIDING,
    Way("git checkout -- .", nothing, checkout, None),
    Way("git reset --hard; git clean -fd", nothing, reset, None),
    Way("git reset --hard; git clean -ffdx", nothing, reset_all, None),
    Way("git stash -u, pop", nothing, stash, stash_pop),
    Way("a shadow repository", shadow_keep, shadow_back, shadow_again),
    Way("a copy of all files, and back", copy_keep, copy_back, copy_again),
)
