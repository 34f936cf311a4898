"""Which calls of tools are allowed, asked about or denied: modes, rules, and the decision. Pure.

A rule is written as Claude Code writes it: ``Bash(git commit:*)``, ``Read(src/**)``. What denies
goes before what asks, and that before what allows, whatever their order and wherever they come
from. `guard` is what the loop asks: it adds the person and the broker of the run.
"""
