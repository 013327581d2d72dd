"""When in a video: pure functions on arrays."""
