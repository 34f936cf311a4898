"""A task whose ledger is written by hand."""

import pytest

from integration.undo.desk import Desk

from .ledgers import Told


@pytest.fixture
def told(desk: Desk) -> Told:
    return Told(desk)
