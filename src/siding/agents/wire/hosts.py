"""Which hosts package managers need, for a sandbox's list (`sandbox.wire.hosts`).

What an agent needs is in its folder (`places.HOSTS`). These names change when the programs do.
"""

from collections.abc import Iterable, Mapping

# Names that stand for what a package manager needs.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "pip": ("pypi.org", "files.pythonhosted.org"),
    "uv": ("pypi.org", "files.pythonhosted.org"),
    "npm": ("registry.npmjs.org",),
    "yarn": ("registry.yarnpkg.com", "registry.npmjs.org"),
    "cargo": ("index.crates.io", "static.crates.io", "crates.io"),
    "go": ("proxy.golang.org", "sum.golang.org"),
    "maven": ("repo.maven.apache.org", "repo1.maven.org"),
    "gem": ("rubygems.org", "index.rubygems.org"),
    "debian": ("deb.debian.org", "security.debian.org"),
    "ubuntu": ("*.archive.ubuntu.com", "archive.ubuntu.com", "security.ubuntu.com"),
    "github": ("github.com", "api.github.com", "codeload.github.com", "*.githubusercontent.com"),
}


def expanded(entries: Iterable[str]) -> tuple[str, ...]:
    """Return the entries of a list with the names of groups replaced by what they stand for."""
    found = (each for entry in entries for each in GROUPS.get(entry.strip(), (entry,)))
    return tuple(dict.fromkeys(found))
