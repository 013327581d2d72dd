"""Video-BrowseComp: questions over a web of videos (Video-Browser, section 3), published or made here.

`published` reads the paper's files, `workbench` makes questions over a drawn
web, `benchmark` opens either for the evaluation, `report` tells what came out.
"""

from __future__ import annotations
