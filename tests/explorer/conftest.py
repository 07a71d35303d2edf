"""The explorer's interface, and its page in a browser, for every file of tests of them."""

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from analysis.handmade import task_1_reader
from explorer.browser import chromium, served
from explorer.page import Page
from tpr_rnn.explorer import gallery
from tpr_rnn.explorer.app import create_app
from tpr_rnn.explorer.service import Service

WIDE = (1280, 900)
STORY = ("Mary went to the kitchen.", "John went to the garden.", "Mary went to the office.")
GALLERY = (
    gallery.Shown("Mary moves", "The last room counts.", STORY, "Where is Mary?", "office", (3,)),
    gallery.Shown("Wrong", "The model is wrong.", STORY, "Where is John?", "kitchen", (2,)),
    gallery.Shown("Unknown", "It cannot read.", ("Marie flew.",), "Where is Marie?", "sky", (1,)),
    gallery.Shown("Mary before", "What was.", STORY, "Where was Mary?", "kitchen", (1,)),
)
"""Two that the handmade model answers right, and two that it does not."""


@pytest.fixture(scope="module")
def address():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gallery, "GALLERY", GALLERY)
        with served(replace(task_1_reader(), max_sentences=70), "handmade") as address:
            yield address


@pytest.fixture(scope="module")
def browser():
    with chromium(*WIDE) as browser:
        yield browser


@pytest.fixture
def page(browser, address):
    page = Page(browser, address)
    browser.get_log("browser")
    yield page
    assert page.complaints() == []


@pytest.fixture(scope="module")
def service() -> Service:
    return Service(task_1_reader(), "handmade")


@pytest.fixture(scope="module")
def client(service) -> TestClient:
    return TestClient(create_app(service), raise_server_exceptions=False)
