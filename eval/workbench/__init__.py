"""The Workbench world: egocentric clips drawn from a seed, every event known exactly, and its passages."""
