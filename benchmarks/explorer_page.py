"""How soon the page of the explorer is there, and how large it is, with nothing cached.

    PYTHONPATH=tests python -m benchmarks.explorer_page RUN

Needs a Chromium with its driver (Debian: chromium, chromium-driver).
"""

import argparse
import statistics
from pathlib import Path

from selenium.webdriver.common.by import By

from explorer.browser import chromium, served, wait_until
from tpr_rnn.models.reader import Reader

TIMES = 5
PAINTED = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
NOW = "return performance.now()"
LOADED = """
  return performance.getEntries().filter((one) => 'encodedBodySize' in one)
    .map((one) => [one.name.includes('/api/'), one.encodedBodySize])
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    options = parser.parse_args()
    painted, answered = [], []
    with served(Reader.load(options.run), options.run.name) as address:
        for _ in range(TIMES):
            with chromium(1280, 900) as browser:
                browser.get(address)
                wait_until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, ".node.found"))
                answered.append(browser.execute_script(NOW))
                painted.append(browser.execute_script(PAINTED))
                loaded = browser.execute_script(LOADED)
    print(f"first paint            {statistics.median(painted):6.0f} ms (median of {TIMES})")
    print(f"first story explained  {statistics.median(answered):6.0f} ms")
    print(f"page                   {sum(size for api, size in loaded if not api) / 1000:6.1f} kB")
    print(f"with the first story   {sum(size for _, size in loaded) / 1000:6.1f} kB")


if __name__ == "__main__":
    main()
