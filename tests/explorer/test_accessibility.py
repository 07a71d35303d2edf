"""The page as axe-core judges it: contrast, names, roles, keyboard, by WCAG 2.2 A and AA.

axe/axe.min.js is axe-core 4.14.1 from the npm registry, with its licence (MPL 2.0) beside it.
"""

from pathlib import Path

import pytest

from explorer.browser import chromium, needs_chromium
from explorer.page import Page

pytestmark = needs_chromium
AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text()
RUN = """
  const done = arguments[0];
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const say = ({id, nodes}) => nodes.map(({target, html}) => `${id}: ${target} ${html}`);
  axe.run(document, {runOnly: {type: 'tag', values: tags}})
    .then(({violations}) => done(violations.flatMap(say)));
"""
STORY = ["Mary went to the kitchen.", "John went to the garden.", "Mary went to the office."]


def complaints(page: Page) -> list[str]:
    page.browser.execute_script(AXE)
    return page.browser.execute_async_script(RUN)


@pytest.mark.parametrize("size", [(1280, 800), (375, 667)], ids=["wide", "narrow"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_view_is_accessible(address, size, dark) -> None:
    with chromium(*size, dark=dark) as browser:
        browser.set_script_timeout(60)
        page = Page(browser, address).open(STORY, "Where was Mary?")
        page.shows("#verdict", "kitchen")
        browser.execute_script(
            "document.querySelectorAll('details').forEach((one) => one.open = 1)"
        )
        for view in ("memory", "path", "compare", "beside"):
            browser.execute_script("document.getElementById(arguments[0]).click()", f"tab-{view}")
            if view == "beside":
                page.shows("#difference", "answer")
            assert complaints(page) == [], view


def test_axe_sees_what_is_wrong(page) -> None:
    page.browser.set_script_timeout(60)
    page.open(STORY)
    page.browser.execute_script("document.getElementById('add').style.color = '#ccc'")
    page.browser.execute_script("document.getElementById('slider').removeAttribute('aria-label')")
    page.becomes(lambda: page.texts(".node"))
    found = complaints(page)
    assert any(text.startswith("color-contrast: #add") for text in found)
    assert any("#slider" in text for text in found)
