import itertools
import traceback
from pathlib import Path

import pytest
from pydantic import ValidationError

from umg_search.errors import ConfigurationError, SettingsError
from umg_search.granularity import Expert, Granularity
from umg_search.model import DeclaredField, Encoding, FieldType
from umg_search.model.fields import MOST_FIELDS
from umg_search.settings import PRESETS, Settings, load_settings, plain

SPARSE = "naver/splade-v3"


def toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Path:
    path = tmp_path / "umg.toml"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("UMG_CONFIG", str(path))
    return path


# --- fields --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_says_what_it_is(name: str) -> None:
    field = Settings.model_fields[name]
    assert field.description
    assert not field.is_required()


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        load_settings().prefix = "other"


def test_defaults_are_valid_and_need_no_environment() -> None:
    settings = load_settings()
    assert settings.engine == "embedded:umg-data"
    assert settings.encoding is Encoding.COMPOSED
    assert not settings.access_control


def test_presets_hold_the_finest_granularity() -> None:
    assert PRESETS["full"] == tuple(Granularity)
    assert PRESETS["lean"] == (Granularity.G2, Granularity.G8)
    assert load_settings().granularities == PRESETS["full"]
    assert load_settings(index_preset="lean").granularities == PRESETS["lean"]
    assert load_settings(index_preset="lean").derived == load_settings().derived == ()


def test_the_derived_preset_indexes_the_finest_windows_and_ranks_all() -> None:
    derived = load_settings(index_preset="derived")
    assert derived.granularities == (Granularity.G2,)
    assert (*derived.granularities, *derived.derived) == tuple(Granularity)


def test_without_a_sparse_model_the_engines_own_bm25_takes_its_place() -> None:
    assert load_settings().expert_list == (Expert.DENSE, Expert.LEXICAL)
    assert load_settings(sparse_model=SPARSE).expert_list == (Expert.DENSE, Expert.SPARSE)


@pytest.mark.parametrize("named", ["lexical,dense", " dense , lexical ", "dense,lexical,"])
def test_experts_have_one_order_however_they_are_named(named: str) -> None:
    assert load_settings(experts=named).expert_list == (Expert.DENSE, Expert.LEXICAL)


def test_all_three_experts_may_be_had() -> None:
    assert load_settings(experts="lexical,sparse,dense", sparse_model=SPARSE).expert_list == tuple(Expert)


@pytest.mark.parametrize(
    "engine",
    ["embedded:data", "embedded:/a b/c", "http://localhost:9200", "https://host:443/path", "https://a,https://b"],
)
def test_engines_that_are_known(engine: str) -> None:
    assert load_settings(engine=engine).engine == engine


# --- sources -------------------------------------------------------------------------------------------------------


def test_code_comes_before_environment_before_file_before_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml(tmp_path, monkeypatch, 'prefix = "file"\nanalyzer = "file"\ndevice = "file"\n')
    monkeypatch.setenv("UMG_PREFIX", "environment")
    monkeypatch.setenv("UMG_ANALYZER", "environment")
    settings = load_settings(prefix="code")
    assert (settings.prefix, settings.analyzer, settings.device, settings.default_language) == (
        "code",
        "environment",
        "file",
        "en",
    )


def test_an_empty_variable_is_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UMG_PREFIX", "")
    monkeypatch.setenv("UMG_SHARDS", "")
    assert load_settings().prefix == "umg"


def test_an_empty_file_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml(tmp_path, monkeypatch, "# nothing\n")
    assert load_settings() == Settings()


def test_values_of_a_file_have_their_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml(tmp_path, monkeypatch, 'access_control = true\nshards = 3\ngrace_s = 1.5\nencoding = "direct"\n')
    settings = load_settings()
    assert (settings.access_control, settings.shards, settings.grace_s, settings.encoding) == (
        True,
        3,
        1.5,
        Encoding.DIRECT,
    )


# --- refusals ------------------------------------------------------------------------------------------------------


def test_all_invalid_fields_are_in_one_message_with_what_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UMG_PREFIX", "Bad-Prefix")
    monkeypatch.setenv("UMG_SHARDS", "0")
    monkeypatch.setenv("UMG_ENGINE", "ftp://x")
    monkeypatch.setenv("UMG_EXPERTS", "dense,oracle")
    monkeypatch.setenv("UMG_ENCODING", "guessed")
    monkeypatch.setenv("UMG_TYPO", "1")
    with pytest.raises(SettingsError) as caught:
        load_settings(bulk_bytes="many")
    message = str(caught.value)
    for part in (
        "UMG_PREFIX",
        "'Bad-Prefix'",
        "UMG_SHARDS",
        "greater than or equal to 1",
        "UMG_ENGINE",
        "embedded:FOLDER",
        "UMG_EXPERTS",
        "dense, sparse, lexical",
        "UMG_ENCODING",
        "'composed' or 'direct'",
        "UMG_BULK_BYTES",
        "UMG_TYPO: no such setting",
    ):
        assert part in message, part
    assert "\n" not in message


def test_wrong_settings_end_the_command_line_as_wrong_use() -> None:
    assert issubclass(SettingsError, ConfigurationError)


@pytest.mark.parametrize("experts", ["dense,dense", "oracle", "dense;lexical"])
def test_unknown_and_repeated_experts_are_refused(experts: str) -> None:
    with pytest.raises(SettingsError, match="UMG_EXPERTS: experts are dense, sparse, lexical, each at most once"):
        load_settings(experts=experts)


@pytest.mark.parametrize("engine", ["", "embedded", "embedded:", "localhost:9200", "file:///x", "ES"])
def test_unknown_engines_are_refused(engine: str) -> None:
    with pytest.raises(SettingsError, match="UMG_ENGINE: an engine is embedded:FOLDER or an http:// or https://"):
        load_settings(engine=engine)


@pytest.mark.parametrize(
    "broker", ["", "redis", "redis:6379", "http://redis:6379", "redis://", "redis:///0", "redis://h:x/0", "amqp://h"]
)
def test_unknown_brokers_are_refused(broker: str) -> None:
    with pytest.raises(SettingsError, match="UMG_BROKER: a broker is redis://"):
        load_settings(broker=broker)


def test_a_refused_broker_keeps_its_password_to_itself() -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings(broker="http://:s3cret@redis:6379")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    "broker",
    [
        "redis://h",
        "redis://h:6379/0",
        "rediss://ann:s3%2Fcret@h.example:6380/1?ssl_cert_reqs=required",
        "redis://[::1]:6379",
    ],
)
def test_addresses_of_redis_are_taken(broker: str) -> None:
    assert plain(load_settings(broker=broker).broker) == broker


def test_a_sparse_expert_without_a_model_is_refused() -> None:
    with pytest.raises(SettingsError, match="UMG_SPARSE_MODEL: the sparse expert needs a model"):
        load_settings(experts="sparse")


def test_an_unknown_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A typing error must not pass as a default."""
    monkeypatch.setenv("UMG_DENSE_MODELL", "x")
    with pytest.raises(SettingsError, match="UMG_DENSE_MODELL: no such setting"):
        load_settings()


@pytest.mark.parametrize("name", ["UMG_TEST_ENGINES", "UMG_DEV_CACHE"])
def test_variables_for_other_things_are_none_of_its_business(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "x")
    assert load_settings() == Settings()


def test_an_unknown_key_of_the_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml(tmp_path, monkeypatch, 'prefix = "a"\nprefixx = "b"\n[table]\nx = 1\n')
    with pytest.raises(SettingsError, match=r"UMG_PREFIXX: no such setting; UMG_TABLE: no such setting"):
        load_settings()


def test_a_value_of_the_file_that_is_wrong_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml(tmp_path, monkeypatch, "shards = 2000\n")
    with pytest.raises(SettingsError, match=r"UMG_SHARDS: .*1024 \(it is 2000\)"):
        load_settings()


@pytest.mark.parametrize("text", ["prefix = ", "prefix = 'a'\nprefix = 'b'\n", "just words"])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    path = toml(tmp_path, monkeypatch, text)
    with pytest.raises(SettingsError, match=rf"{path}.*is not valid TOML"):
        load_settings()


def test_a_file_that_is_no_text_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "umg.toml"
    path.write_bytes(b"\xff\xfe\x00")
    monkeypatch.setenv("UMG_CONFIG", str(path))
    with pytest.raises(SettingsError, match=rf"{path}.*is not valid TOML"):
        load_settings()


def test_a_file_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        monkeypatch.setenv("UMG_CONFIG", str(path))
        with pytest.raises(SettingsError, match=rf"no configuration file '{path}': correct UMG_CONFIG"):
            load_settings()


def test_a_password_does_not_reach_a_message() -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(engine="htps://user:geheim@host:9200")
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:99999",
        "http://[::1",
        "http://",
        "http://localhost:abc",
        "http://exa mple:1",
        "https://user:ge/heim@host",
        "https://user:ge?heim@host",
    ],
)
def test_an_address_that_no_client_can_read_is_refused(address: str) -> None:
    with pytest.raises(SettingsError, match="UMG_ENGINE") as refused:
        load_settings(engine=address)
    assert "heim" not in str(refused.value)


@pytest.mark.parametrize("engine", ["elastic:geheim@localhost", "//user:geheim@host", "htps://user:ge@heim@host:9200"])
def test_a_password_is_not_shown_where_the_scheme_is_missing(engine: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings(engine=engine)
    assert "heim" not in str(refused.value)


# --- declared fields -----------------------------------------------------------------------------------------------

YEAR, LANG = DeclaredField("year", FieldType.INTEGER), DeclaredField("lang", FieldType.KEYWORD)


def test_declared_fields_have_one_order_wherever_they_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_settings().fields == ()
    assert load_settings(fields=[YEAR, LANG]).fields == (LANG, YEAR)
    toml(tmp_path, monkeypatch, '[fields]\nyear = "integer"\nlang = "keyword"\n')
    assert load_settings().fields == (LANG, YEAR)
    monkeypatch.setenv("UMG_FIELDS", " year:integer, lang:keyword,")
    assert load_settings().fields == (LANG, YEAR)


@pytest.mark.parametrize(
    "wrong",
    [
        "year",
        "year:int",
        "year:integer,year:float",
        "a.b:keyword",
        "_x:keyword",
        ":keyword",
        "x:",
        5,
        [5],
        {"year": 7},
        ",".join(f"f{i}:float" for i in range(MOST_FIELDS + 1)),
    ],
)
def test_fields_that_cannot_be_declared_are_refused(wrong: object) -> None:
    with pytest.raises(
        SettingsError, match=r"UMG_FIELDS: a field is NAME:TYPE.*integer, float, date, boolean, keyword"
    ):
        load_settings(fields=wrong)


# --- connections ---------------------------------------------------------------------------------------------------

HOST = "https://host:9200"
PAIRS = list(itertools.combinations(["user", "api_key", "bearer_token", "aws_region"], 2))


def refused(**values: object) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(**values)
    return str(caught.value)


def test_user_and_password_of_an_address_become_settings() -> None:
    settings = load_settings(engine="https://ann:p%2Fw@host:9200")
    assert (settings.engine, settings.user, settings.password.get_secret_value()) == (HOST, "ann", "p/w")


def test_no_secret_is_shown_by_settings_or_by_their_errors() -> None:
    secrets = {"password": "geheim1", "client_key_password": "geheim2"}
    given = load_settings(engine=HOST, user="ann", password="geheim1")  # noqa: S106 - a test's own
    assert "geheim" not in repr(given) + str(given) + given.model_dump_json()
    for secret in ({"api_key": "ge heim"}, {"bearer_token": "geheim\n"}, secrets):
        try:
            load_settings(engine=HOST, **secret)
        except SettingsError as error:
            shown = "".join(traceback.format_exception(error))
            assert "heim" not in shown
        else:
            pytest.fail(f"{list(secret)} was accepted")


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_two_ways_to_authenticate_are_refused_and_both_named(first: str, second: str) -> None:
    message = refused(engine=HOST, **{first: "x", second: "x", "password": "p" if first == "user" else ""})
    assert f"UMG_{second.upper()}: authenticate in one way only, this one or UMG_{first.upper()}" in message


def test_a_user_in_the_address_counts_as_one() -> None:
    assert "UMG_API_KEY: authenticate in one way" in refused(engine="https://a:b@host", api_key="x")
    assert "give them once" in refused(engine="https://a:b@host", user="c", password="d")  # noqa: S106 - a test's own


@pytest.mark.parametrize(
    "broker",
    [
        "redis://:1#geheim@host:6379/0",
        "redis://:ge#heim@host:6379/0",
        "redis://:1/geheim@host",
        "redis://:1?geheim@host",
        "user:geheim@host:6379",
    ],
)
def test_a_broker_that_is_no_redis_or_cannot_be_read_is_refused_without_being_shown(broker: str) -> None:
    with pytest.raises(SettingsError, match=r"UMG_BROKER: a broker is redis://.*%23") as refused:
        load_settings(broker=broker)
    assert "heim" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize(
    "broker", ["redis://host", "rediss://user:p%23s@host:6380/2?ssl_cert_reqs=required", "redis://:p@[::1]:6379/"]
)
def test_a_broker_is_an_address_of_a_redis(broker: str) -> None:
    assert load_settings(broker=broker).broker.get_secret_value() == broker


def test_user_and_password_go_together() -> None:
    assert "UMG_PASSWORD: user and password go together, and it is missing" in refused(engine=HOST, user="a")
    assert "and UMG_USER is missing" in refused(engine=HOST, password="a")  # noqa: S106 - a test's own


@pytest.mark.parametrize("name", ["api_key", "bearer_token", "aws_region", "user"])
def test_credentials_for_the_embedded_engine_are_refused(name: str) -> None:
    """Whoever sets them means a server, and forgot UMG_ENGINE."""
    assert f"UMG_{name.upper()}: it is for servers, and UMG_ENGINE is embedded:umg-data" in refused(**{name: "x"})


def test_certificates_need_tls_files_and_each_other(tmp_path: Path) -> None:
    file = tmp_path / "a.pem"
    file.touch()
    assert "UMG_CA_CERTS: certificates need an https:// address" in refused(engine="http://host", ca_certs=file)
    assert "UMG_CA_CERTS: it is for servers" in refused(ca_certs=file)
    assert "UMG_CLIENT_KEY: it needs a certificate in UMG_CLIENT_CERT" in refused(engine=HOST, client_key=file)
    assert "UMG_CLIENT_KEY_PASSWORD: it needs" in refused(engine=HOST, client_key_password="x")  # noqa: S106 - same
    assert "UMG_CLIENT_CERT: Path does not point to a file" in refused(engine=HOST, client_cert=tmp_path / "none")


def test_all_wrong_combinations_are_in_one_message(tmp_path: Path) -> None:
    message = refused(
        engine="http://host", user="a", api_key="b", aws_region="c", ca_certs=tmp_path, client_key=tmp_path, shards=0
    )
    names = ["UMG_PASSWORD", "UMG_API_KEY", "UMG_AWS_REGION", "UMG_CA_CERTS", "UMG_CLIENT_KEY", "UMG_SHARDS"]
    assert [name for name in names if f"{name}: " not in message] == []


def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("UMG_SECRETS_DIR", str(tmp_path))
    return tmp_path


def test_a_secret_may_come_from_a_file_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets(tmp_path, monkeypatch, umg_password="geheim\n", other="x", umg_prefix="file")  # noqa: S106 - same
    settings = load_settings(engine=HOST, user="ann")
    assert (settings.password.get_secret_value(), settings.prefix) == ("geheim", "file")
    monkeypatch.setenv("UMG_PREFIX", "variable")
    assert load_settings(engine=HOST, user="ann").prefix == "variable"


def test_a_file_of_secrets_that_is_no_setting_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets(tmp_path, monkeypatch, umg_pasword="geheim")  # noqa: S106 - same
    assert "UMG_PASWORD: no such setting" in refused()


def test_a_folder_of_secrets_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UMG_SECRETS_DIR", str(tmp_path / "none"))
    assert "no folder of secrets" in refused()
