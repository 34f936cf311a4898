"""Read the settings of a run's sandbox and limits, plan the sandbox and set it up."""
