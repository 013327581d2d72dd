"""RVMS-Bench: videos and moments by what one remembers of them (RACLO, section 2).

The published rows over a web of one's own, and `rvms-workbench`, whose truth is known to the frame.
The rule of addresses, the check of a re-upload's content and the check against the reference frame
are the benchmark's; the agent sees the cues alone.
"""
