"""Pictures of the explorer's views, wide and narrow, light and dark.

    PYTHONPATH=tests python -m benchmarks.explorer_pictures RUN --out DIR

Needs a Chromium with its driver (Debian: chromium, chromium-driver).
"""

import argparse
import time
from pathlib import Path

from PIL import Image
from selenium.webdriver.common.by import By

from explorer.browser import chromium, served, wait_until
from tpr_rnn.models.reader import Reader

SIZES = {"wide": (1360, 900), "narrow": (390, 844)}
COLOURS = 256
"""Colours of a picture: enough to distinguish all of them, with half the bytes."""
VIEWS = ("memory", "path", "compare")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--address", default="", help="What stands behind the #, to show a story.")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with served(Reader.load(options.run), options.run.resolve().name) as address:
        for theme in ("light", "dark"):
            for size, (width, height) in SIZES.items():
                with chromium(width, height, dark=theme == "dark") as browser:
                    browser.get(f"{address}#{options.address}")
                    wait_until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, ".node"))
                    for view in VIEWS:
                        browser.find_element(By.ID, f"tab-{view}").click()
                        time.sleep(0.6)  # until what fades has faded
                        path = options.out / f"{view}-{size}-{theme}.png"
                        browser.save_whole_page(path)
                        Image.open(path).quantize(COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    main()
