"""Reading files: what lies in a folder, and what is in it: pictures, sound, words, documents."""
