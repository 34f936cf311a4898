"""Questions that are put to a person, and the recorded answers.

`FORMAT.md` describes the files. Any number of decisions can be open at once; a program that knows
only the older one-slot form (``pending.json`` and one record for each answered decision) can still
read them.
"""
