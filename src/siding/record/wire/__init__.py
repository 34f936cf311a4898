"""What passed the proxy of a run."""
