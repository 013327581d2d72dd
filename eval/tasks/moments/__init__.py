"""Moment retrieval: which seconds of a video a sentence describes."""
