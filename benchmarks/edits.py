"""F4: a step that edits, against the snapshots of the engines inside agents."""

from benchmarks.running import EDITS_FIGURE as FIGURE

__all__ = ["FIGURE"]
