from uuid import UUID

from umg_search.model import DocumentKey, DocumentVersion, version_of
from umg_search.store.embedded.points import point_id

VERSION = version_of(DocumentKey("default", "a").hash, 1)


def test_a_point_id_never_changes() -> None:
    """Ids are on disk, another formula would store every chunk twice: `head -c 24 /dev/zero | b2sum -l 128`."""
    assert point_id(DocumentVersion(bytes(20)), 0) == UUID("941e0c50-2c87-4788-11f1-b6a130227018")


def test_point_ids_differ_by_version_and_by_sentence() -> None:
    other = version_of(DocumentKey("default", "a").hash, 2)
    assert len({point_id(VERSION, 0), point_id(VERSION, 1), point_id(other, 0)}) == 3
