"""What a command may do, judged before it runs.

`engine.check_line` judges a line of shell, `engine.check_argv` an argument list. The line is read
with a real shell grammar (`grammar`), its words are expanded as far as they are certain
(`expansion`), and every simple command, in whatever it is wrapped, is handed to the judge of its
program (`programs`). What is not understood is a question, never silently allowed.

This is a guard rail and not a wall: it advises before the run. What a command really does is held
by a sandbox, and undone from a snapshot.
"""
