"""The guard makes a broken torchvision importable, says so, and leaves a sound one alone."""

import subprocess
import sys

PROBE = "try:\n import torchvision\nexcept RuntimeError as error:\n print(error)"
GUARDED = (
    "from indexers.torch_backend import guard_torchvision\n"
    "first, second = guard_torchvision(), guard_torchvision()\n"
    "import torchvision, transformers.models.clip.modeling_clip, sentence_transformers\n"
    "print(first, second)"
)


def _run(program: str) -> str:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_everything_imports_after_the_guard() -> None:
    broken = "nms does not exist" in _run(PROBE)
    assert _run(GUARDED) == f"{broken} {broken}"
