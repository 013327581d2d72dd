"""What it is worth: benchmarks and the systems tried on them, run folders, measures, reports; batches."""
