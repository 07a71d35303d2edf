import errno
from pathlib import Path

import pytest

from tpr_rnn.errors import UserError
from tpr_rnn.files import append_line, check_directory, make_directory, write_atomically

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="a device that is always full is Linux's")
def test_a_full_disk_is_told_with_the_file() -> None:
    with pytest.raises(OSError, match="/dev/full") as error:
        append_line(FULL, "a line")
    assert error.value.errno == errno.ENOSPC


def test_what_cannot_be_written_is_named_by_its_own_name(tmp_path) -> None:
    path = tmp_path / "nowhere" / "result.json"
    with pytest.raises(FileNotFoundError) as error:
        write_atomically(path, b"{}")
    assert error.value.filename == str(path)


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path) -> None:
    path = tmp_path / "result.json"
    for content in (b"old", b"new"):
        write_atomically(path, content)
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_in_the_place_of_a_directory_is_named(tmp_path) -> None:
    path = tmp_path / "story.txt"
    path.write_text("Mary left.")
    with pytest.raises(UserError, match=r"runs: cannot be made \(.*story\.txt is a file\)"):
        make_directory(path / "runs")
    with pytest.raises(UserError, match=r"story\.txt: not a directory; expected one with runs"):
        check_directory(path, "one with runs")
    with pytest.raises(UserError, match="nowhere: no such directory; expected one with runs"):
        check_directory(tmp_path / "nowhere", "one with runs")
