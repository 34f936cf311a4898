"""The places are those of all processes."""

from unit.ground.process.conftest import place

__all__ = ["place"]
