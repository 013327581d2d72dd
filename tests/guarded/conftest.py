"""Tests of the extras that need torchvision: collected only where the extra is installed.

They run in an environment of their own (`make test-extras`), where torchvision
may need the guard before anything imports transformers.
"""

import importlib.util

EXTRAS = {"test_open_clip.py": "open_clip", "test_imagebind.py": "imagebind", "test_guard.py": "torchvision"}

collect_ignore = [test for test, module in EXTRAS.items() if importlib.util.find_spec(module) is None]
