"""The page of a word-level model: its memory is watched word by word, its story line by line."""

import torch
from selenium.webdriver.common.keys import Keys

from explorer.browser import needs_chromium, served
from explorer.page import Page
from tpr_rnn.data.vocabulary import Vocabulary, tokenize
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.word_level import WordLevel, WordLevelConfig

pytestmark = needs_chromium
STORY, QUESTION = ["Mary went home.", "John left.", "Mary left home."], "Where is Mary?"


def untrained() -> Reader:
    vocabulary = Vocabulary([word for text in (*STORY, QUESTION) for word in tokenize(text)])
    config = WordLevelConfig(vocabulary_size=len(vocabulary), max_words=4, hidden_size=12)
    return Reader(WordLevel(config, generator=torch.Generator().manual_seed(1)), vocabulary)


def test_it_is_watched_word_by_word(browser) -> None:
    browser.get_log("browser")
    with served(untrained(), "words") as address:
        page = Page(browser, address).open(STORY, QUESTION)
        slider = page.labelled("Sentences read so far")
        page.becomes(lambda: slider.get_attribute("max") == "15")  # the question's words too
        page.shows("#moment", "The path of the question")
        page.labelled("Watch the memory after sentence 2").click()
        page.shows("#moment", "After 7. john left [.]")
        assert page.one("#sentences li.watched input").get_attribute("value") == "John left."
        assert page.one("#sentences li.later input").get_attribute("value") == "Mary left home."
        slider.send_keys(Keys.ARROW_RIGHT)
        page.shows("#moment", "After 8. [mary] left home .")
        assert "+ added by this word" in page.texts("#legend li")
        assert page.complaints() == []
