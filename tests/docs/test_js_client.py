from __future__ import annotations

import re

import pytest

from tests.support import js_client_page, pages

pytestmark = pytest.mark.one_database

PAGE = pages.page("docs/reference/js-client.md")
METHOD = re.compile(r"^  (?:async )?(?:\*\s*)?(?:get )?([a-z]\w*)\(", re.MULTILINE)


@pytest.mark.parametrize("name", js_client_page.CLASSES)
def test_every_method_of_a_class_is_described(name: str) -> None:
    source = (js_client_page.SOURCES / js_client_page.CLASSES[name]).read_text()
    methods = set(METHOD.findall(source.partition(f"export class {name}")[2].partition("\n}\n")[0])) - {"constructor"}

    assert methods
    assert [
        word for word in methods if f"`{js_client_page.CALLED[name]}.{word}`" not in pages.section(PAGE, f"`{name}`")
    ] == []
