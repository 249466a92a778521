"""A release imports nothing once `load_rooms` has imported what it needs: a child forked at that moment would hang."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.builders import PATIENCE

RELEASE = """
import sys, threading
import discreet as dp
from discreet import datasets
from discreet.session import loading

schema = dp.Schema(gender=dp.Category(["female", "male"]), age=dp.Number(0, 110))
session = dp.Session(datasets.path("acs12"), schema, dataset="d", ledger=sys.argv[1], budget=dp.PureDP(10),
                     neighbours=dp.AddRemove())
threading.Thread(target=threading.Event().wait, daemon=True).start()
if sys.argv[2]:
    loading._LIBRARIES = ()
loading.load_rooms()
before = set(sys.modules)
request = session.table.group_by("gender").agg(dp.count(), dp.mean("age", nulls="skip"), dp.median("age", nulls="skip"))
session.release(request, spend=1, name="r")
print(*sorted(set(sys.modules) - before - set(sys.builtin_module_names)))
"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("forgotten", ["", "libraries"])
def test_a_release_imports_nothing_after_what_is_loaded_for_it(tmp_path, forgotten):
    """Without the libraries in the list, the ciphers are found missing."""
    command = [sys.executable, "-c", RELEASE, str(tmp_path / "ledger.db"), forgotten]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
    assert ("cryptography" in run.stdout) == bool(forgotten)
    assert forgotten or not run.stdout.split()
