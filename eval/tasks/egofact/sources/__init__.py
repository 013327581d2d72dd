"""Where events come from: a Workbench corpus, or files of Ego4D and Ego4DSounds."""
