"""Waves: every slice exactly once, none past its budget, all parts of a wave about as heavy as each other."""

from hypothesis import example, given
from hypothesis import strategies as st

from bergung.plan.waves import FILE_WEIGHT, FIRST_WAVE_BYTES, PARTS_PER_WORKER, WAVE_SECONDS, Slice, spread, take_wave, wave_bytes

MIB = 1024 * 1024

sizes = st.one_of(st.integers(0, 10), st.integers(0, 200 * MIB), st.just(50 * 1024 * MIB))
slices = st.lists(st.builds(Slice, st.just("tasks/a"), st.integers(0, 9), st.integers(1, 300), sizes), max_size=60)
workers = st.integers(1, 64)


@given(slices, st.lists(st.integers(0, 2 * FIRST_WAVE_BYTES), min_size=1))
def test_waves_take_every_slice_once_in_their_order(wanted: list[Slice], budgets: list[int]) -> None:
    taken: list[Slice] = []
    while len(taken) < len(wanted):
        left = wanted[len(taken) :]
        count = take_wave(left, budgets[len(taken) % len(budgets)])
        assert 1 <= count <= len(left)
        taken += left[:count]
    assert taken == wanted
    assert take_wave([], 7) == 0


@given(slices.filter(bool), st.integers(0, 4 * FIRST_WAVE_BYTES))
def test_a_wave_is_as_large_as_its_budget_allows(wanted: list[Slice], budget: int) -> None:
    """A slice that is larger than any budget still gets its turn, alone."""
    count = take_wave(wanted, budget)
    weight = sum(slice_.weight for slice_ in wanted[:count])
    assert weight <= budget or count == 1
    assert count == len(wanted) or weight + wanted[count].weight > budget


@given(slices.filter(bool), workers)
@example([Slice("a", 0, 1, 0)] * 100, 2)
def test_each_slice_goes_to_one_part_and_no_part_is_left_empty(wanted: list[Slice], parallelism: int) -> None:
    places = spread(wanted, parallelism)
    assert len(places) == len(wanted)
    assert set(places) == set(range(min(len(wanted), parallelism * PARTS_PER_WORKER)))


@given(slices.filter(bool), workers)
def test_parts_are_even_as_far_as_slices_allow(wanted: list[Slice], parallelism: int) -> None:
    """No part is heavier than the lightest by more than one slice."""
    places = spread(wanted, parallelism)
    weights: dict[int, list[int]] = {}
    for slice_, place in zip(wanted, places, strict=True):
        weights.setdefault(place, []).append(slice_.weight)
    lightest = min(sum(part) for part in weights.values())
    for part in weights.values():
        assert sum(part) - min(part) <= lightest


@given(workers, st.integers(0, 10**15), st.just(0.0) | st.floats(1e-9, 1e6))
def test_a_budget_follows_the_speed_and_never_falls_to_nothing(parallelism: int, done: int, seconds: float) -> None:
    budget = wave_bytes(parallelism, done, seconds)
    least = FIRST_WAVE_BYTES * parallelism // 8
    if not done or not seconds:
        assert budget == FIRST_WAVE_BYTES * parallelism, "nothing is known of the speed"
    else:
        assert budget >= least
        assert budget == least or abs(budget - done / seconds * WAVE_SECONDS) <= 1


def test_many_small_files_weigh_as_much_as_a_large_one() -> None:
    small, large = Slice("a", 0, 256, 0), Slice("b", 0, 1, 256 * FILE_WEIGHT)
    assert large.weight - small.weight == FILE_WEIGHT
    assert take_wave([small] * 4, 2 * small.weight) == 2
