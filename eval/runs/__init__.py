"""Runs of systems over the queries of a benchmark: their records, their folders, and how one is made."""
