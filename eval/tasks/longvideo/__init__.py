"""Questions with options about long videos (VideoDetective)."""
