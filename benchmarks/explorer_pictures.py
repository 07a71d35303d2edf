"""Pictures of the explorer's views, wide and narrow, light and dark; or those of the docs.

    PYTHONPATH=tests python -m benchmarks.explorer_pictures --out DIR [--run RUN] [--address ...]
    PYTHONPATH=tests python -m benchmarks.explorer_pictures --docs

The docs have the bundled model's. Needs a Chromium with its driver (Debian: chromium,
chromium-driver).
"""

import argparse
import time
from pathlib import Path

from PIL import Image
from selenium.webdriver.common.by import By

from explorer.browser import Browser, chromium, served, wait_until
from tpr_rnn.models.reader import Reader
from tpr_rnn.pretrained import pretrained_run

SIZES = {"wide": (1280, 800), "narrow": (375, 812)}
COLOURS = 256
"""Colours of a picture: enough to distinguish all of them, with half the bytes."""
VIEWS = ("memory", "path", "compare", "beside")
DOCS = {"explorer-memory.png": "memory", "explorer-why.png": "path"}


def show(browser: Browser, address: str, view: str) -> None:
    """Open a story in a view, and wait until it is there and nothing fades any more."""
    browser.get(address)
    wait_until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#graph .node"))
    browser.find_element(By.ID, f"tab-{view}").click()
    read = "return document.querySelector('#verdict strong') && !document.querySelector('.stale')"
    wait_until(browser, lambda: browser.execute_script(read))
    if view == "beside":
        wait_until(browser, lambda: browser.find_element(By.ID, "difference").text)
    time.sleep(1)


def shrink(path: Path) -> None:
    Image.open(path).quantize(COLOURS).save(path, optimize=True)


def all_views(run: Path, out: Path, behind: str) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with served(Reader.load(run), run.resolve().name) as address:
        for theme in ("light", "dark"):
            for size, (width, height) in SIZES.items():
                with chromium(width, height, dark=theme == "dark") as browser:
                    for view in VIEWS:
                        show(browser, f"{address}#{behind}", view)
                        path = out / f"{view}-{size}-{theme}.png"
                        browser.save_whole_page(path)
                        shrink(path)


def of_docs() -> None:
    docs = Path(__file__).parents[1] / "docs"
    with (
        served(Reader.load(pretrained_run()), "the bundled model") as address,
        chromium(*SIZES["wide"]) as browser,
    ):
        for name, view in DOCS.items():
            show(browser, address, view)
            browser.save_screenshot(str(docs / name))
            shrink(docs / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, default=pretrained_run())
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--out", type=Path)
    wanted.add_argument("--docs", action="store_true", help="The pictures of docs/.")
    parser.add_argument("--address", default="", help="What stands behind the #, to show a story.")
    options = parser.parse_args()
    if options.docs:
        of_docs()
    else:
        all_views(options.run, options.out, options.address)


if __name__ == "__main__":
    main()
