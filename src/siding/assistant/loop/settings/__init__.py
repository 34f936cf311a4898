"""The settings of the built-in agent: what one file says, and what all of them come to. Pure.

A file is a layer. `values` reads one, `combining` adds them up and remembers where each value is
from. Which files there are, and which are trusted, `assistant.settings_files` knows.
"""
