"""The page in a real Chromium, as a person meets it: by roles and labels, keyboard alone."""

import json

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from explorer.browser import chromium, needs_chromium
from explorer.page import Page

pytestmark = needs_chromium
OVERHANG = """
  const within = (one) => one.scrollWidth - one.clientWidth;
  const cut = [...document.querySelectorAll('.tabs, .operations, .scroll')].map(within);
  return Math.max(document.documentElement.scrollWidth - window.innerWidth, ...cut);
"""
# Scrolled to the story, a phone shows the answer, the picture and some sentences at once.
TOGETHER = """
  document.querySelector('#sentences li:nth-child(6)').scrollIntoView({block: 'end'});
  const seen = (one) => one.top >= 0 && one.top + 20 <= innerHeight && one.bottom > 0;
  return ['#verdict', '#graph .node.found', '#sentences li:nth-child(6)'].filter((selector) =>
    !seen(document.querySelector(selector).getBoundingClientRect()));
"""
STORY = ["Mary went to the kitchen.", "John went to the garden.", "Mary went to the office."]
PHONES = ((320, 640), (375, 667))


def test_it_opens_with_a_story_and_its_answer(page) -> None:
    page.open()
    page.shows("#verdict", "✓ correct")
    assert len(page.story()) >= 2
    assert page.texts(".node.found text")
    assert "handmade" in page.text("#model")


def test_generate_a_story(page) -> None:
    page.open(STORY)
    page.shows("#verdict", "Ask a question")
    page.button("New story").click()
    page.shows("#verdict", "✓ correct")
    assert page.story() != STORY
    assert "task=1&seed=" in page.browser.current_url
    first, *_ = page.texts("#chips .chip")
    page.browser.find_element(By.CSS_SELECTOR, "#chips .chip").click()
    page.becomes(lambda: first.endswith(f"after {len(page.story())}"))
    page.shows("#verdict", "✓ correct")


def test_tell_and_ask_by_keyboard_alone(page) -> None:
    page.open([])
    page.button("+ Sentence").send_keys(Keys.ENTER)
    for place, sentence in enumerate(STORY, start=1):
        field = page.browser.switch_to.active_element
        assert field.get_attribute("aria-label") == f"Sentence {place}"
        field.send_keys(sentence, Keys.ENTER)
    page.browser.switch_to.active_element.send_keys(Keys.BACKSPACE)  # the empty one after the last
    assert page.story() == STORY
    page.labelled("Question").send_keys("Where is Mary?")
    page.shows("#verdict", "office")
    assert page.texts("#guesses .word")[0] == "office"

    page.labelled("Sentence 3").send_keys(Keys.ALT, Keys.ARROW_UP)
    page.labelled("Sentence 2").send_keys(Keys.ALT, Keys.ARROW_UP)
    assert page.story() == [STORY[2], STORY[0], STORY[1]]
    page.shows("#verdict", "kitchen")


def test_change_remove_and_put_in_another_order(page) -> None:
    page.open(STORY, "Where is Mary?")
    page.shows("#verdict", "office")
    page.labelled("Remove sentence 3").send_keys(Keys.ENTER)
    page.shows("#verdict", "kitchen")
    field = page.labelled("Sentence 1")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("Mary went to the garden.")
    page.shows("#verdict", "garden")
    ActionChains(page.browser).move_to_element(page.labelled("Sentence 2")).perform()
    page.labelled("Move sentence 2 up").click()
    assert page.story() == [STORY[1], "Mary went to the garden."]
    page.button("Clear").click()
    assert page.story() == [""]


def test_an_unknown_word_is_marked_and_mended(page) -> None:
    page.open(STORY, "Where is Mary?")
    page.shows("#verdict", "office")
    page.labelled("Sentence 3").send_keys(Keys.END, Keys.BACKSPACE, " kitchn")
    page.shows("#story-words", "never seen kitchn")
    assert page.texts("#sentences mark") == ["kitchn"]
    page.labelled("Write kitchen for kitchn").click()
    page.becomes(lambda: page.story()[2] == "Mary went to the office kitchen")
    page.becomes(lambda: page.texts("#sentences mark") == [])


def test_punctuation_that_the_model_has_never_seen_is_named(page) -> None:
    page.open(["Mary went to the kitchen!!!"], "Where is Mary?")
    page.shows("#story-words", "never seen !")
    assert page.texts("#sentences mark") == ["!", "!", "!"]


def test_a_story_that_is_too_long_says_what_is_left_out(page) -> None:
    page.open([STORY[0]] * 75, "Where is Mary?")
    page.shows("#moment", "reads the last 70 sentences of a story: the first 5 are left out")


def test_what_is_of_before_is_marked(page) -> None:
    page.open(STORY, "Where is Mary?")
    page.shows("#verdict", "office")
    assert page.style(".before", "visibility") == "hidden"
    page.labelled("Question").send_keys(Keys.BACKSPACE, "s")
    page.becomes(lambda: page.style("#answer .before", "visibility") == "visible")
    for part in ("#verdict", "#short", "#memory"):
        page.becomes(lambda part=part: page.style(part, "opacity") == "0.35")
    page.becomes(lambda: page.style(".meta", "visibility") == "hidden")
    page.shows("#question-words", "never seen marys")
    page.labelled("Question").send_keys(Keys.BACKSPACE)
    page.becomes(lambda: page.style(".before", "visibility") == "hidden")
    page.becomes(lambda: page.style("#verdict", "opacity") == "1")
    page.becomes(lambda: page.style(".meta", "visibility") == "visible")


def test_without_anything_read_there_is_no_before(page) -> None:
    page.open(["Marie flew."])
    page.shows("#story-words", "marie")
    assert page.text("#verdict") == "No answer yet."
    assert page.style(".before", "visibility") == "hidden"


def test_markup_is_text(page) -> None:
    attack = "<img src=x onerror=alert(1)>"
    page.open([attack, "Mary went to the kitchen."], f"Where is <b>{attack}?")
    page.shows("#story-words", "<img")
    assert page.browser.find_elements(By.CSS_SELECTOR, "img, main b > b") == []
    assert page.story()[0] == attack


def test_a_pasted_file_can_be_leafed_through(page) -> None:
    page.open([])
    page.button("Paste …").click()
    field = page.labelled("Text of the story")
    field.send_keys("2 Mary")
    page.button("Use this text").click()
    page.shows("#paste-problem", "the line is numbered 2")
    assert all("/api/parse" in complaint for complaint in page.complaints())
    text = f"1 {STORY[0]}\n2 Where is Mary?\tkitchen\t1\n1 {STORY[1]}\n"
    page.browser.execute_script("arguments[0].value = arguments[1]", field, text)
    page.button("Use this text").click()
    page.shows("#verdict", "✓ correct")
    page.labelled("Next story").click()
    page.becomes(lambda: page.story() == [STORY[1]])
    assert "story 2 of 2" in page.text("#shelf")


def test_prose_is_pasted(page) -> None:
    page.open(STORY, "Where is Mary?")
    page.paste("Mary went to the kitchen. John moved to the garden. Where is John?")
    page.becomes(lambda: page.story() == ["Mary went to the kitchen.", "John moved to the garden."])
    page.shows("#verdict", "garden")
    page.paste("Marie flew to the kitchen.")
    page.shows("#story-words", "flew")
    page.becomes(lambda: page.style("#answer .before", "visibility") == "visible")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an empty story; expected a sentence a line"),
        ("Mary " * 60, "sentence 1 has 299 characters; at most 200 are allowed"),
        ("Mary left. " * 301, "the story has 301 sentences; at most 300 are allowed"),
    ],
    ids=["nothing", "a long sentence", "many sentences"],
)
def test_limits_are_told_in_plain_words(page, text, message) -> None:
    page.open([])
    page.paste(text)
    page.shows("#paste-problem", message)
    if text:
        page.open(text.strip().replace(". ", ".\n").split("\n"))
        page.shows("#problem", message)
    assert all("/api/" in complaint for complaint in page.complaints())


def test_a_link_shows_all_of_it_again(page) -> None:
    page.open(STORY, "Where was Mary?", at="2", view="compare", part="r1")
    page.shows("#pair", "r1, the relation of write")
    assert page.said() == {
        "story": "\n".join(STORY), "question": "Where was Mary?", "at": "2",
        "view": "compare", "part": "r1",
    }  # fmt: skip
    page.browser.refresh()
    page.becomes(lambda: page.story() == STORY)
    page.shows("#verdict", "kitchen")
    page.one("#tab-memory").click()
    page.shows("#moment", "2. John")


def test_a_link_to_a_told_story_knows_the_truth(page) -> None:
    page.open()
    page.shows("#verdict", "✓ correct")
    page.browser.refresh()
    page.shows("#verdict", "✓ correct")


def test_a_strange_link_does_no_harm(page) -> None:
    strange = {"view": "nowhere", "part": "e9", "off": "all", "other": "x", "at": "99"}
    page.open(STORY, **strange, task="77", seed="x")
    page.becomes(lambda: "office" in page.texts(".node text"))
    assert page.said() == {"story": "\n".join(STORY)}


@pytest.mark.parametrize(
    ("off", "stays"),
    [
        ("write,write,nonsense", "write,move"),
        ("backlink", "backlink"),
        ("backlink,move,write", ""),
    ],
)
def test_page_and_address_agree_on_the_operations(page, off, stays) -> None:
    page.open(STORY, "Where is Mary?", off=off, view="beside")
    page.shows("#difference", "answer")
    assert page.said().get("off") == stays
    shown = "label:not([hidden]) > input:not(:checked)"
    boxes = page.browser.find_elements(By.CSS_SELECTOR, f"#operations {shown}")
    assert len(boxes) == len(stays.split(",")) - (stays == "")


def test_one_operation_stays_on(page) -> None:
    page.open(STORY, "Where is Mary?", off="write,move", view="beside")
    page.shows("#other-side", "without write and move")
    last = page.one("#operations .backlink input")
    assert last.is_selected()
    assert not last.is_enabled()
    assert page.one("#operations .write input").is_enabled()


def test_skipping_to_the_memory_leaves_the_story_in_the_address(page) -> None:
    page.open(STORY, "Where is Mary?")
    page.shows("#verdict", "office")
    address, pages = page.browser.current_url, "return history.length"
    before = page.browser.execute_script(pages)
    page.one(".skip").send_keys(Keys.ENTER)
    assert page.browser.switch_to.active_element.get_attribute("id") == "views"
    assert page.browser.current_url == address
    assert page.browser.execute_script(pages) == before  # nothing to go back from
    page.browser.execute_script("location.hash = 'views'")
    page.becomes(lambda: page.browser.current_url == address)
    assert page.story() == STORY


def test_questions_that_fit_are_offered(page) -> None:
    page.open(STORY[:2])
    page.becomes(lambda: page.texts("#chips .chip") == ["Where is John?", "Where is Mary?"])
    page.button("Where is John?").click()
    page.shows("#verdict", "garden")
    page.shows("#short", "John went to the garden")
    assert page.texts('#chips .chip[aria-pressed="true"]') == ["Where is John?"]


@pytest.mark.parametrize("size", PHONES)
def test_a_phone_has_room_for_all_of_it(address, size) -> None:
    with chromium(*size, dark=True) as browser:
        page = Page(browser, address).open(STORY * 4, "Where is Mary?")
        page.shows("#verdict", "office")
        for view in ("memory", "path", "compare", "beside"):
            page.one(f"#tab-{view}").click()
            assert browser.execute_script(OVERHANG) <= 0
            if view == "memory":
                assert browser.execute_script(TOGETHER) == []
        background = "return getComputedStyle(document.body).backgroundColor"
        assert browser.execute_script(background) == "rgb(18, 22, 27)"
        assert page.complaints() == []


def test_everything_has_a_name(page) -> None:
    """What can be reached by keyboard has an accessible name, as the browser computes it."""
    page.open(STORY, "Where is Mary?")
    page.shows("#verdict", "office")
    tree = page.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = {"button", "textbox", "combobox", "slider", "checkbox", "radio", "tab", "img"}
    nameless = [
        json.dumps(node["role"])
        for node in tree
        if not node["ignored"]
        and node["role"]["value"] in roles
        and not node.get("name", {}).get("value")
    ]
    assert nameless == []


def test_the_page_is_small_and_only_from_here(page) -> None:
    page.open()
    page.shows("#verdict", "✓ correct")
    loaded = page.browser.execute_script(
        "return performance.getEntries().filter((one) => 'encodedBodySize' in one)"
        ".map((one) => [one.name, one.encodedBodySize])"
    )
    assert all(name.startswith(page.address) for name, _ in loaded)
    assert 10_000 < sum(size for _, size in loaded) < 400_000
