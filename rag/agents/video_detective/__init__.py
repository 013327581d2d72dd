"""VideoDetective: answer questions about one long video by iterative search."""
