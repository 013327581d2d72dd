"""EgoFact: the benchmark built from event lists by the paper's appendix C, and read from files.

`construction.build.write_benchmark` writes a benchmark folder, `files.load_egofact` reads one.
"""
