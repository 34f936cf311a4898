"""What an act on a task would do, said once for every screen, and doing exactly that."""
