"""Assertions of the suites say what was compared, as those of test files do."""

import pytest

pytest.register_assert_rewrite("tests.contract.stores.contract", "tests.contract.stores.s3", "tests.contract.stores.versions")
