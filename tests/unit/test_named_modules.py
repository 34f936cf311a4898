"""Texts in the source that name modules: each names one that exists, with the name in it.

The import contract and mypy see import statements only. What a text names is imported or started
when it is needed, so a file that is moved away from it would be missed by a person first.
"""

import tomllib

import pytest
from tools.house.entries import ACTS, PARSES_LINE
from tools.house.named import computed_in, named_in
from tools.house.source import CHECKOUT, Package, read_package
from tools.house.verbs import verbs_of

from siding.agents.own.providers import PROVIDERS
from siding.agents.table import AGENTS
from siding.secretmask import face as secretmask
from siding.shellguard import face as shellguard
from unit.agents.facets import FACETS

# These look like the name of a module, and are something else.
NO_MODULES = {
    "siding.device": "the name of a value that the dashboard keeps with a request",
}
# The modules that import a name which they put together. The tests below look through their tables,
# and `tests/unit/shellguard/test_engine.py` through that of programs.
COMPUTED = {
    "siding.agents.facets",
    "siding.assistant.models.any_model",
    "siding.assistant.models.requests",
    "siding.faces.cli.table",
    "siding.secretmask.face",
    "siding.shellguard.face",
    "siding.shellguard.programs",
}
# These import modules of others only.
OTHERS = {
    "siding.ground.hashing",
    "siding.sandbox.wire.exchange",
    "siding.workflows.child.builtins",
}


@pytest.fixture(scope="module")
def package() -> Package:
    return read_package(CHECKOUT / "src/siding")


def test_each_text_that_names_a_module_names_one(package: Package) -> None:
    verbs = verbs_of(package)
    named = [
        each for module in package.modules.values() for each in named_in(package, module, verbs)
    ]
    assert len(verbs.by_words) > 100
    assert len(named) > len(verbs.by_words) + 40
    lost = [each for each in named if not each.target and each.text not in NO_MODULES]
    assert [f"{each.source}:{each.line}: {each.text!r}" for each in lost] == []


def test_each_module_of_a_table_has_what_is_taken_from_it(package: Package) -> None:
    models = "assistant.models.makers"
    taken = [
        f"agents.{agent.folder}.{facet.module}:{facet.value}"
        for agent in AGENTS
        for facet in FACETS
        if facet.module in agent.facets
    ]
    taken += ["agents.plain_words:ADAPTER"]
    taken += [f"{models}.{module}:{name}" for module, name in (p.maker for p in PROVIDERS.values())]
    for face in (shellguard, secretmask):
        library = face.__name__.removeprefix("siding.").removesuffix(".face")
        taken += [f"{library}.{module}:{name}" for name, module in face.MODULE_OF.items()]
    assert [each for each in taken if not _exists(package, f"siding.{each}")] == []


def test_the_places_that_compute_the_name_of_a_module_are_known(package: Package) -> None:
    found = {each.source for module in package.modules.values() for each in computed_in(module)}
    assert sorted(found) == sorted(COMPUTED | OTHERS), "add its table to the test above"


def test_the_installed_programs_and_what_is_measured_exist(package: Package) -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    measured = [f"siding.{module}" for modules in ACTS.values() for module in modules]
    places = [*project["scripts"].values(), *measured]
    assert [place for place in places if not _exists(package, place)] == []
    text = f"\ndef {PARSES_LINE}("  # without it no line of a ledger would be counted
    assert len([name for name, module in package.modules.items() if text in module.text]) == 1


def _exists(package: Package, place: str) -> bool:
    name, _, attribute = place.partition(":")
    module = package.modules.get(name)
    return module is not None and (not attribute or attribute in module.bound)
