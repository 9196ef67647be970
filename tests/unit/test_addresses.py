from base64 import b64encode

import pytest

from umg_search.addresses import Credentials, is_server, nodes_of, without_credentials


def cloud_id(content: str) -> str:
    return f"cloud:my-deployment:{b64encode(content.encode()).decode()}"


@pytest.mark.parametrize(
    ("engine", "nodes"),
    [
        ("http://host", ("http://host:9200",)),
        ("https://host", ("https://host:443",)),
        ("https://host:", ("https://host:443",)),
        ("https://host:9243/es", ("https://host:9243/es",)),
        ("http://[::1]:9200", ("http://[::1]:9200",)),
        ("https://a:1,https://b:2 , https://c", ("https://a:1", "https://b:2", "https://c:443")),
    ],
)
def test_every_node_has_its_port(engine: str, nodes: tuple[str, ...]) -> None:
    assert is_server(engine)
    assert nodes_of(engine) == nodes


@pytest.mark.parametrize(
    ("content", "node"),
    [
        ("eu-west-1.aws.found.io$abc$kib", "https://abc.eu-west-1.aws.found.io:443"),
        ("found.example:9243$abc$", "https://abc.found.example:9243"),
        ("found.example$abc", "https://abc.found.example:443"),
    ],
)
def test_a_cloud_id_is_an_address(content: str, node: str) -> None:
    assert nodes_of(cloud_id(content)) == (node,)


@pytest.mark.parametrize(
    "wrong", ["cloud:", "cloud:x", "cloud:x:!!!", *map(cloud_id, ["", "host", "$abc", "h$", "h:x$a"])]
)
def test_what_is_no_cloud_id_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="no Elastic Cloud id"):
        nodes_of(wrong)


def test_nodes_are_all_encrypted_or_none_is() -> None:
    with pytest.raises(ValueError, match="all at http:// or all at https://"):
        nodes_of("http://a,https://b")


@pytest.mark.parametrize(
    "wrong", ["https://a,b", "https://a,,https://b", "https://h/?pretty", "https://h/#x", "http://h:0"]
)
def test_addresses_that_cannot_be_read_are_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="not like https://user:password@host:9200"):
        nodes_of(wrong)


def test_credentials_are_decoded_and_taken_away() -> None:
    found = Credentials("añn", "p,a:s/s")
    assert without_credentials("https://a%C3%B1n:p,a%3As%2Fs@h:1/x") == ("https://h:1/x", found)
    assert without_credentials("https://a%C3%B1n:p,a%3As%2Fs@h:1,https://i:1") == ("https://h:1,https://i:1", found)
    assert without_credentials("https://h") == ("https://h", None)


def test_two_users_for_one_cluster_are_refused() -> None:
    with pytest.raises(ValueError, match="different users or passwords"):
        without_credentials("https://a:x@h,https://b:x@i")
