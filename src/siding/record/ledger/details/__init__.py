"""One module for each kind of ledger line, with the fields that only this kind has.

An act fills the detail of its step, and ``as_record`` writes the fields. A module is imported when
a step of its kind is read.
"""
