"""A JVM that several catalogs' tests share."""

from collections.abc import Iterator

import pytest

from tests.contract.catalogs.java_beside import JavaProcess, java_beside


@pytest.fixture(scope="session")
def java() -> Iterator[JavaProcess]:
    with java_beside() as process:
        yield process
