"""Reading files: what is in a folder, and what is in each file: frames, audio, texts, documents."""
