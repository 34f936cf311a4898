"""Comments on the lines of a change, which become the next prompt of its agent."""
