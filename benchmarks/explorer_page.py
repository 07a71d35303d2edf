"""How soon the page of the explorer is there, and how large it is, with nothing cached.

    PYTHONPATH=tests python -m benchmarks.explorer_page RUN [--out results/explorer/page.json]

Needs a Chromium with its driver (Debian: chromium, chromium-driver).
"""

import argparse
import json
import os
import platform
import statistics
from pathlib import Path
from urllib.parse import urlsplit

from selenium.webdriver.common.by import By

from explorer.browser import chromium, served, wait_until
from tpr_rnn import __version__
from tpr_rnn.models.reader import Reader

TIMES = 5
PAINTED = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
NOW = "return performance.now()"
LOADED = """
  return performance.getEntries().filter((one) => 'encodedBodySize' in one)
    .map((one) => [one.name, one.encodedBodySize])
"""


def measure(run: Path) -> dict:
    painted, answered = [], []
    with served(Reader.load(run), run.resolve().name) as address:
        for _ in range(TIMES):
            with chromium(1280, 900) as browser:
                browser.get(address)
                wait_until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#graph .node"))
                answered.append(round(browser.execute_script(NOW)))
                painted.append(round(browser.execute_script(PAINTED)))
                loaded = browser.execute_script(LOADED)
                version = browser.capabilities["browserVersion"]
    sizes = {urlsplit(name).path: size for name, size in loaded}
    files = {path: size for path, size in sorted(sizes.items()) if not path.startswith("/api/")}
    return {
        "first_paint_ms": painted,
        "first_paint_median_ms": statistics.median(painted),
        "first_story_shown_ms": answered,
        "first_story_shown_median_ms": statistics.median(answered),
        "page_bytes": sum(files.values()),
        "with_first_story_bytes": sum(sizes.values()),
        "file_bytes": files,
        "versions": {
            "tpr-rnn": __version__,
            "python": platform.python_version(),
            "chromium": version,
        },
        "load_average": os.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, help="File for the record.")
    options = parser.parse_args()
    found = measure(options.run)
    print("\n".join(f"{name:28} {value}" for name, value in found.items() if name != "file_bytes"))
    if options.out is not None:
        options.out.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
