"""The explorer's page in a browser: what a person can see and do."""

from urllib.parse import parse_qs, quote, urlsplit

from selenium.webdriver.common.by import By

from explorer.browser import wait_until


class Page:
    """What a person can see and do."""

    def __init__(self, browser, address) -> None:
        self.browser = browser
        self.address = address

    def open(self, story=None, question="", **shown) -> "Page":
        self.browser.get("about:blank")
        behind = {"story": "\n".join(story or []), "question": question, **shown}
        parts = "&".join(f"{name}={quote(str(value))}" for name, value in behind.items())
        self.browser.get(f"{self.address}#{parts}" if story is not None else self.address)
        self.shows("#model", "parameters")  # before that, nobody listens to what is clicked
        return self

    def one(self, selector: str):
        wait_until(self.browser, lambda: self.browser.find_elements(By.CSS_SELECTOR, selector))
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def labelled(self, label: str):
        return self.one(f'[aria-label="{label}"]')

    def button(self, text: str):
        path = f"//button[normalize-space()='{text}']"
        wait_until(self.browser, lambda: self.browser.find_elements(By.XPATH, path))
        return self.browser.find_element(By.XPATH, path)

    def text(self, selector: str) -> str:
        return self.browser.execute_script(
            "return document.querySelector(arguments[0]).innerText", selector
        )

    def texts(self, selector: str) -> list[str]:
        return self.browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)",
            selector,
        )

    def story(self) -> list[str]:
        return self.browser.execute_script(
            "return [...document.querySelectorAll('#sentences input')].map((one) => one.value)"
        )

    def shows(self, selector: str, text: str) -> None:
        self.becomes(lambda: text in self.text(selector), lambda: self.text(selector))

    def becomes(self, holds, seen=lambda: "") -> None:
        try:
            wait_until(self.browser, holds)
        except Exception as error:
            raise AssertionError(f"seen: {seen()!r}") from error

    def style(self, selector: str, name: str) -> str:
        return self.browser.execute_script(
            "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]",
            selector,
            name,
        )

    def said(self) -> dict[str, str]:
        """What stands behind the # of the address."""
        behind = parse_qs(urlsplit(self.browser.current_url).fragment, keep_blank_values=True)
        return {name: value for name, (value,) in behind.items()}

    def paste(self, text: str) -> None:
        self.button("Paste …").click()
        field = self.labelled("Text of the story")
        self.browser.execute_script("arguments[0].value = arguments[1]", field, text)
        self.button("Use this text").click()

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.browser.get_log("browser")]
