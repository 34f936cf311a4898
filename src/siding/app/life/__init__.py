"""A task's life: started, closed, reopened, freed; its workspace and what belongs in it."""
