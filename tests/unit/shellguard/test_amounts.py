"""Where it begins to be too much: the last that passes, and the first that does not."""

import pytest

from .setting import judged, rules_of


@pytest.mark.parametrize(
    ("line", "last", "first", "rule"),
    [
        ("ulimit -n {}", "64", "63", "siding-itself"),
        ("ulimit -Hn {}", "64", "63", "siding-itself"),
        ("fallocate -l {} big", "49G", "50G", "fill-disk"),
        ("fallocate -l {} big", "53687091199", "53687091200", "fill-disk"),
        ("fallocate -l {} big", "51199M", "51200M", "fill-disk"),
    ],
)
def test_the_last_that_is_let_through_and_the_first_that_is_not(
    line: str, last: str, first: str, rule: str
) -> None:
    assert rule not in rules_of(judged(line.format(last)))
    assert rule in rules_of(judged(line.format(first)))


def test_the_networks_of_a_clouds_metadata_end_where_they_end() -> None:
    for inside in ("169.254.0.0", "169.254.169.254", "169.254.255.255", "100.100.100.200"):
        assert "cloud-metadata" in rules_of(judged(f"curl http://{inside}/x")), inside
    for outside in ("169.253.255.255", "169.255.0.0", "100.100.100.199", "100.100.100.201"):
        assert "cloud-metadata" not in rules_of(judged(f"curl http://{outside}/x")), outside


def test_what_sends_without_an_address_is_sending_and_a_method_alone_a_change() -> None:
    """The address may come from a file of settings, or from a variable."""
    for line in ("curl -d @x", "curl -T f", "wget --post-data x"):
        assert rules_of(judged(line)) == {"send-data"}, line
    for line in ("curl -X POST", "gh api -X DELETE repos/x"):
        assert rules_of(judged(line)) == {"change-remote"}, line
    assert rules_of(judged("curl -X GET")) == set()
