"""`tpr-rnn explore`: the process, its socket, and what it says when it cannot start."""

import asyncio
import builtins
import errno
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from analysis.handmade import task_1_reader
from tpr_rnn import pretrained
from tpr_rnn.cli import main
from tpr_rnn.explorer import connections, server
from tpr_rnn.explorer.app import PAGE
from tpr_rnn.models.lstm import LSTMReaderConfig
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.registry import make_model


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "handmade"
    run.mkdir()
    task_1_reader().save(run / "model.safetensors")
    return run


def explore(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["explore", *map(str, arguments), "--no-browser"])
    return ended.value.code


def test_it_serves_until_it_is_interrupted(run) -> None:
    command = [sys.executable, "-m", "tpr_rnn", "explore", str(run), "--no-browser", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=os.environ | {"PYTHONUNBUFFERED": "1"}, **pipes) as process:
        announced = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", announced).group()
        assert announced.startswith("Exploring handmade at ")
        try:
            assert httpx2.get(f"{address}api/model", timeout=60).json()["name"] == "handmade"
            page = httpx2.get(address)
            assert page.headers["content-type"].startswith("text/html")
            stranger = httpx2.get(address, headers={"host": "evil.example"})
            assert stranger.status_code == 421
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert "Traceback" not in process.stderr.read()


def test_more_connections_than_descriptors_do_not_stop_it(run) -> None:
    command = [sys.executable, "-m", "tpr_rnn", "explore", str(run), "--no-browser", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    few = (64, 64)
    with (
        subprocess.Popen(
            command,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, few),
            **pipes,
        ) as process,
        ExitStack() as opened,
    ):
        announced = process.stdout.readline()
        address = re.search(r"http://(127\.0\.0\.1):(\d+)/", announced)
        try:
            idle = [
                opened.enter_context(socket.create_connection((address[1], int(address[2])), 30))
                for _ in range(200)
            ]
            answers = [connection.recv(1000) for connection in idle]  # "" when it is closed
            refused = [answer for answer in answers if answer.startswith(b"HTTP/1.1 503 ")]
            assert len(refused) >= 200 - 64
            assert answers.count(b"") == 200 - len(refused) >= 8
            assert httpx2.get(f"{address[0]}api/model", timeout=60).status_code == 200
            assert httpx2.get(address[0]).status_code == 200
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        log = process.stderr.read()
    assert "Traceback" not in log
    assert log.count("too many connections are open") == 1


def test_descriptors_that_run_out_are_one_line_of_the_log(caplog, monkeypatch) -> None:
    monkeypatch.setattr(connections, "_logged", {})
    loop = asyncio.new_event_loop()
    try:
        for _ in range(100):
            none_left = OSError(errno.EMFILE, "Too many open files")
            connections.on_loop_error(loop, {"message": "accept", "exception": none_left})
        assert [record.getMessage() for record in caplog.records] == [
            "no file descriptors are left; waiting until some are closed"
        ]
        connections.on_loop_error(loop, {"message": "other", "exception": ValueError("bug")})
        assert "other" in caplog.text
    finally:
        loop.close()


def test_a_port_that_is_taken_is_named(run, capsys) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert explore(run, "--port", port) == 2
    error = capsys.readouterr().err
    assert f"cannot listen on 127.0.0.1 port {port} (Address already in use)" in error
    assert "--port 0 takes any that is free" in error


@pytest.mark.parametrize("host", ["nowhere.invalid", "192.0.2.1", "::g", "a" * 64, "http://x"])
def test_a_host_that_is_not_here_is_named(run, capsys, host) -> None:
    assert explore(run, "--host", host, "--port", 0) == 2
    error = capsys.readouterr().err
    assert f"cannot listen on '{host}'" in error
    assert "such as 127.0.0.1" in error
    assert "--port" not in error


def test_a_port_that_cannot_be_is_refused(run, capsys) -> None:
    assert explore(run, "--port", 70_000) == 2
    assert "from 0 (any that is free) to 65535, not 70000" in capsys.readouterr().err


def test_a_run_that_is_not_there_is_named(tmp_path, capsys) -> None:
    assert explore(tmp_path) == 2
    assert "no such file" in capsys.readouterr().err


def test_a_model_without_a_memory_is_refused(tmp_path, capsys) -> None:
    vocabulary = task_1_reader().vocabulary
    config = LSTMReaderConfig(vocabulary_size=len(vocabulary), max_words=8)
    Reader(make_model(config), vocabulary).save(tmp_path / "model.safetensors")
    assert explore(tmp_path) == 2
    assert "only a TPR-RNN has a memory to look into" in capsys.readouterr().err


def test_without_a_run_it_uses_the_bundled_model(run, monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setattr(pretrained, "DIRECTORY", tmp_path)
    assert explore() == 2
    assert "has no bundled model" in capsys.readouterr().err
    served = []
    monkeypatch.setattr(server, "serve", lambda service, *_, **__: served.append(service))
    monkeypatch.setattr(pretrained, "DIRECTORY", run)
    assert explore() == 0
    (service,) = served
    assert service.name == "the bundled model"
    assert service.reader.vocabulary == task_1_reader().vocabulary


def test_other_runs_are_beside_it_each_with_a_name_of_its_own(run, monkeypatch, capsys) -> None:
    served = []
    monkeypatch.setattr(server, "serve", lambda service, *_, **__: served.append(service))
    other = run.parent / "other"
    shutil.copytree(run, other, dirs_exist_ok=True)
    assert explore(run, "--beside", other) == 0
    (service,) = served
    assert list(service.beside) == ["the bundled model", "other"]
    assert explore(run, "--beside", run) == 2
    assert "two runs are called 'handmade'" in capsys.readouterr().err
    monkeypatch.setattr(pretrained, "DIRECTORY", other / "nothing")
    assert explore(run) == 0
    assert not served[-1].beside


def test_a_missing_library_is_named_with_the_way_to_install_it(run, monkeypatch, capsys) -> None:
    imported = builtins.__import__

    def without(name, *rest):
        if name == "tpr_rnn.explorer.server":
            raise ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert explore(run) == 2
    message = "the explorer needs uvicorn; install it with: pip install -e '.[explore]'"
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("host", "all_of_them"), [("0.0.0.0", True), ("::", True), ("me", False)])
def test_only_a_wildcard_answers_to_every_name(host, all_of_them) -> None:
    assert server._is_unspecified(host) == all_of_them


def test_the_page_has_no_script_or_style_inside_and_nothing_from_elsewhere() -> None:
    files = [path for path in PAGE.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".html", ".css", ".js", ".svg"}
    page = (PAGE / "index.html").read_text()
    assert not re.search(r"<style|style=|<script(?![^>]+src=)| on\w+=|javascript:", page)
    for path in files:
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "://" not in text, path
        assert "innerHTML" not in text, path
        assert "insertAdjacentHTML" not in text, path
