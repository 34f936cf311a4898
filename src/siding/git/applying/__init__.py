"""A change brought onto a branch and into the checkout that has it."""
