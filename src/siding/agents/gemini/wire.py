"""Point the Gemini CLI at another base URL: which variable counts depends on the login.

Where no login is chosen in its settings, it takes a base URL in its environment for a login of its
own, and ends. So there it is left alone. Tried with 0.61.0.
"""

import json
import posixpath
from collections.abc import Mapping

from siding.agents.settings import without_comments
from siding.agents.wire import Point, Pointed, Read, is_base_url
from siding.ground.storage.fields import mapping, text

_BASE, _ACCOUNT = "GOOGLE_GEMINI_BASE_URL", "CODE_ASSIST_ENDPOINT"
_USUAL = "https://cloudcode-pa.googleapis.com"
_BY_ACCOUNT = "oauth-personal"


def pointed(argv: tuple[str, ...], env: Mapping[str, str], point: Point, read: Read) -> Pointed:
    """Return how Gemini CLI is started so that its requests go where `point` says."""
    home = env.get("GEMINI_CLI_HOME") or env.get("HOME", "")
    try:
        raw = read(posixpath.join(home, ".gemini", "settings.json"))
        settings = mapping(json.loads(without_comments(raw)))
    except (OSError, ValueError):
        settings = {}
    auth = mapping(mapping(settings.get("security")).get("auth"))
    login = text(auth.get("selectedType") or settings.get("selectedAuthType"))
    if login == _BY_ACCOUNT:
        old = env.get(_ACCOUNT) or _USUAL
        return Pointed(argv, {_ACCOUNT: point(old)} if is_base_url(old) else {})
    if login or env.get(_BASE):
        return Pointed(argv, {})
    note = "Gemini CLI is not metered: with a base URL it wants a login chosen in its settings"
    return Pointed(argv, {_BASE: ""}, (note,))
