"""Settings: one frozen value, from UMG_* environment variables and an optional TOML file, read once and passed in."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, FilePath, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from umg_search.addresses import check_broker, hidden, is_server, nodes_of, without_credentials
from umg_search.errors import SettingsError
from umg_search.granularity import Expert, Granularity, named_experts
from umg_search.model import DeclaredField, Encoding, Headers, VectorType, declared_fields
from umg_search.search_settings import SearchSettings

PREFIX = "UMG_"
CONFIG = "UMG_CONFIG"
"""Environment variable that names the TOML file."""

SECRETS = "UMG_SECRETS_DIR"
"""Environment variable that names a folder with one file a setting, such as `umg_password`."""

OTHERS = frozenset({CONFIG, SECRETS, "UMG_TEST_ENGINES", "UMG_DEV_CACHE"})
"""Variables with the prefix that are not settings."""

AUTHENTICATIONS = ("user", "api_key", "bearer_token", "aws_region")
"""Settings of which at most one has a value: each is a way to authenticate."""

PRESETS: Mapping[str, tuple[Granularity, ...]] = {
    "full": tuple(Granularity),
    "lean": (Granularity.G2, Granularity.G8),
    "derived": (Granularity.G2,),
}
"""Granularities that have an index, by the name of the preset."""

DERIVED: Mapping[str, tuple[Granularity, ...]] = {"derived": tuple(Granularity)[1:]}
"""Granularities whose lists are derived from those of the finest windows, by the name of the preset."""


class Settings(SearchSettings):
    """Everything that is decided outside the code.

    Models, experts, granularities and text rules count when an index set is made; later writers must agree with it.
    Searches take them from the set, and how they rank from SearchSettings.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        frozen=True,
        extra="forbid",
        env_ignore_empty=True,
        hide_input_in_errors=True,  # a traceback shows pydantic's own message, and inputs may be secrets
    )

    engine: str = Field(
        "embedded:umg-data",
        description="`embedded:FOLDER`; the `http(s)://` address of Elasticsearch or OpenSearch, "
        "or of several nodes of one cluster, with commas; or `cloud:` and an Elastic Cloud id",
    )
    user: str = Field("", description="user for basic authentication; user and password may also stand in the address")
    password: SecretStr = Field(SecretStr(""), validate_default=True, description="password of that user")
    api_key: SecretStr = Field(SecretStr(""), description="API key, encoded as the server gave it")
    bearer_token: SecretStr = Field(SecretStr(""), description="token for `Authorization: Bearer`")
    aws_region: str = Field(
        "",
        description="region of an Amazon OpenSearch Service domain: requests are signed (SigV4) with the credentials "
        "that AWS tools find; needs the extra `aws`",
    )
    aws_service: str = Field(
        "es", pattern=r"^[a-z0-9-]+$", description="service that AWS signatures are for; `es` is OpenSearch Service"
    )
    ca_certs: FilePath | None = Field(
        None,
        description="PEM file of the only authorities whose server certificates are trusted; "
        "empty: those of the system and the public ones",
    )
    client_cert: FilePath | None = Field(None, description="PEM file of the certificate to show to the server")
    client_key: FilePath | None = Field(
        None, description="PEM file of its private key; empty: the key is in the certificate's file"
    )
    client_key_password: SecretStr = Field(SecretStr(""), description="password of an encrypted private key")
    prefix: str = Field("umg", pattern=r"^[a-z][a-z0-9_]{0,40}$", description="beginning of every index name")
    index_preset: Literal["full", "lean", "derived"] = Field(
        "full",
        description="granularities of a new set: `full` = 2, 4, 8, 16, 32 sentences, `lean` = 2, 8; "
        "`derived` = 2 indexed and searched, and the lists of the longer ones derived from that",
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
    headers: Headers = Field(
        Headers.NONE,
        description="what models and BM25 read before each window: `none`, `title` of the document, or `headings`, "
        "which is that and the nearest heading above",
    )
    device: str = Field("auto", description="`auto`, `cpu`, `cuda`, `cuda:1`, `mps`")
    encode_batch: int = Field(32, ge=1, le=4096, description="texts that go through a model at once")
    query_cache: int = Field(
        1_000, ge=0, le=1_000_000, description="questions whose encodings a running program remembers; 0: none"
    )
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
    fields: Annotated[tuple[DeclaredField, ...], NoDecode] = Field(
        (),
        description="metadata fields of a new set to filter by with their types, such as `year:integer,lang:keyword`: "
        "`integer`, `float`, `date`, `boolean`, `keyword`; a table in TOML",
    )
    access_control: bool = Field(False, description="a new set shows documents only to the principals in their ACL")
    shards: int = Field(1, ge=1, le=1024, description="primary shards of each new index")
    replicas: int = Field(1, ge=0, le=20, description="replicas of each new index")
    refresh_interval_s: float = Field(
        1.0,
        ge=0.1,
        le=3600,
        description="how often servers refresh new indices by themselves; what is ingested is published at once anyway",
    )
    connect_timeout_s: float = Field(
        5.0, gt=0, le=3600, description="longest wait for a connection; then the next node is tried"
    )
    request_timeout_s: float = Field(30.0, gt=0, le=3600, description="longest wait for one answer of a server")
    retries: int = Field(4, ge=0, le=20, description="tries after the first, with growing pauses, for a busy server")
    retry_limit_s: float = Field(
        90.0, ge=0, le=3600, description="no try begins later than this after the first, however many there are"
    )
    pool_size: int = Field(
        10, ge=1, le=1000, description="connections that are kept to each node; as many as threads that search at once"
    )
    gzip: bool = Field(
        False, description="compress requests and answers: less traffic to a far cluster, more work for both sides"
    )
    bulk_bytes: int = Field(
        5_000_000, ge=100_000, le=90_000_000, description="largest request; managed services may refuse 10 MiB"
    )
    grace_s: float = Field(
        60.0, ge=0, le=86_400, description="how long replaced text stays readable for running searches"
    )
    max_sentences: int = Field(
        100_000, ge=1_000, le=10_000_000, description="a document of more sentences fails instead of being encoded"
    )
    broker: SecretStr = Field(
        SecretStr("redis://127.0.0.1:6379/0"),
        description="Redis that carries the messages to workers: `redis://` or `rediss://`, "
        "with user and password where it needs them",
    )
    queue_bytes: int = Field(
        10_000_000_000,
        ge=1_000_000,
        description="most bytes of text that wait for workers; a submission that would go beyond is refused",
    )
    lease_s: float = Field(
        60.0, ge=3, le=3600, description="a worker that was not heard of for so long is taken for dead"
    )
    resend_s: float = Field(
        21_600.0, ge=60, le=604_800, description="a document that waits longer since its message is sent for again"
    )
    task_time_limit_s: int = Field(
        1_800, ge=10, le=86_400, description="longest work on one message; whoever takes longer is stopped"
    )
    worker_memory_mb: int = Field(
        4_096, ge=0, le=1_048_576, description="most memory of each worker's child, in MiB; 0: no limit"
    )

    @model_validator(mode="before")
    @classmethod
    def _credentials_apart(cls, values: Any) -> Any:
        """Move user and password of an address into their own fields, so that no address holds a secret."""
        engine = values.get("engine")
        if (
            not isinstance(engine, str)
            or engine.startswith("embedded:")
            or values.get("user")
            or values.get("password")
        ):
            return values
        try:
            bare, found = without_credentials(engine)
        except ValueError:
            return values  # the engine's own check says what is wrong
        return {**values, "engine": bare, **(found._asdict() if found else {})}

    @field_validator("experts")
    @classmethod
    def _known_experts(cls, value: str) -> str:
        return ",".join(named_experts(value))

    @field_validator("fields", mode="before")
    @classmethod
    def _declared(cls, value: Any) -> tuple[DeclaredField, ...]:
        return declared_fields(value)

    @field_validator("engine")
    @classmethod
    def _known_engine(cls, value: str) -> str:
        folder = value.removeprefix("embedded:")
        if folder != value and folder:
            return value
        if not is_server(value):
            raise ValueError("an engine is embedded:FOLDER or an http:// or https:// address, or cloud: and a cloud id")
        if any("@" in node for node in nodes_of(value)):
            raise ValueError("user and password stand in the address and in UMG_USER or UMG_PASSWORD: give them once")
        return value

    @classmethod
    def _redis(cls, value: SecretStr) -> SecretStr:
        if not re.fullmatch(
            r"rediss?://([^/@\s]*@)?([^/:@\s\[\]]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?(/\S*)?", plain(value)
        ):
            raise ValueError("a broker is a redis:// or rediss:// address, such as redis://127.0.0.1:6379/0")
        return value

    @field_validator("user", "api_key", "bearer_token", "aws_region")
    @classmethod
    def _only_authentication(cls, value: str | SecretStr, info: ValidationInfo) -> str | SecretStr:
        if plain(value):
            _check_server(info)
            others = [name for name in AUTHENTICATIONS if name != info.field_name and plain(info.data.get(name, ""))]
            if others:
                raise ValueError(f"authenticate in one way only, this one or {variable(others[0])}")
        return value

    @field_validator("user")
    @classmethod
    def _basic_user(cls, value: str) -> str:
        if ":" in value or not value.isprintable():
            raise ValueError("a user has no colon and no control character in it")
        return value

    @field_validator("password")
    @classmethod
    def _user_and_password(cls, value: SecretStr, info: ValidationInfo) -> SecretStr:
        if "user" in info.data and bool(plain(value)) != bool(info.data["user"]):
            raise ValueError(f"user and password go together, and {'UMG_USER' if plain(value) else 'it'} is missing")
        return value

    @field_validator("api_key", "bearer_token")
    @classmethod
    def _fit_for_a_header(cls, value: SecretStr) -> SecretStr:
        if not re.fullmatch(r"[!-~]*", plain(value)):
            raise ValueError("it has white space or a character outside ASCII in it: copy it again")
        return value

    @field_validator("broker")
    @classmethod
    def _known_broker(cls, value: SecretStr) -> SecretStr:
        check_broker(plain(value))
        return value

    @field_validator("ca_certs", "client_cert")
    @classmethod
    def _only_with_tls(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        if value is not None:
            _check_server(info)
            if str(info.data.get("engine", "")).startswith("http://"):
                raise ValueError("certificates need an https:// address in UMG_ENGINE")
        return value

    @field_validator("client_key", "client_key_password")
    @classmethod
    def _only_with_certificate(cls, value: Path | SecretStr | None, info: ValidationInfo) -> Path | SecretStr | None:
        if value and "client_cert" in info.data and info.data["client_cert"] is None:
            raise ValueError("it needs a certificate in UMG_CLIENT_CERT")
        return value

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
            return named_experts(self.experts)
        return Expert.DENSE, Expert.SPARSE if self.sparse_model else Expert.LEXICAL

    @property
    def granularities(self) -> tuple[Granularity, ...]:
        """Granularities of a new set that have an index."""
        return PRESETS[self.index_preset]

    @property
    def derived(self) -> tuple[Granularity, ...]:
        """Granularities of a new set whose lists are derived."""
        return DERIVED.get(self.index_preset, ())

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take values given in code first, then the environment, files of secrets, and the file of UMG_CONFIG."""
        del dotenv_settings, file_secret_settings
        folder, path = os.environ.get(SECRETS), os.environ.get(CONFIG)
        secrets = (SecretsSettingsSource(settings_cls, Path(folder)),) if folder else ()
        file = (TomlConfigSettingsSource(settings_cls, Path(path)),) if path else ()
        return (init_settings, env_settings, *secrets, *file)


SECRET_FIELDS = frozenset(name for name, field in Settings.model_fields.items() if field.annotation is SecretStr)


def load_settings(**values: Any) -> Settings:
    """Return the settings; SettingsError with every invalid field, unknown variable and unknown key in one message."""
    path, folder = os.environ.get(CONFIG), os.environ.get(SECRETS)
    if path and not Path(path).is_file():
        raise SettingsError(f"There is no configuration file {path!r}: correct {CONFIG}.")
    if folder and not Path(folder).is_dir():
        raise SettingsError(f"There is no folder of secrets {folder!r}: correct {SECRETS}.")
    wrong = [f"{name}: no such setting" for name in _unknown(folder)]
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


def plain(value: str | SecretStr) -> str:
    """Return the text of a value that may be a secret."""
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def _unknown(folder: str | None) -> list[str]:
    """Return the names that begin like settings and are none, of variables and of files of secrets."""
    files = [path.name for path in Path(folder).iterdir()] if folder else []
    names = {name.upper() for name in files if name.upper().startswith(PREFIX)}
    names |= {name for name in os.environ if name.startswith(PREFIX)} - OTHERS
    return sorted(names - {variable(name) for name in Settings.model_fields})


def variable(field: str) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + field.upper()


def _check_server(info: ValidationInfo) -> None:
    engine = info.data.get("engine")
    if engine is not None and not is_server(engine):
        raise ValueError(f"it is for servers, and UMG_ENGINE is {engine}")


def _described(location: tuple[int | str, ...], message: str, value: object) -> str:
    name = variable("_".join(str(part) for part in location)) if location else "settings"
    text = message.removeprefix("Value error, ")
    if "Extra inputs" in message:
        return f"{name}: no such setting"
    if isinstance(value, dict) or location[0] in SECRET_FIELDS:
        return f"{name}: {text}"
    return f"{name}: {text} (it is {hidden(value) if isinstance(value, str) else value!r})"


def _refusal(wrong: list[str]) -> SettingsError:
    return SettingsError(f"Wrong settings: {'; '.join(wrong)}.")
