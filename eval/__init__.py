"""Evaluation: benchmarks and the systems run on them, run folders, measures, reports; batches."""
