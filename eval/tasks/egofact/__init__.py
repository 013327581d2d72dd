"""EgoFact: the benchmark built from event lists by the paper's appendix C, and read from files."""
