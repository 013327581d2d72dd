"""Which values of settings are refused, wherever they come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.config import Settings, load_settings
from rag.errors import SettingsError

FLOATS = [
    f"{section}.{name}"
    for section, field in Settings.model_fields.items()
    for name, inner in getattr(field.annotation, "model_fields", {}).items()
    if inner.annotation is float
]


def test_there_are_settings_to_try() -> None:
    assert "video.rate" in FLOATS


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("name", FLOATS)
def test_only_finite_numbers_are_taken(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match=f"setting {name}: "):
        load_settings(flags={name: float(value)})
    monkeypatch.setenv(f"RAG_{name.replace('.', '__').upper()}", value)
    with pytest.raises(SettingsError, match=f"setting {name}: "):
        load_settings()


@pytest.mark.parametrize("name", ["video.stall_seconds", "reasoner.timeout_seconds"])
def test_waits_are_such_that_a_clock_can_hold_them(name: str) -> None:
    with pytest.raises(SettingsError, match=f"setting {name}: "):
        load_settings(flags={name: 1e300})
