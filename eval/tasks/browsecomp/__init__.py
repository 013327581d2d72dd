"""Video-BrowseComp: questions over a web of videos (Video-Browser, section 3)."""
