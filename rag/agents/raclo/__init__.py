"""RACLO: find a video and the moment in it from what a person remembers."""
