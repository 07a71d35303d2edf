"""Fetching, from a server on this machine."""

import hashlib
import io
import tarfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tpr_rnn.data.babi.download import ARCHIVE, fetch
from tpr_rnn.data.babi.format import read_stories
from tpr_rnn.errors import UserError

STORY = b"1 Mary went home.\n2 Where is Mary?\thome\t1\n"


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        pass


@pytest.fixture
def server(tmp_path):
    """Serves an archive like the official one; gives its address and checksum."""
    directory = tmp_path / "server"
    directory.mkdir()
    with tarfile.open(directory / ARCHIVE, "w:gz") as archive:
        for layout in ("en", "en-valid-10k"):
            member = tarfile.TarInfo(f"tasks_1-20_v1-2/{layout}/qa1_train.txt")
            member.size = len(STORY)
            archive.addfile(member, io.BytesIO(STORY))
    handler = partial(QuietHandler, directory=str(directory))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        content = (directory / ARCHIVE).read_bytes()
        yield (
            f"http://127.0.0.1:{running.server_port}/{ARCHIVE}",
            hashlib.sha256(content).hexdigest(),
        )
        running.shutdown()


def test_the_archive_is_fetched_checked_and_unpacked(server, tmp_path) -> None:
    address, sha256 = server
    directory = fetch(tmp_path / "data", (address,), sha256)
    assert directory == tmp_path / "data" / "tasks_1-20_v1-2" / "en-valid-10k"
    assert read_stories(directory / "qa1_train.txt")[0].sentences == ("Mary went home.",)


def test_the_next_address_is_tried(server, tmp_path) -> None:
    address, sha256 = server
    gone = address.replace(ARCHIVE, "gone.tar.gz")
    assert fetch(tmp_path / "data", (gone, address), sha256).is_dir()


def test_an_archive_that_is_there_is_not_downloaded_again(server, tmp_path) -> None:
    address, sha256 = server
    fetch(tmp_path / "data", (address,), sha256)
    assert fetch(tmp_path / "data", ("http://127.0.0.1:1/gone.tar.gz",), sha256).is_dir()


def test_a_wrong_checksum_is_refused(server, tmp_path) -> None:
    address, _ = server
    with pytest.raises(UserError, match="its checksum is wrong"):
        fetch(tmp_path / "data", (address,), "0" * 64)
    assert not (tmp_path / "data" / ARCHIVE).exists()


def test_offline_says_what_to_do(tmp_path) -> None:
    with pytest.raises(UserError) as error:
        fetch(tmp_path / "data", ("http://127.0.0.1:1/a.tar.gz",))
    assert "could not be downloaded" in str(error.value)
    assert f"bring {ARCHIVE} here" in str(error.value)
    assert "tpr-rnn data generate" in str(error.value)
