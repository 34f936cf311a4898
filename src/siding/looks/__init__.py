"""What a person has read of a task's change: viewed marks on hunks, and the last look."""
