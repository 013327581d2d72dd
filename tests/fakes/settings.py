"""Settings that several tests share."""

from indexers.settings import EncoderSettings
from rag.settings import Settings

FIXED_BACKEND = Settings(encoder=EncoderSettings(backend="torch-fp32", batch=8))
"""Without the measurement of backends and batches that every new library begins with."""
