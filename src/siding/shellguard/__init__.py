"""What a command may do, judged before it runs.

`engine.check_line` judges a line of shell, `engine.check_argv` an argument list. The line is read
with a real shell grammar (`grammar`), its words are expanded as far as they are certain
(`expansion`), and every simple command, in whatever it is wrapped, is handed to the judge of its
program (`programs`). A line that the grammar or a judge does not understand gets the action `ask`;
it is never silently allowed.

The policy only advises before the run. A sandbox limits what the command can really do, and a
snapshot undoes it.
"""
