"""The benchmark suite: ``python3 run.py bench``. Ratios to a floor or a peer, never seconds alone.

Each figure is one module with a ``FIGURE``; `benchmarks.figures` lists them by hand.
"""
