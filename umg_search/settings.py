"""Settings: one frozen value, from UMG_* environment variables and an optional TOML file, read once and passed in."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from umg_search.errors import SettingsError
from umg_search.granularity import Expert, Granularity
from umg_search.model import Encoding, VectorType

PREFIX = "UMG_"
CONFIG = "UMG_CONFIG"
"""Environment variable that names the TOML file."""

OTHERS = frozenset({CONFIG, "UMG_TEST_ENGINES", "UMG_DEV_CACHE"})
"""Variables with the prefix that are not settings."""

PRESETS: Mapping[str, tuple[Granularity, ...]] = {
    "full": tuple(Granularity),
    "lean": (Granularity.G2, Granularity.G8),
}


class Settings(BaseSettings):
    """Everything that is decided outside the code.

    Models, experts, granularities and text rules count when an index set is made; later writers must agree with it.
    Searches take them from the set.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=True)

    engine: str = Field(
        "embedded:umg-data",
        description="`embedded:FOLDER`, or the `http(s)://` address of Elasticsearch or OpenSearch",
    )
    prefix: str = Field("umg", pattern=r"^[a-z][a-z0-9_]{0,40}$", description="beginning of every index name")
    index_preset: Literal["full", "lean"] = Field(
        "full", description="granularities of a new set: `full` = 2, 4, 8, 16, 32 sentences, `lean` = 2, 8"
    )
    experts: str = Field(
        "",
        description="experts of a new set, with commas: `dense`, `sparse`, `lexical`; "
        "empty: dense and sparse where a sparse model is named, else dense and lexical",
    )
    dense_model: str = Field(
        "sentence-transformers/all-MiniLM-L6-v2",
        description="sentence-transformers model: hub name, folder, or `package:MODULE/FOLDER` inside a Python package",
    )
    dense_query_prompt: str = Field("", description="put before a question; empty: the model's own prompt")
    dense_passage_prompt: str = Field("", description="put before a passage; empty: the model's own prompt")
    vectors: VectorType = Field(
        VectorType.INT8,
        description="numbers of stored vectors: `int8` (a quarter of the bytes, cosines right to 0.003) or `float32`",
    )
    sparse_model: str = Field(
        "", validate_default=True, description="sentence-transformers SparseEncoder, named like the dense model"
    )
    encoding: Encoding = Field(
        Encoding.COMPOSED,
        description="`composed`: long windows from the encodings of short ones; `direct`: each from its own text",
    )
    device: str = Field("auto", description="`auto`, `cpu`, `cuda`, `cuda:1`, `mps`")
    encode_batch: int = Field(32, ge=1, le=4096, description="texts that go through a model at once")
    ingest_batch_chars: int = Field(
        400_000, ge=1_000, le=50_000_000, description="characters of text that are encoded and written together"
    )
    max_sentence_chars: int = Field(600, ge=50, le=10_000, description="longest sentence, in characters")
    max_sentence_chars_dense: int = Field(
        200, ge=20, le=10_000, description="the same for Chinese, Japanese, Korean, Thai, Khmer, Lao, Burmese, Tibetan"
    )
    default_language: str = Field(
        "en", pattern=r"^[a-z]{2,3}$", description="language of texts that do not tell theirs"
    )
    analyzer: str = Field("standard", min_length=1, description="the servers' analyser for the lexical expert")
    access_control: bool = Field(False, description="a new set shows documents only to the principals in their ACL")
    shards: int = Field(1, ge=1, le=1024, description="primary shards of each new index")
    replicas: int = Field(1, ge=0, le=20, description="replicas of each new index")
    request_timeout_s: float = Field(30.0, gt=0, le=3600, description="longest wait for one answer of a server")
    retries: int = Field(4, ge=0, le=20, description="tries after the first, with growing pauses, for a busy server")
    bulk_bytes: int = Field(
        5_000_000, ge=100_000, le=90_000_000, description="largest bulk request; managed services may refuse 10 MiB"
    )
    grace_s: float = Field(
        60.0, ge=0, le=86_400, description="how long replaced text stays readable for running searches"
    )

    @field_validator("experts")
    @classmethod
    def _known_experts(cls, value: str) -> str:
        names = [name.strip() for name in value.split(",") if name.strip()]
        unknown = [name for name in names if name not in set(Expert)]
        if unknown or len(set(names)) < len(names):
            raise ValueError(f"experts are {', '.join(Expert)}, each at most once")
        return ",".join(names)

    @field_validator("engine")
    @classmethod
    def _known_engine(cls, value: str) -> str:
        folder = value.removeprefix("embedded:")
        if folder != value and folder:
            return value
        if value.startswith(("http://", "https://")):
            _check_address(value)
            return value
        raise ValueError("an engine is embedded:FOLDER or an http:// or https:// address")

    @field_validator("sparse_model")
    @classmethod
    def _named_where_needed(cls, value: str, info: ValidationInfo) -> str:
        if not value and Expert.SPARSE in str(info.data.get("experts", "")).split(","):
            raise ValueError("the sparse expert needs a model")
        return value

    @property
    def expert_list(self) -> tuple[Expert, ...]:
        """Experts of a new set, in the order of `Expert`."""
        if self.experts:
            named = {Expert(name) for name in self.experts.split(",")}
        else:
            named = {Expert.DENSE, Expert.SPARSE if self.sparse_model else Expert.LEXICAL}
        return tuple(expert for expert in Expert if expert in named)

    @property
    def granularities(self) -> tuple[Granularity, ...]:
        """Granularities of a new set."""
        return PRESETS[self.index_preset]

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take values given in code first, then the environment, then the file that UMG_CONFIG names."""
        del dotenv_settings, file_secret_settings
        path = os.environ.get(CONFIG)
        file = (TomlConfigSettingsSource(settings_cls, Path(path)),) if path else ()
        return (init_settings, env_settings, *file)


def load_settings(**values: Any) -> Settings:
    """Return the settings; SettingsError with every invalid field, unknown variable and unknown key in one message."""
    path = os.environ.get(CONFIG)
    if path and not Path(path).is_file():
        raise SettingsError(f"There is no configuration file {path!r}: correct {CONFIG}.")
    known = {PREFIX + name.upper() for name in Settings.model_fields} | OTHERS
    wrong = [f"{name}: no such setting" for name in sorted(os.environ) if name.startswith(PREFIX) and name not in known]
    try:
        settings = Settings(**values)
    except ValidationError as error:
        wrong += [_described(item["loc"], item["msg"], item["input"]) for item in error.errors()]
        raise _refusal(wrong) from error
    except ValueError as error:  # TOML that does not parse
        raise SettingsError(f"The configuration file {path!r} is not valid TOML: {error}.") from error
    if wrong:
        raise _refusal(wrong)
    return settings


def _described(location: tuple[int | str, ...], message: str, value: object) -> str:
    name = PREFIX + "_".join(str(part) for part in location).upper() if location else "settings"
    text = message.removeprefix("Value error, ")
    if "Extra inputs" in message:
        return f"{name}: no such setting"
    return f"{name}: {text}" if isinstance(value, dict) else f"{name}: {text} (it is {_without_password(value)!r})"


def _without_password(value: object) -> object:
    # Up to the last @, and without a scheme too: `elastic:secret@host` is what a mistyped engine looks like.
    return re.sub(r"(//|^).*@", r"\1***@", value, count=1, flags=re.DOTALL) if isinstance(value, str) else value


def _check_address(value: str) -> None:
    """Refuse an address that clients cannot read; a password with `/`, `?` or `#` in it makes one."""
    try:
        parts = urlsplit(value)
        sound = bool(parts.hostname) and parts.port != 0 and not re.search(r"\s", value)
        sound = sound and "@" not in parts.path + parts.query + parts.fragment
    except ValueError:
        sound = False
    if not sound:
        raise ValueError(
            "the address is not like https://user:password@host:9200; "
            "write special characters of user and password in per cent encoding (/ as %2F)"
        )


def _refusal(wrong: list[str]) -> SettingsError:
    return SettingsError(f"Wrong settings: {'; '.join(wrong)}.")
