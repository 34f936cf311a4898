"""A task on the screen: its patch, its steps, the output of its runs, and what is done with it."""
