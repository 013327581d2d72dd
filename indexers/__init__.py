"""Making vectors and text evidence out of frames, sound and sentences."""
