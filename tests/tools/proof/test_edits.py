"""The edits of control runs fit the code that they change."""

from importlib import util
from pathlib import Path

import pytest

from tools.proof import edits

pytestmark = pytest.mark.one_database


def all_edits() -> list[edits.Edit]:
    listed: list[edits.Edit] = []
    for name, value in vars(edits).items():
        if name.isupper() and isinstance(value, tuple):
            listed += [value] if isinstance(value[0], str) else value
    return listed


@pytest.mark.parametrize("edit", all_edits(), ids=repr)
def test_the_module_has_the_text_that_is_edited(edit: edits.Edit) -> None:
    module, old, _ = edit
    spec = util.find_spec(module)

    assert spec is not None
    assert spec.origin is not None
    assert old in Path(spec.origin).read_text()
