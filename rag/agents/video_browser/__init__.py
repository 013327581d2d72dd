"""Video-Browser: plan, search, watch and answer over a web of videos."""
