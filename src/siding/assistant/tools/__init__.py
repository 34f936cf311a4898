"""The tools of the built-in agent: reading and changing files, searching, running commands.

`port` is what a tool is and what it needs, `place` what the tools get from outside. Of each tool
there is a `.md` with its name beside its module, which is what the model reads about it; `factory`
makes the tools of one conversation. A tool decides nothing about permission: it says what it is
about to do (`Tool.use`), and whoever runs it decides.

Whoever runs a tool checks the input first (`spec.checked`), and calls `Memory.close` when the
conversation ends.
"""
