"""Solvers of EgoFact: ours, those that the paper compares, and controls, out of the same few stages."""
