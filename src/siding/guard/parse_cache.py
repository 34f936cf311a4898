"""Parse a policy file, and keep the result for later runs.

Parsing YAML takes 12 ms, and every run reads its policy. So the parsed policy is stored in the
project's ``cache`` with the digest of the bytes it was made from. It can be deleted at any time.
"""

import re
from pathlib import Path

from siding import __version__
from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs
from siding.ground.hashing import sha256_hex
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.shellguard.face import Policy

KEPT_VERSION = 2


def parsed(raw: bytes, *, root: str, kept: Path | None) -> Policy:
    """Return the policy in the bytes `raw`.

    `kept` is the cache file for this policy; None for no cache. A policy file that does not parse
    gives a policy whose `broken` says why.
    """
    digest = sha256_hex(f"{__version__}\0{root}\0".encode("utf-8", "surrogateescape") + raw)
    found = None if kept is None else _kept(kept, digest)
    if found is not None:
        return found
    policy = Policy.read(raw, root=root)
    if kept is not None and not policy.broken:
        _keep(kept, digest, policy)
    return policy


def _kept(path: Path, digest: str) -> Policy | None:
    try:
        document = read_document_or_none(path, what="parsed policy", version=KEPT_VERSION)
        if document is None or document.get("digest") != digest:
            return None
        return Policy.from_record(document["policy"])
    except (SidingError, OSError, KeyError, TypeError, ValueError, AttributeError, re.error):
        return None  # a damaged cache, or one of another version: parse again


def _keep(path: Path, digest: str, policy: Policy) -> None:
    try:
        make_dirs(path.parent)
        document = {"version": KEPT_VERSION, "digest": digest, "policy": policy.as_record()}
        write_document(path, document)
    except (SidingError, OSError):
        return  # the next run parses again
