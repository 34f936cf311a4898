"""Settings that make git run another program."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import known

if TYPE_CHECKING:
    from siding.shellguard.call import Call
    from siding.shellguard.examiner import Examiner


# Settings that name a program, or change whose program is run.
RUNS = re.compile(
    r"(?i)^(?:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|attributesfile"
    r"|alternaterefscommand|worktree|bare|repositoryformatversion|excludesfile)"
    r"|alias\..+|pager\..+|credential(?:\..+)?\.helper|diff\.external|diff\..+\.(?:command|textconv)"
    r"|difftool\..+|mergetool\..+|merge\..+\.driver|filter\..+|gpg\..*(?:program|command)|gpg\.program"
    r"|sequence\.editor|interactive\.difffilter|browser\..+|man\..+|web\.browser|help\.browser"
    r"|sendemail\..+|uploadpack\.packobjectshook|remote\..+\.(?:url|pushurl|uploadpack|receivepack|vcs|mirror|push|proxy)"
    r"|url\..+\.(?:insteadof|pushinsteadof)|include(?:if)?\..*path|init\.templatedir|submodule\..+"
    r"|protocol\..+|receive\..+|safe\.directory|http\..*proxy|http\.(?:.*\.)?sslverify|http\.cookiefile"
    r"|core\.logallrefupdates|core\.sshvariant|ssh\.variant|tar\..+\.command|trailer\..+\.(?:command|cmd)|log\.showsignature"
    r"|guitool\..+|instaweb\..+|imap\..+|extensions\..+|commit\.template|blame\.ignorerevsfile"
    r"|transfer\.fsckobjects|fsck\..+|gc\..+|advice\.x|maintenance\..+|hook\..+|lfs\..+)$"
)


def judge_setting(examiner: "Examiner", call: "Call", key: str, value: str) -> None:
    harmless = value.strip() in ("cat", "less", "true", ":", "false", "vim", "vi", "nano", "")
    pager = re.match(r"(?i)core\.(?:pager|editor)|sequence\.editor|pager\.", key)
    if not known(key) or (RUNS.match(key) and not (harmless and pager)):
        examiner.found("git-runs-programs", f"{key}={value}")
        if known(value) and " " in value:
            examiner.inner_text(f"git -c {key}", value.lstrip("!"), call.state)
