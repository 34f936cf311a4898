"""What interpreters are told on their command lines to load first, or to set."""

import pytest

from siding.shellguard.face import Action

from .setting import judged, rules_of


@pytest.mark.parametrize(
    "line",
    [
        "perl -Mlib=lib -MTest::More t/a.t",
        "perl -MJSON -e 'print 1'",
        "php -d memory_limit=1G -d display_errors=1 a.php",
        "node -r dotenv/config a.js",
        "node -r ./setup.js a.js",
        "ruby -rjson -e 'p 1'",
    ],
)
def test_modules_by_name_files_of_the_workspace_and_plain_settings_are_not_asked_about(
    line: str,
) -> None:
    assert judged(line).runs, rules_of(judged(line))


@pytest.mark.parametrize(
    "line",
    [
        "php -d auto_prepend_file=/tmp/x a.php",
        "ruby -r /tmp/x -e 1",
        "node -r /tmp/x.js a.js",
        "node -r ../../x.js a.js",
        "node -r a=b a.js",
    ],
)
def test_files_from_elsewhere_and_other_settings_are_asked_about(line: str) -> None:
    assert judged(line).action is Action.ASK
    assert "option-runs-program" in rules_of(judged(line))
