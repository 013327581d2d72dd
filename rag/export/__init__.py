"""Export of selected windows to editing programs: timelines, markers, tables, chapters, clips."""
