import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from dashboard.tasks import files

pytestmark = pytest.mark.one_database

DATA = b"0123456789"


def cut(asked=None, *, method="GET", data=DATA, **headers):
    given = headers if asked is None else {"range": asked, **headers}
    return files.cut(RequestFactory().generic(method, "/", headers=given), HttpResponse(data, content_type="audio/wav"))


@pytest.mark.parametrize(
    ("asked", "shown", "named"),
    [
        ("bytes=0-0", b"0", "0-0"),
        ("bytes=3-5", b"345", "3-5"),
        ("bytes=0-9", DATA, "0-9"),
        ("bytes=0-", DATA, "0-9"),
        ("bytes=9-", b"9", "9-9"),
        ("bytes=7-99", b"789", "7-9"),
        ("bytes=7-999999999999999999", b"789", "7-9"),
        ("bytes=-3", b"789", "7-9"),
        ("bytes=-10", DATA, "0-9"),
        ("bytes=-99", DATA, "0-9"),
        ("BYTES= 3-5 ", b"345", "3-5"),
    ],
)
def test_one_range_is_answered_alone(asked, shown, named):
    answer = cut(asked)

    assert (answer.status_code, answer.content) == (206, shown)
    assert (answer["Content-Range"], answer["Accept-Ranges"]) == (f"bytes {named}/10", "bytes")
    assert answer["Content-Type"] == "audio/wav"


@pytest.mark.parametrize("asked", ["bytes=10-", "bytes=10-10", "bytes=99-100", "bytes=999999999999999999-", "bytes=-0"])
def test_a_range_behind_the_end_is_refused_with_the_size(asked):
    answer = cut(asked)

    assert (answer.status_code, answer.content, answer["Content-Range"]) == (416, b"", "bytes */10")


@pytest.mark.parametrize("asked", ["bytes=0-", "bytes=-1", "bytes=0-0"])
def test_no_bytes_have_no_range(asked):
    answer = cut(asked, data=b"")

    assert (answer.status_code, answer["Content-Range"]) == (416, "bytes */0")


@pytest.mark.parametrize(
    "asked",
    [
        None,
        *("", "bytes", "bytes=", "bytes=-", "bytes=5-3", "bytes=a-b", "bytes=+1-2", "bytes=1", "bytes=--1"),
        *("bytes=0-1,3-4", "bytes=0-1,", "lines=0-1", "0-1", "bytes=\u0661-\u0662", f"bytes={'9' * 5000}-"),
    ],
)
def test_no_range_several_ranges_and_malformed_ones_are_answered_whole(asked):
    answer = cut(asked)

    assert (answer.status_code, answer.content) == (200, DATA)
    assert answer["Accept-Ranges"] == "bytes"
    assert "Content-Range" not in answer.headers


@pytest.mark.parametrize("method", ["HEAD", "POST"])
def test_other_methods_have_no_ranges(method):
    assert cut("bytes=0-0", method=method).status_code == 200


@pytest.mark.parametrize("validator", ['"a"', 'W/"a"', "Wed, 21 Oct 2015 07:28:00 GMT", ""])
def test_a_range_of_another_version_is_answered_whole(validator):
    answer = cut("bytes=0-0", **{"if-range": validator})

    assert (answer.status_code, answer.content) == (200, DATA)
