"""The synthetic world: egocentric clips rendered from a seed, with exact ground truth, and passages."""
