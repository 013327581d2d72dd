"""A simulated vision-language model behind an OpenAI-compatible server: a test instrument, no model.

It recognizes the frames of synthetic videos, takes what they show from the videos' plans, and answers the
prompts of `rag.reasoners` from that and from the text that it is sent. Its figures say whether our
language-model path works, and nothing about any model.
"""
