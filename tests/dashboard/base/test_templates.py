import pytest
from django.template import engines

pytestmark = pytest.mark.one_database


def test_pages_carry_no_indentation(rf):
    page = engines["django"].get_template("404.html").render({}, rf.get("/"))

    assert '<section class="panel attn" role="alert">\n<h1 id="panel-title">' in page
