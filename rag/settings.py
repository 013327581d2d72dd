"""One settings model: defaults < rag.toml < environment (RAG_*) < flags.

Nested settings in the environment take two underscores: `RAG_VIDEO__RATE=1`.
Unknown keys are refused, secrets are masked when printed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PrivateAttr, SecretStr, ValidationError, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings import SettingsError as SourcesError

from corpora.entry_points import all_entry_points, find_entry_point
from corpora.errors import os_reason
from corpora.objects import is_url
from corpora.settings import ReadingSettings, ScanSettings, SettingsSection, StorageSettings, VideoSettings
from indexers.settings import AsrSettings, EncoderSettings, OcrSettings
from localization.settings import LocalizeSettings
from rag.errors import SettingsError

TOP_K = 5
"""Clips of a search. The relevance scale of a library is measured with as many; a change of it needs another
`rag.store.records.SCORE_MEASURES`."""
EXACT_ROWS = 200_000
"""Default of `search.exact_rows`."""
LEAST_SIMILARITY = 0.66
"""In [0, 1], of the name of a setting and one that may have been meant for it."""


class SearchSettings(SettingsSection):
    """Retrieval, and the threshold for answers."""

    top_k: int = Field(TOP_K, ge=1, le=1000)
    """Clips retrieved for a question (EgoFact, D.2.3: 5)."""
    threshold: float = Field(0.3, ge=0, le=1)
    """Relevance and confidence below which the answer is that nothing matches."""
    exact_rows: int = Field(EXACT_ROWS, ge=1)
    """Rows of a table of vectors (clips, text spans, passages) up to which it is searched exactly, in
    memory. Above, `rag index` makes LanceDB's index of it, which proposes rows that are ranked exactly."""
    interaction_clips: int = Field(100, ge=0, le=10_000)
    """How many clips, best first, have their stored frames compared with each clause of the question (late
    interaction). As far as images decide, they come before all others. 0 compares clips as a whole."""
    subtitles: bool = True
    """Subtitles, in files and in streams, are evidence; without them speech recognition and on-screen text
    remain. A library keeps them either way."""


def _registered_reasoner(name: str) -> str:
    if find_entry_point("rag.reasoners", name) is None:
        raise ValueError(
            f"no reasoner {name!r}; installed are: {', '.join(all_entry_points('rag.reasoners'))}"
        )
    return name


ReasonerKind = Annotated[str, AfterValidator(_registered_reasoner)]


class PartSettings(SettingsSection):
    """A separate model for one part of the roles."""

    kind: ReasonerKind | None = None
    """A kind of reasoner; what is not set here is taken from `[reasoner]`."""
    model: str | None = None
    """Model name at the server, or the folder of a local transformers model."""
    base_url: str | None = None
    """Server for this part."""
    api_key: SecretStr | None = None
    """Bearer token for that server; masked in all output."""
    timeout_seconds: float | None = Field(None, gt=0, le=86400)
    """Time limit of one call, retries and waits included."""
    images: bool | None = None
    """Send frames to the model of this part."""
    image_short_side: int | None = Field(None, ge=32)
    """Frames are sent with a short side of at most this many pixels."""
    zoom_short_side: int | None = Field(None, ge=32)
    """The same for frames of a closer look."""
    audio: bool | None = None
    """Send sound to the model of this part."""
    structured: bool | None = None
    """Ask the server to enforce the JSON schema."""
    max_tokens: int | None = Field(None, ge=16)
    """Longest reply."""
    context_tokens: int | None = Field(None, ge=512)
    """Longest prompt and reply together that this model takes."""
    max_images: int | None = Field(None, ge=0)
    """Most frames in one call to this model."""


class ReasonerSettings(SettingsSection):
    """The model behind the roles."""

    kind: ReasonerKind = "embedded"
    """`embedded` needs no language model, `extractive` reads answers out of text with a question-answering
    model, `openai` uses any OpenAI-compatible server, `transformers` runs a model in this process; or the
    name of an installed extension."""
    model: str = ""
    """Model name at the server, or the folder of a local transformers model. For `extractive` also a reader
    of `rag models list`; empty: the recommended one."""
    base_url: str = "http://127.0.0.1:8080/v1"
    """URL of the server, usually ending in `/v1`; nothing else is contacted."""
    api_key: SecretStr = SecretStr("none")
    """Bearer token for the server; masked in all output."""
    timeout_seconds: float = Field(300.0, gt=0, le=86400)
    """Time limit of one call, retries and waits included (VideoDetective, table 8: 300)."""
    max_calls: int = Field(64, ge=1)
    """Most calls to the model for one question, repairs included. A quarter is kept for answering and
    judging, so that a run whose search has used up its own still answers from what it has."""
    repairs: int = Field(2, ge=0, le=5)
    """Most times that a reply that does not parse is returned to the model with its error; fewer where the
    model says the same again."""
    images: bool = True
    """Send frames to the model; off for a text-only one."""
    answer_from: Literal["frames", "captions"] = "frames"
    """What an answer of `rag ask` rests on beside words: the frames of each window, or captions of them that
    are written for the question first (EgoFact, sections 3.1 and D.2.3)."""
    image_short_side: int = Field(336, ge=32)
    """Frames are sent with a short side of at most this many pixels."""
    zoom_short_side: int = Field(672, ge=32)
    """The same for frames of a closer look: the windows that Video-Browser zooms into (stage III)."""
    audio: bool = False
    """Send the sound of a video to the model (content parts `input_audio`, WAV), where RACLO and ShotFinder
    ask about it; for models that take audio. Transcripts and measured sounds are sent in any case."""
    audio_seconds: float = Field(600.0, gt=0, le=86400)
    """Seconds of sound of one video at most, from its start."""
    structured: bool = False
    """Ask the server to enforce the JSON schema (`response_format`), in the strictest form that it takes."""
    max_tokens: int = Field(4096, ge=16)
    """Longest reply (VideoDetective, table 8: 4096 for the vision model, 2048 for the text model). The
    context of the model limits it too; some servers then need a lower number. Most roles ask for fewer."""
    context_tokens: int | None = Field(None, ge=512)
    """Longest prompt and reply together that the model takes; a longer prompt has fewer frames. Without it,
    frames are left out once the server refuses a prompt."""
    max_images: int | None = Field(None, ge=0)
    """Most frames in one call; default: until the server refuses them."""
    planner: PartSettings = PartSettings()
    """A separate model for planning."""
    watcher: PartSettings = PartSettings()
    """A separate model for looking at frames."""
    judge: PartSettings = PartSettings()
    """A separate model for judging answers."""
    fallback: PartSettings = PartSettings()
    """A model that is asked where another one gives no usable reply: one that cannot be read, or a prompt or
    format that its server refuses (EgoFact, D.2.3). Nothing set here: no fallback."""

    _server: str = PrivateAttr("reasoner.base_url")

    def short_side(self, *, zoomed: bool) -> int:
        """Pixels that frames are decoded at: as many as the model of any part is sent."""
        name = "zoom_short_side" if zoomed else "image_short_side"
        return max(int(getattr(self.of_part(part), name)) for part in ("analyst", "watcher", "judge"))

    def of_part(self, part: str) -> ReasonerSettings:
        """The settings of `planner`, `watcher`, `judge` or `fallback`; for any other name, these."""
        own = getattr(self, part, None)
        if not isinstance(own, PartSettings):
            return self
        settings = self.model_copy(update={key: value for key, value in own if value is not None})
        if own.base_url is not None:
            settings._server = f"reasoner.{part}.base_url"
        return settings

    @property
    def server(self) -> str:
        """The name of the setting that `base_url` is from: `reasoner.base_url`, or a part's own."""
        return self._server


class ClusterSettings(SettingsSection):
    """Section `cluster`: indexing with several workers."""

    engine: Literal["local", "ray"] = "local"
    """What runs the workers: `local` is this process, `ray` a cluster of Ray, an extra."""
    address: str = ""
    """A running cluster, such as `ray-head:6379`, or `auto`; default: `RAY_ADDRESS`, else a cluster on this
    machine alone."""
    workers: int = Field(0, ge=0, le=100_000)
    """Workers; 0: as many as the cluster has room for."""
    worker_cpus: float = Field(2.0, gt=0)
    """Cores that each worker is given."""
    worker_gpus: float = Field(0.0, ge=0)
    """GPUs that each worker is given, as in 0.1 for ten workers a GPU."""


class Settings(BaseSettings):
    """All settings of a run; resolved values are stored with every result."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_prefix="RAG_", env_nested_delimiter="__"
    )

    library: Path | str | None = None
    """Library folder, or its address on an object store, as in `s3://bucket/library`; default: `.rag` in the
    working directory or the nearest parent that has one."""
    seed: int = 0
    """Random seed."""
    scan: ScanSettings = ScanSettings()
    storage: StorageSettings = StorageSettings()
    cluster: ClusterSettings = ClusterSettings()
    reading: ReadingSettings = ReadingSettings()
    video: VideoSettings = VideoSettings()
    encoder: EncoderSettings = EncoderSettings()
    ocr: OcrSettings = OcrSettings()
    asr: AsrSettings = AsrSettings()
    search: SearchSettings = SearchSettings()
    localize: LocalizeSettings = LocalizeSettings()
    reasoner: ReasonerSettings = ReasonerSettings()

    @field_validator("library", mode="before")
    @classmethod
    def _folder_or_address(cls, value: object) -> object:
        """An empty path would stand for the working folder; a path eats one slash of an address."""
        if value == "":
            raise PydanticCustomError("empty_path", "it is empty; name a folder, or unset it")
        if "\0" in str(value):
            raise PydanticCustomError("no_path", "no folder can have such a name")
        return Path(os.path.expanduser(value)) if isinstance(value, str) and not is_url(value) else value


def load_settings(
    config: str | os.PathLike[str] | None = None, flags: Mapping[str, Any] | None = None
) -> Settings:
    """Resolve the settings of one run.

    `config`: a TOML file; default `rag.toml` in the working directory, where there is one.
    `flags`: dotted names to values; None values are ignored.
    Raises `SettingsError` with the offending key, and the file or the variable that sets it.
    Example: `load_settings(flags={"video.rate": 1.0, "search.top_k": 5})`.
    """
    if config == "":
        raise SettingsError("the path of the settings file is empty; name a file, or pass None")
    path = Path(config or "rag.toml")
    if path.is_dir():
        raise SettingsError(f"{path}: is a folder, not a settings file")
    if config is not None and not path.is_file():
        raise SettingsError(f"{config}: no such settings file")
    given = _nested(flags or {})

    class Sourced(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 (pydantic-settings' own signature)
            file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 (as above)
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, path)

    _refuse_unknown_environment()
    try:
        return Sourced(**given)
    except ValidationError as error:
        raise SettingsError(_refusal(error, given, path)) from error
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {os_reason(error)}") from error
    except SourcesError as error:
        raise SettingsError(
            f"environment variable {_unparsed_variable()}: it is no JSON, as lists and sections are "
            """('["drafts/*"]'); see docs/reference/settings.md"""
        ) from error
    except (ValueError, RecursionError) as error:  # besides those of TOML, a number of thousands of digits
        raise SettingsError(f"{path}: not valid TOML: {error}") from error


def _refusal(error: ValidationError, flags: Mapping[str, Any], path: Path) -> str:
    """What is wrong with the first refused setting, and where it is set: by a flag, in the environment or the
    file `path`."""
    first = error.errors()[0]
    names = [str(part) for part in first["loc"]]
    if first["type"] != "extra_forbidden":
        names = _known_part(names)
    what = {
        "extra_forbidden": f"no such setting{_meant('.'.join(names))}",
        "tuple_type": 'it is a list, as ["drafts/*"]',
        "model_type": "it is a section, not a value",
        "path_type": 'it is a path, as "folder/name"',
    }.get(first["type"], first["msg"].removeprefix("Value error, "))
    source = f"{path}: "
    if _sets(flags, names):
        source = ""
    elif _sets(EnvSettingsSource(Settings)(), names):
        source = f"environment variable {_variable(names)}: "
    return f"{source}setting {'.'.join(names)}: {what}; see docs/reference/settings.md"


@dataclass(frozen=True, slots=True)
class ResolvedSetting:
    """A setting in effect."""

    name: str
    value: Any
    """Secrets are masked, also in addresses."""
    source: str
    """What sets it: `flag`, the environment variable, the file, or `default`."""


def resolved_settings(
    settings: Settings, config: str | os.PathLike[str] | None = None
) -> Iterator[ResolvedSetting]:
    """Every setting of `settings`, section by section; `config`: as it was given to `load_settings`."""
    path, unflagged = Path(config or "rag.toml"), load_settings(config)
    environment, file = EnvSettingsSource(Settings)(), TomlConfigSettingsSource(Settings, path)()
    for name in _names(Settings):
        names = name.split(".")
        value: Any = reduce(getattr, names, settings)
        if isinstance(value, SettingsSection):
            continue
        if value != reduce(getattr, names, unflagged):
            source = "flag"
        elif _sets(environment, names):
            source = _variable(names)
        else:
            source = f"{path}" if _sets(file, names) else "default"
        yield ResolvedSetting(name, _masked(value), source)


def _masked(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return f"{value}"
    if isinstance(value, tuple | list):
        return [_masked(each) for each in value]
    if isinstance(value, str) and "://" in value:
        return re.sub(r"(?<=://).*@|(?<=[?#]).*", "**********", value, flags=re.DOTALL)
    return value


def _sets(values: object, names: Sequence[str]) -> bool:
    """Whether nested values have one of this name, or one instead of a section of it."""
    for name in names:
        if not isinstance(values, Mapping):
            return True
        if name not in values:
            return False
        values = values[name]
    return True


def _known_part(names: list[str]) -> list[str]:
    """The setting of these names, with the number of an item; pydantic adds types of a union to them."""
    known = {*_names(Settings)}
    return [name for end, name in enumerate(names, 1) if ".".join(names[:end]) in known or name.isdecimal()]


def _variable(names: Sequence[str]) -> str:
    """The environment variable that sets a setting, alone or as part of a section in JSON."""
    forms = [f"RAG_{'__'.join(names[:count])}".upper() for count in range(len(names), 0, -1)]
    return next(form for form in forms if form in map(str.upper, os.environ))


def _unparsed_variable() -> str:
    """The first environment variable that pydantic-settings, which names the section alone, cannot parse."""
    source = EnvSettingsSource(Settings)
    for name in sorted(name for name in os.environ if name.upper().startswith("RAG_")):
        source.env_vars = {name.lower(): os.environ[name]}
        try:
            source()
        except SourcesError:
            return name
    return "RAG_*"


def _meant(name: str) -> str:
    """The settings that a name may have been meant for, as a question; empty where none is like it.

    A section that is right says little: the last part of the name counts as much as the whole.
    """

    def similarity(known: str) -> float:
        pairs = (name, known), (name.rpartition(".")[2], known.rpartition(".")[2])
        return sum(SequenceMatcher(None, *pair).ratio() for pair in pairs) / 2

    known = [*_names(Settings)]
    near = [each for each in known if each.endswith(f".{name}")] or [max(known, key=similarity)]
    return f"; did you mean {' or '.join(near[:3])}?" if similarity(near[0]) >= LEAST_SIMILARITY else ""


def _names(model: Any, before: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield before + name
        if hasattr(field.annotation, "model_fields"):
            yield from _names(field.annotation, f"{before}{name}.")


def _nested(flags: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for dotted, value in flags.items():
        if value is None:
            continue
        *sections, key = dotted.split(".")
        inner = values
        for section in sections:
            inner = inner.setdefault(section, {})
        inner[key] = value
    return values


def _refuse_unknown_environment() -> None:
    """pydantic-settings looks only for names it knows, and would ignore a misspelt one."""
    for name in sorted(os.environ):
        first, *_ = name.removeprefix("RAG_").lower().split("__")
        if name.startswith("RAG_") and first not in Settings.model_fields:
            meant = _meant(name.removeprefix("RAG_").lower().replace("__", "."))
            raise SettingsError(
                f"environment variable {name}: no such setting{meant}; see docs/reference/settings.md"
            )
