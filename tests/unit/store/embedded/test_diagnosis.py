"""Judges of the embedded engine: every verdict that does not need a broken index."""

from pathlib import Path

import pytest

from umg_search.model import Verdict
from umg_search.store.embedded.diagnosis import RESERVE, disk, file_system, folder, leftovers

HERE = Path("/srv/umg")


def test_a_folder_must_be_writable_and_on_a_disk_of_this_machine() -> None:
    assert folder(HERE, writable=True, kind="ext4").verdict is Verdict.OK
    assert folder(HERE, writable=True, kind="nfs4").verdict is Verdict.WARNING
    assert folder(HERE, writable=False, kind="ext4").verdict is Verdict.ERROR


def test_the_disk_must_hold_a_second_copy_and_the_reserve() -> None:
    used = 10 * RESERVE
    assert disk(HERE, RESERVE + 2 * used, used).verdict is Verdict.OK
    assert disk(HERE, RESERVE + 2 * used - 1, used).verdict is Verdict.WARNING
    assert disk(HERE, RESERVE - 1, 0).verdict is Verdict.ERROR


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/srv/umg", "nfs4"), ("/srv/umg/deep/er", "nfs4"), ("/srv/umgs", "ext4"), ("/with space/x", "cifs")],
)
def test_the_nearest_mount_above_a_path_counts(path: str, kind: str) -> None:
    mounts = "/dev/sda / ext4 rw 0 0\nhost:/x /srv/umg nfs4 rw 0 0\n//h/s /with\\040space cifs rw 0 0\n\n"
    assert file_system(Path(path), mounts) == kind


def test_without_mounts_nothing_is_said_of_the_file_system() -> None:
    assert not file_system(HERE, "")


def test_folders_of_unknown_sets_are_named(tmp_path: Path) -> None:
    (tmp_path / "v1").mkdir()
    assert leftovers(tmp_path, frozenset({1})).verdict is Verdict.OK
    (tmp_path / "v2").mkdir()
    (tmp_path / "vault").mkdir()
    found = leftovers(tmp_path, frozenset({1}))
    assert (found.verdict, found.found) == (Verdict.WARNING, "v2 belongs to no index set")
