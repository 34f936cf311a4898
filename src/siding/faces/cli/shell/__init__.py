"""What belongs to the person's shell: `cd`, completion."""
