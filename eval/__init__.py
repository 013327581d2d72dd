"""Runs and batches of questions, in the formats that benchmarks read."""
