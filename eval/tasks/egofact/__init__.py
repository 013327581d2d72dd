"""EgoFact: the benchmark built from event lists by the paper's appendix C, and read from files.

`building.build_egofact` writes a benchmark folder, `loading.load_egofact` reads one.
"""
