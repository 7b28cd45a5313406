"""The store of files, used by several processes at once."""

import multiprocessing
from pathlib import Path

from bergung.errors import MissingObject, ObjectExists
from bergung.stores.local import LocalStore

ROUNDS = 40
BLOCKS, BLOCK = 8, 64 * 1024


def take(root: str, writer: int, start: "multiprocessing.synchronize.Barrier") -> list[int]:
    store, won = LocalStore(root), []
    for number in range(ROUNDS):
        start.wait()
        try:
            store.put_if_absent(f"log/{number:04d}", (bytes([writer]) * BLOCK for _ in range(BLOCKS)))
            won.append(number)
        except ObjectExists:
            pass
    return won


def write_all(root: str) -> None:
    store = LocalStore(root)
    for number in range(ROUNDS):
        store.put_if_absent(f"whole/{number:04d}", (bytes([number]) * BLOCK for _ in range(BLOCKS)))


def test_14_1_of_several_processes_exactly_one_takes_each_name(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, context.Pool(3) as pool:
        start = manager.Barrier(3)
        won = pool.starmap(take, [(str(tmp_path), writer, start) for writer in range(3)], chunksize=1)
    assert sorted(sum(won, [])) == list(range(ROUNDS))
    store = LocalStore(tmp_path)
    for writer, numbers in enumerate(won):
        for number in numbers:
            assert store.read(f"log/{number:04d}") == bytes([writer]) * BLOCK * BLOCKS
    assert len(list(tmp_path.rglob("*.part"))) == 0


def test_14_2_a_reader_never_sees_half_of_what_another_process_writes(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    writer = multiprocessing.get_context("spawn").Process(target=write_all, args=(str(tmp_path),))
    writer.start()
    seen = 0
    while seen < ROUNDS and (writer.is_alive() or seen < len(list(store.list("whole/")))):
        for found in store.list("whole/"):
            assert found.size_bytes == BLOCKS * BLOCK
        try:
            assert store.read(f"whole/{seen:04d}") == bytes([seen]) * BLOCK * BLOCKS
            seen += 1
        except MissingObject:
            pass
    writer.join()
    assert writer.exitcode == 0 and seen == ROUNDS
