import pytest

from a2a_hub_client.worker.output import Limits, Output

pytestmark = pytest.mark.one_database


def written(*parts: bytes, **limits: int) -> Output:
    output = Output(Limits(**limits))
    for part in parts:
        output.feed(part)
    output.close()
    return output


def all_of(output: Output) -> list[str]:
    found: list[str] = []
    while batch := output.take():
        found += [update["message"] for update in batch]
    return found


def test_lines_split_across_reads_are_whole_messages():
    output = written(b"on", b"e\n\xc3", b"\xbc\r\nthr", b"ee")

    assert all_of(output) == ["one", "ü", "three"]
    assert output.last == "three"


def test_blank_lines_are_kept_but_are_no_messages():
    output = written(b"one\n\n \ntwo\n\n")

    assert all_of(output) == ["one", "two"]
    assert (output.last, output.whole) == ("two", "one\n\n \ntwo\n")


def test_a_program_that_writes_nothing_has_no_output():
    output = written()

    assert (all_of(output), output.last, output.whole, output.complaint) == ([], None, None, "")


@pytest.mark.parametrize("parts", [(b"abcdef\nx\n",), (b"ab", b"cd", b"ef\nx\n")])
def test_a_long_line_is_cut_and_marked(parts):
    assert all_of(written(*parts, line=4)) == ["abcd [line cut]", "x"]


def test_a_line_of_the_maximum_length_is_not_cut():
    assert all_of(written(b"abcd\nabcde\n", line=4)) == ["abcd", "abcd [line cut]"]


def test_a_cut_drops_a_split_character():
    assert all_of(written("abcü\n".encode(), line=4)) == ["abc [line cut]"]


@pytest.mark.parametrize("limits", [{"lines": 2}, {"total": 4}])
def test_beyond_the_limits_only_the_last_line_is_kept(limits):
    output = written(b"1\n2\n3\n4\n", b"5\n\n", **limits)
    said = all_of(output)

    assert said[:2] == ["1", "2"]
    assert said[2].startswith("[output capped at ")
    assert len(said) == 3
    assert output.last == "5"
    assert output.whole == "\n".join(said)


def test_an_endless_line_takes_little_memory():
    output = Output(Limits(line=100))
    for _ in range(1_000):
        output.feed(b"x" * 65_536)

    assert len(output._line) == 100


def test_output_beyond_the_limits_takes_little_memory():
    output = Output(Limits(lines=1, line=100))
    for _ in range(1_000):
        output.feed(b"x\n" * 32_768)

    assert output._beyond is not None
    assert len(output._beyond) == 200


def test_messages_are_taken_in_batches_the_hub_accepts():
    output = written(b"\x01" * 8_000 + b"\n" + b"x\n" * 250 + (b"\x01" * 8_000 + b"\n") * 20)
    sizes = []
    while batch := output.take():
        sizes.append(len(batch))

    assert sum(sizes) == 271
    assert sizes[0] == 100
    assert sizes[-2] < 100


def test_an_answer_too_long_as_json_is_a_notice_and_the_last_line():
    assert written(b"\x01\nend\n", answer=13).whole == "\x01\nend"
    notice, _, last = str(written(b"\x01\nend\n", answer=12).whole).partition("\n")
    assert notice == "[the output exceeds 12 bytes of JSON; this is its last line]"
    assert last == "end"


def test_the_end_of_stderr_is_kept():
    output = Output(Limits(stderr=4))
    output.feed_stderr(b"abc\0def")

    assert output.complaint == "...def"
