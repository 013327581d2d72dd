"""Localization in time: which seconds of a video match, as pure functions on arrays."""
