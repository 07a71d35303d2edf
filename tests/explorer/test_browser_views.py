"""What else there is to see and do: stories, light, play, pairs, two models, files, a tour."""

import json
import struct

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from analysis.handmade import task_1_reader
from explorer.browser import needs_chromium, served, wait_until
from explorer.page import Page
from tpr_rnn.data.babi.format import parse_told

pytestmark = needs_chromium
STORY = ["Mary went to the kitchen.", "John went to the garden.", "Mary went to the office."]
LIT = "return [...document.querySelectorAll('#sentences li.lit input')].map((one) => one.value)"
ON = "return [...document.querySelectorAll('#graph .arrow.on title')].map((one) => one.textContent)"


def test_the_gallery_shows_one_idea_each(page) -> None:
    page.open()
    page.shows("#short", 'Mary went to the office 3: "office".')
    assert page.texts("#stories button") == ["Mary moves", "Mary before"]  # those that it can
    assert "The last room counts." in page.text("#look-for")
    page.button("Mary before").click()
    page.shows("#verdict", "kitchen")
    page.shows("#verdict", "✓ correct")
    assert page.texts("#stories [aria-pressed=true]") == ["Mary before"]
    page.labelled("Sentence 1").send_keys(Keys.END, Keys.BACKSPACE)
    page.shows("#look-for", "A story of your own")


def test_pointing_at_a_sentence_lights_its_arrows_and_the_other_way_round(page) -> None:
    page.open(STORY, "Where is Mary?")
    page.shows("#verdict", "office")
    page.labelled("Sentence 2").click()  # it has the focus, and is pointed at
    page.becomes(lambda: page.browser.execute_script(ON))
    titles = page.browser.execute_script(ON)
    assert {title.split(":")[0] for title in titles} == {"john → garden", "garden → john"}
    page.shows("#caption", STORY[1])
    page.labelled("Question").click()
    page.becomes(lambda: page.browser.execute_script(ON) == [])
    node = page.one("#graph .node[aria-label=mary]")
    ActionChains(page.browser).move_to_element(node).perform()
    page.becomes(lambda: page.browser.execute_script(LIT) == [STORY[0], STORY[2]])
    page.shows("#caption", "mary: 1. Mary went to the kitchen. 3. Mary went to the office.")


def test_the_picture_is_reached_by_keyboard(page) -> None:
    page.open(STORY, "Where is Mary?")
    page.shows("#verdict", "office")
    stops = page.browser.find_elements(By.CSS_SELECTOR, "#graph [tabindex='0']")
    assert len(stops) == 1  # one stop for the whole picture
    page.browser.execute_script("arguments[0].focus()", stops[0])
    page.becomes(lambda: page.browser.execute_script(LIT))
    first = page.browser.switch_to.active_element.get_attribute("aria-label")
    page.browser.switch_to.active_element.send_keys(Keys.ARROW_LEFT)  # the last of the arrows
    arrow = page.browser.switch_to.active_element
    assert "→" in arrow.get_attribute("aria-label")
    assert first != arrow.get_attribute("aria-label")
    page.becomes(lambda: len(page.browser.execute_script(ON)) == 1)
    assert len(page.browser.execute_script(LIT)) == 1


def test_play_goes_through_the_story_and_the_steps(page) -> None:
    page.open(STORY, "Where is Mary?")
    page.shows("#verdict", "office")
    page.one("#play").click()
    for moment in ("Before the story", "After 1.", "After 3.", "? mary → 1 office → 2 nothing → 3"):
        if not moment.startswith("After 3"):  # at the end the path of the question begins
            page.shows("#moment", moment)
    page.shows("#play", "Play")
    page.one("#play").click()
    page.shows("#play", "Stop")
    page.shows("#moment", "After 1.")
    page.one("#play").click()
    page.shows("#play", "Play")
    page.shows("#moment", "After 1.")


def test_answers_along_the_story_are_of_the_questions_kind(page) -> None:
    page.open(STORY, "Where is Mary?")
    page.becomes(lambda: page.texts(".then") == ["kitchen", "", "office"])
    page.browser.execute_script(
        "const answer = window.fetch; window.fetch = async (...asked) => {"
        "  const got = await answer(...asked);"
        "  if (!String(asked[0]).includes('trace')) return got;"
        "  const found = await got.json(); found.expected = ['office'];"
        "  return new Response(JSON.stringify(found));"
        "}"
    )
    page.labelled("Question").send_keys(Keys.BACKSPACE)
    page.becomes(lambda: page.texts(".then") == ["", "", "office"])


def test_unlikely_answers_are_folded_away(page) -> None:
    page.open(STORY, "Where is Mary?")
    page.shows("#verdict", "office")
    assert not page.one("#guesses").is_displayed()  # one answer alone is in the verdict
    assert page.text("#unlikely summary") == "+4 under 1%"
    assert not page.one("#unlikely ol").is_displayed()
    page.one("#unlikely summary").click()
    assert page.one("#unlikely ol").is_displayed()
    assert page.texts("#unlikely .share") == ["<1%"] * 4


def test_a_negative_share_goes_to_the_left(page) -> None:
    page.open(STORY, "Where is Mary?", view="path")
    page.becomes(lambda: page.texts(".sources button"))
    page.browser.execute_script(
        "document.querySelector('.sources li').className = 'against'"
    )  # what the page gives a sentence that takes away
    bar, middle = page.browser.execute_script(
        "const box = (one) => one.getBoundingClientRect();"
        "const signed = document.querySelector('.against .signed');"
        "const {left, width} = box(signed);"
        "return [box(signed.firstChild), left + width / 2]"
    )
    assert bar["right"] == pytest.approx(middle, abs=1)
    assert bar["left"] < middle - 2


def test_compare_puts_alike_sentences_together_and_keeps_a_pair(page) -> None:
    page.open(STORY, view="compare")
    page.shows("#pair", "Point at a cell")
    assert page.texts("#matrix .columns li") == ["1", "3", "2"]  # Mary's beside each other
    assert page.texts("#matrix .rows li")[1] == "3 Mary went to the office."
    matrix = page.one("#matrix canvas")
    size = matrix.size["width"]
    pointer = ActionChains(page.browser)
    # From the middle, which is the second row with itself, up: the first row, second column.
    pointer.move_to_element_with_offset(matrix, 0, -size // 3).click().perform()
    page.becomes(lambda: page.text("#pair").split("\n")[0] == "1.00")
    assert STORY[0] in page.text("#pair")
    assert STORY[2] in page.text("#pair")
    page.becomes(lambda: page.browser.execute_script(LIT) == [STORY[0], STORY[2]])
    pointer.move_to_element_with_offset(matrix, size // 3, 0).perform()
    assert "1.00" in page.text("#pair")  # it stays
    matrix.send_keys(Keys.ARROW_RIGHT)
    page.shows("#pair", "0.00")
    page.browser.execute_script("document.querySelectorAll('#parts input')[1].click()")
    page.becomes(lambda: "part=e2" in page.browser.current_url)
    assert STORY[1] in page.text("#pair")


def test_two_models_side_by_side(page) -> None:
    page.open(STORY, "Where was Mary?", view="beside")
    page.shows("#difference", "The answer is “kitchen”; handmade without move says")
    assert not page.one("#others").is_displayed()  # there is no other model
    page.one("#operations .move input").click()
    page.one("#operations .backlink input").click()
    page.shows("#difference", "Both answer “kitchen”.")
    assert "off=backlink" in page.browser.current_url
    page.one("#operations .write input").click()  # move needs write: both off would leave none
    assert page.one("#operations .write input").is_selected()
    other = task_1_reader().with_operations(["write"])
    with served(task_1_reader(), "handmade", {"plain": other}) as address:
        two = Page(page.browser, address).open(STORY, "Where was Mary?", view="beside")
        two.one("#other option:nth-child(2)").click()
        two.shows("#difference", "plain says")
        assert "other=plain" in two.browser.current_url
        sides = two.browser.find_elements(By.CSS_SELECTOR, ".pairs article .graph svg")
        assert len(sides) == 2
        assert two.texts("#other-side .arrow.dotted") == []


def test_what_is_shown_can_be_saved(page, tmp_path) -> None:
    where = {"behavior": "allow", "downloadPath": str(tmp_path)}
    page.browser.execute_cdp_cmd("Browser.setDownloadBehavior", where)
    page.open(STORY, "Where is Mary?")
    page.shows("#verdict", "office")
    for kind, name in (
        ("svg", "memory.svg"), ("png", "memory.png"), ("json", "trace.json"), ("babi", "story.txt"),
    ):  # fmt: skip
        page.one("#save summary").click()
        page.one(f"#save-{kind}").click()
        wait_until(page.browser, lambda name=name: (tmp_path / name).is_file())
    picture = (tmp_path / "memory.svg").read_text()
    assert picture.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert ">office<" in picture
    assert "var(" not in picture  # it needs no style sheet
    width, height = struct.unpack(">II", (tmp_path / "memory.png").read_bytes()[16:24])
    assert width > 1000
    assert height > 200
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert trace["question"]["answers"][0]["word"] == "office"
    (story,) = parse_told((tmp_path / "story.txt").read_text().splitlines(), name="story.txt")
    assert list(story.sentences) == STORY
    (question,) = story.questions
    assert (question.answer, question.after, question.supports) == ("office", 3, (2,))


def test_a_short_tour(page) -> None:
    page.open()
    page.shows("#verdict", "office")
    page.one("#tour").send_keys(Keys.ENTER)
    stops = []
    while page.one("#guide").is_displayed():
        assert page.browser.find_elements(By.CSS_SELECTOR, ".toured")
        stops.append(page.text("#guide h2"))
        box = page.one("#guide").rect
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 900
        page.browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert len(stops) == len(set(stops)) == 6
    assert page.browser.switch_to.active_element.get_attribute("id") == "tour"
    page.one("#tour").send_keys(Keys.ENTER)
    page.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not page.one("#guide").is_displayed()
