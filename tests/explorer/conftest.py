"""The page in a browser, for every file of tests of it."""

from dataclasses import replace

import pytest

from analysis.handmade import task_1_reader
from explorer.browser import chromium, served
from explorer.page import Page

WIDE = (1280, 900)


@pytest.fixture(scope="module")
def address():
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
