"""Colours of source code, found by a helper process: a lexer beside the screen would stop it.

`colours` keeps them by blob; `helper` talks with the process, which is `child`; `lexing` is what it
does; `packed` is the form in which colours are kept and sent.
"""
