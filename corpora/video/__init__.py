"""Videos: their shape, upright frames with true times, words and sound, behind one watched subprocess."""
