"""RVMS-Bench: videos and moments found by memory (RACLO)."""
