"""Blocks of a task as its page shows them: pictures, sounds, trees of JSON and long texts."""

import base64

import pytest

from dashboard.wording import payload
from mailbox.life import results, updates
from mailbox.words.conversation import Update
from tests.dashboard.conftest import path_of
from tests.support import factories, media, talking
from tests.support.hostile import Reader
from tests.support.markup import squeezed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def image(data, mime):
    return {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": mime}


def file(data, mime):
    blob = base64.b64encode(data).decode()
    return {"type": "resource", "resource": {"uri": "attachment:a", "blob": blob, "mimeType": mime}}


PNG = base64.b64decode(media.picture()["data"])
WAV = base64.b64decode(media.sound()["data"])


@pytest.mark.parametrize(
    ("block", "media_type"),
    [
        (media.picture(), "image/png"),
        (media.sound(), "audio/wav"),
        (file(PNG, "image/png"), "image/png"),
        (image(b"\xff\xd8\xff\xe0 a photo", "image/jpg"), "image/jpeg"),
        (image(b"GIF89a", "image/gif"), "image/gif"),
        (image(b"RIFF\1\0\0\0WEBPVP8 ", "IMAGE/WEBP"), "image/webp"),
        (image(PNG, "image/svg+xml"), "image/png"),
        ({**image(b"ID3 a song", "audio/mpeg"), "type": "audio"}, "audio/mpeg"),
    ],
)
def test_a_picture_or_sound_is_shown_under_the_type_of_its_bytes(ana, bob, lease, block, media_type):
    seq = talking.made(bob, lease.task, block)

    page = ana.get(path_of(lease.task))
    answer = ana.get(path_of(lease.task, f"media/artifact-{seq}-0"))

    assert (answer.status_code, answer["Content-Type"]) == (200, media_type)
    assert answer["Content-Disposition"].startswith("inline; filename=")
    assert f'href="{path_of(lease.task, f"media/artifact-{seq}-0")}"' in page.text
    assert ('loading="lazy"' in page.text) is media_type.startswith("image/")


@pytest.mark.parametrize(
    "block",
    [
        image(SVG, "image/svg+xml"),
        image(SVG, "image/png"),
        image(PNG, "text/html"),
        image(b"<html><script>alert(1)</script>", "image/gif"),
        image(WAV, "image/png"),
        image(b"", "image/png"),
        image(PNG + b"\0" * payload.LARGEST, "image/png"),
        file(PNG, "application/pdf"),
        {"type": "image", "data": "no base64", "mimeType": "image/png"},
        {"type": "text", "text": "words"},
        {"type": "json", "value": {"a": 1}},
    ],
)
def test_only_pictures_and_sounds_are_shown_and_never_run(ana, bob, lease, block):
    seq = talking.made(bob, lease.task, block, "and a text", artifact_id="other")

    page = ana.get(path_of(lease.task))

    assert f"media/artifact-{seq}" not in page.text
    assert ana.get(path_of(lease.task, f"media/artifact-{seq}-0")).status_code == 404
    assert ana.get(path_of(lease.task, f"media/artifact-{seq}-9")).status_code == 404


@pytest.mark.parametrize(
    ("block", "sandbox"), [(media.picture(), "sandbox"), (media.sound(), "sandbox allow-same-origin")]
)
def test_pictures_and_sounds_are_shown_in_a_sandbox(ana, bob, lease, block, sandbox):
    seq = talking.made(bob, lease.task, block)

    page = ana.get(path_of(lease.task))
    shown = ana.get(path_of(lease.task, f"media/artifact-{seq}-0"))

    assert {sandbox, "default-src 'none'", "script-src 'self'"} <= set(shown["Content-Security-Policy"].split("; "))
    assert shown["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in shown["Cache-Control"]
    assert "sandbox" not in page["Content-Security-Policy"]
    assert "media-src 'self'" in page["Content-Security-Policy"].split("; ")
    assert "media-src" not in ana.get("/ops/tasks/")["Content-Security-Policy"]


@pytest.mark.parametrize(("block", "data"), [(media.sound(), WAV), (media.picture(), PNG)])
def test_a_range_of_a_sound_or_picture_keeps_its_type_and_sandbox(ana, bob, lease, block, data):
    seq = talking.made(bob, lease.task, block)
    path = path_of(lease.task, f"media/artifact-{seq}-0")
    whole = ana.get(path)

    answer = ana.get(path, headers={"range": "bytes=10-19"})
    refused = ana.get(path, headers={"range": f"bytes={len(data)}-"})

    assert (whole.status_code, whole.content, whole["Accept-Ranges"]) == (200, data, "bytes")
    assert (answer.status_code, answer.content, answer["Content-Length"]) == (206, data[10:20], "10")
    assert answer["Content-Range"] == f"bytes 10-19/{len(data)}"
    assert (refused.status_code, refused.content, refused["Content-Range"]) == (416, b"", f"bytes */{len(data)}")
    for name in ("Content-Type", "Content-Security-Policy", "X-Content-Type-Options", "Cache-Control"):
        assert whole[name] == answer[name] == refused[name]


def test_a_part_has_no_ranges(ana, lease):
    answer = ana.get(path_of(lease.task, "parts/intent"), headers={"range": "bytes=0-0"})

    assert (answer.status_code, answer.headers.get("Accept-Ranges")) == (200, None)


def test_a_sound_has_a_player_in_place_that_loads_nothing_before_it_is_asked(ana, bob, lease):
    seq = talking.made(bob, lease.task, media.sound(), media.picture(), file(WAV, "application/pdf"))

    text = squeezed(ana.get(path_of(lease.task)).text)

    address = path_of(lease.task, f"media/artifact-{seq}-0")
    assert text.count("<audio") == 1
    assert f'<audio controls preload="none" src="{address}"' in text


def test_pictures_of_messages_and_results_are_shown(ana, bob, lease):
    updates.post_updates(bob, lease.task.uuid, [Update(message=[media.picture(filename="plan.png")])])
    seq = talking.now(lease.task).journal_seq
    task = results.post_result(bob, factories.result_envelope(lease.task, content=[media.picture()])).task

    text = ana.get(path_of(task)).text

    assert "Image: plan.png, image/png" in text
    for part in (f"message-{seq}-0", "0"):
        assert f'src="{path_of(task, f"media/{part}")}"' in text
        assert ana.get(path_of(task, f"media/{part}")).content == PNG


def test_json_is_a_tree_of_folded_branches_without_a_script(ana, bob, lease):
    value = {"offers": [{"hotel": "<b>Plaza</b>", "eur": 2**60}], "none": []}
    talking.made(bob, lease.task, {"type": "json", "value": value})

    page = ana.get(path_of(lease.task))

    text = squeezed(page.text)
    assert "<code>offers</code></bdi> 1 item</summary>" in text
    assert f"<bdi><code>eur</code></bdi> <bdi><code>{2**60}</code></bdi>" in text
    assert "&quot;&lt;b&gt;Plaza&lt;/b&gt;&quot;" in text
    assert "<details open" not in text
    assert not Reader(page.text).handlers


def test_secrets_are_hidden_in_a_tree_too(ana, bob, lease, settings):
    settings.A2A_REDACTED_FIELDS = ["api_key"]
    talking.made(bob, lease.task, {"type": "json", "value": {"deep": {"apiKey": "a secret"}}})

    text = ana.get(path_of(lease.task)).text

    assert "a secret" not in text
    assert text.count("[redacted]") == 2


def test_large_json_is_bounded_on_the_page(ana, bob, lease):
    for number in range(20):
        value = {"type": "json", "value": [{"k": "<" * 90}] * 2_000}
        talking.made(bob, lease.task, value, artifact_id=f"a{number}")

    assert len(ana.get(path_of(lease.task)).content) < 700_000


def test_a_long_text_is_folded_and_keeps_its_white_space(ana, bob, lease):
    text = f"  first\n\n\tsecond {'word ' * 2_000}"
    talking.made(bob, lease.task, text)

    page = ana.get(path_of(lease.task)).text

    assert "<summary><bdi>first</bdi></summary>" in page
    assert f'<p class="words"><bdi>{text}</bdi></p>' in page
