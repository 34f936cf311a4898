"""The process between the host of a run and its command, which ends everything if the host dies."""
