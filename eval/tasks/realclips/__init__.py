"""Search over real footage: which video shows a sentence, when, and whether any does."""
