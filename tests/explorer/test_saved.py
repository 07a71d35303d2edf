"""`tpr-rnn explain` saves a page that shows a story without a server, and loads nothing."""

import re

import pytest
import torch

from analysis.handmade import task_1_reader
from cli.command import run
from explorer.browser import chromium, needs_chromium, served
from explorer.page import Page
from explorer.test_accessibility import complaints
from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.models import TPRRNN, TPRRNNConfig
from tpr_rnn.models.new_words import SLOTS
from tpr_rnn.models.reader import Reader

STORY = ["Mary went to the kitchen.", "John moved to the garden.", "Mary went to the office."]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    directory = tmp_path_factory.mktemp("saved")
    task_1_reader().save(directory / "model.safetensors")
    (directory / "story.txt").write_text("\n".join(STORY))
    done = explain(directory)
    assert done.returncode == 0, done.stderr
    assert re.search(r"Saved: .*why\.html \(\d+ kB\)", done.stdout.replace("\n", ""))
    return directory / "why.html"


def explain(directory, question="Where is Mary?", html="why.html", *more):
    told = ("--story", str(directory / "story.txt"), "--question", question)
    return run("explain", str(directory), *told, "--html", str(directory / html), *more)


def test_the_page_has_all_that_it_needs_within(saved) -> None:
    page = saved.read_text("utf-8")
    assert "<title>Where is Mary? · tpr-rnn</title>" in page
    addresses = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert addresses
    assert all(address.startswith(("data:", "#")) for address in addresses)
    assert "default-src 'none'" in page
    assert len(page) < 400_000


@pytest.mark.parametrize(
    ("question", "html", "more", "message"),
    [
        ("Where is Bob?", "why.html", (), "never seen the word 'bob'"),
        ("Mary is here.", "why.html", (), "which ends in ?"),
        ("Where is Mary?", "why.txt", (), "why.txt: the name of a page ends in .html"),
        ("Where is Mary?", "no/why.html", (), "why.html: no such file or directory"),
        ("Where is Mary?", "why.html", ("--word", "zoo=place"), "neither story nor question"),
    ],
)
def test_what_cannot_be_explained_is_refused(saved, question, html, more, message) -> None:
    before = saved.read_bytes()
    done = explain(saved.parent, question, html, *more)
    assert done.returncode == 2
    assert message in done.stderr
    assert saved.read_bytes() == before


def test_a_story_that_is_too_long_is_refused(saved) -> None:
    long = saved.parent / "long"
    long.mkdir()
    (long / "story.txt").write_text("\n".join(STORY * 101))
    task_1_reader().save(long / "model.safetensors")
    done = explain(long)
    assert done.returncode == 2
    assert "the story has 303 sentences; at most 300 are allowed" in done.stderr


@needs_chromium
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (375, True)])
def test_a_browser_shows_it_without_a_server(saved, width, dark) -> None:
    with chromium(width, 900, dark=dark) as browser:
        browser.get(saved.as_uri())
        page = Page(browser, saved.as_uri())
        page.shows("#model", "parameters")
        page.shows("#verdict", "office")
        browser.set_script_timeout(60)
        assert complaints(page) == []
        lines = browser.find_elements("css selector", "#sentences input")
        assert [line.get_property("value") for line in lines] == STORY
        assert all(line.get_property("readOnly") for line in lines)
        lines[0].send_keys("\ue007")  # Enter, which adds a sentence where one can write
        assert len(browser.find_elements("css selector", "#sentences input")) == len(STORY)
        assert not page.one("#generate").is_displayed()
        page.one("#tab-path").click()
        page.shows("#path", "From mary the memory leads to office.")
        page.one("#tab-memory").click()
        assert page.one("#graph svg").is_displayed()
        assert page.one("#problem").text == ""
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width
        assert page.complaints() == []


def reader_with_slots() -> Reader:
    """A model that takes new words, and has learned nothing."""
    slots = [slot for of_kind in SLOTS.values() for slot in of_kind]
    vocabulary = Vocabulary(["went", "to", "the", "where", "is", ".", "?", *slots])
    config = TPRRNNConfig(vocabulary_size=len(vocabulary), max_words=9, hidden_size=4)
    return Reader(TPRRNN(config, generator=torch.Generator().manual_seed(0)), vocabulary)


@needs_chromium
def test_new_words_are_told_and_only_the_explorer_asks_what_they_are(page, tmp_path) -> None:
    with served(reader_with_slots(), "slots") as address:
        slots = Page(page.browser, address)
        slots.open(["Alice went to the library."], "Where is Alice?")
        slots.shows("#story-words", "New: library is read as a place, like kitchen. Is it a")
        slots.labelled("Read library as a thing").click()
        slots.shows("#story-words", "New: library is read as a thing, like milk.")
    reader_with_slots().save(tmp_path / "model.safetensors")
    (tmp_path / "story.txt").write_text("Alice went to the library.")
    assert explain(tmp_path, "Where is Alice?").returncode == 0
    with chromium(1280, 900) as browser:
        page = Page(browser, (tmp_path / "why.html").as_uri())
        browser.get(page.address)
        page.shows("#story-words", "New: alice is read as a name, like mary.")
        page.shows("#story-words", "New: library is read as a place, like kitchen.")
        assert browser.find_elements("css selector", "#story-words button") == []
