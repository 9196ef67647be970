"""What is refused before anything is sent."""

from pathlib import Path

import pytest

from umg_search.errors import EngineUnsupported, SettingsError
from umg_search.settings import Settings
from umg_search.store.client import connect


@pytest.mark.parametrize(
    "nodes", ["https://x.eu-west-1.aoss.amazonaws.com", "https://a,https://x.e.aoss.amazonaws.com:443"]
)
def test_a_serverless_collection_is_refused_in_one_sentence(nodes: str) -> None:
    with pytest.raises(EngineUnsupported, match="is OpenSearch Serverless, which umg-search does not support"):
        connect(Settings(engine=nodes))


@pytest.mark.parametrize("name", ["ca_certs", "client_cert"])
def test_a_file_that_holds_no_certificate_is_named_with_its_setting(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file.pem"
    path.write_text("no certificate", encoding="utf-8")
    with pytest.raises(SettingsError, match=rf"UMG_{name.upper()} .*{path}"):
        connect(Settings(engine="https://host", **{name: path}))  # type: ignore[arg-type] - forwarded keywords
