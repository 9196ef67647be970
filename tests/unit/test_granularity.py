import pytest

from umg_search.granularity import FINE, FINEST, PARENT, Channel, Expert, Granularity


def test_neighbouring_windows_start_half_a_window_apart() -> None:
    assert {g.value: g.stride for g in Granularity} == {2: 2 // 2, 4: 4 // 2, 8: 8 // 2, 16: 16 // 2, 32: 32 // 2}


def test_labels_sort_by_size() -> None:
    labels = [granularity.label for granularity in Granularity]
    assert labels == ["g02", "g04", "g08", "g16", "g32"]
    assert sorted(labels) == labels


def test_the_finest_windows_start_at_every_sentence() -> None:
    assert (FINEST, FINEST.stride) == (Granularity.G2, 1)


def test_small_windows_are_those_shorter_than_their_parent() -> None:
    assert tuple(g for g in Granularity if g < PARENT) == FINE


def test_channels_have_a_readable_name_and_an_order() -> None:
    assert str(Channel(Expert.DENSE, Granularity.G2)) == "dense-g02"
    channels = [Channel(expert, granularity) for expert in sorted(Expert) for granularity in Granularity]
    backwards = list(reversed(channels))
    assert sorted(backwards) == channels


@pytest.mark.parametrize("expert", Expert)
def test_experts_are_their_names(expert: Expert) -> None:
    assert Expert(str(expert)) is expert
