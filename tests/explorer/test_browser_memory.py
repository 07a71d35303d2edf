"""The views of the memory and of the answer in a real Chromium."""

import pytest
import torch
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from analysis.handmade import GAIN, task_1_reader
from explorer.browser import chromium, needs_chromium, served
from explorer.page import Page
from tpr_rnn.memory import OPERATIONS, SPECS

pytestmark = needs_chromium
# What lies upon another, or beyond the picture: numbers and boxes; names beyond their boxes.
CLASHES = """
  const picture = document.querySelector('#graph svg');
  const box = (one) => one.getBoundingClientRect();
  const all = [...picture.querySelectorAll('.label, .node > rect')];
  const within = (inner, outer) => inner.left >= outer.left - 1 && inner.right <= outer.right + 1
    && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
  const meet = (one, other) => one.left < other.right - 1 && other.left < one.right - 1
    && one.top < other.bottom - 1 && other.top < one.bottom - 1;
  const say = (one) => one.textContent || one.nextSibling.textContent;
  return [
    ...all.filter((one) => !within(box(one), box(picture))).map((one) => say(one) + ' is cut'),
    ...[...picture.querySelectorAll('.node > text')]
      .filter((text) => !within(box(text), box(text.previousSibling)))
      .map((text) => say(text) + ' is wider than its box'),
    ...all.flatMap((one, place) => all.slice(place + 1)
      .filter((other) => meet(box(one), box(other)))
      .map((other) => say(one) + ' upon ' + say(other))),
  ];
"""
STORY = ["Mary went to the kitchen.", "John went to the garden.", "Mary went to the office."]


def test_the_slider_shows_the_memory_after_each_sentence(page) -> None:
    page.open(STORY, "Where is Mary?")
    page.becomes(lambda: page.texts(".node.found text"))
    assert page.one("#graph svg.answering .strong")
    slider = page.labelled("Sentences read so far")
    slider.send_keys(Keys.HOME)
    page.shows("#moment", "the memory is empty")
    assert page.texts("#graph .arrow") == []
    slider.send_keys(Keys.ARROW_RIGHT)
    page.shows("#moment", "1. Mary went to the kitchen.")
    page.shows("#moment", "Asked now, the answer is “kitchen”")
    page.one("#numbers summary").click()
    page.shows("#changes", "write at mary: − nothing + kitchen 100%")
    assert "at=1" in page.browser.current_url
    page.labelled("Question").send_keys(Keys.CONTROL, "a")
    page.labelled("Question").send_keys(Keys.DELETE)  # with a question the end shows its path
    slider.send_keys(Keys.END)
    page.shows("#changes", "write at mary: − kitchen 100% + office 100%")
    page.becomes(lambda: page.texts("#graph .arrow.removed title"))
    assert {title.split(":")[0] for title in page.texts("#graph .arrow.removed title")} == {
        "mary → kitchen"
    }
    assert "mary → office" in {t.split(":")[0] for t in page.texts("#graph .arrow.added title")}
    page.labelled("Watch the memory after sentence 2").click()
    page.shows("#moment", "2. John went to the garden.")


def test_the_path_of_the_question_is_drawn_from_box_to_box(page) -> None:
    page.open(STORY, "Where is Mary?")
    page.shows("#moment", "? mary → 1 office → 2 nothing → 3 nothing")
    assert page.texts(".node .step text") == ["?", "1"]
    assert len(page.texts("#graph path.path")) == 1
    page.labelled("One sentence back").click()
    page.becomes(lambda: page.texts("#graph path.path") == [])


def test_a_mixture_is_in_no_box_and_an_opposite_is_told_in_its_step(page) -> None:
    reader = task_1_reader()
    number, inference = reader.vocabulary.number, reader.model.inference
    with torch.no_grad():  # "is" asks without two others, "was" for less than nothing
        for other in (1, 2):
            inference.entity_weight[0, number("is"), other] = -2 * GAIN
        inference.relation_weight[0, number("was"), 1] = -GAIN
    with served(reader, "mixed") as address:
        mixed = Page(page.browser, address)
        mixed.open([*STORY, "Sandra went to the bedroom."], "Where is Mary?")
        mixed.shows("#moment", "- office (a mixture) → 2 nothing")
        assert "(in no box) → 1 - " not in mixed.text("#moment")  # the first has no sign
        assert mixed.texts(".node .step text") == []
        assert mixed.texts("#graph path.path") == []
        mixed.open(STORY, "Where was Mary?")
        mixed.shows("#moment", "? mary → 1 kitchen →")
        assert mixed.texts(".node .step text") == ["?", "1"]
        mixed.one("#tab-path").click()
        mixed.shows("#steps", "kitchen (with a minus)")


def test_what_does_not_fit_into_the_table_can_be_scrolled_to(page) -> None:
    people = ("Mary", "John", "Sandra", "Daniel")
    places = ("kitchen", "garden", "office", "hallway", "bedroom", "bathroom", "garden", "office")
    page.open(
        [f"{who} went to the {where}." for who, where in zip(people * 2, places, strict=True)]
    )
    page.one("#numbers summary").click()
    page.shows("#count", "14 arrows")
    region = page.one(".scroll")
    hidden = "return arguments[0].scrollHeight - arguments[0].clientHeight"
    assert page.browser.execute_script(hidden, region) > 0
    region.send_keys(Keys.END)
    top = "return arguments[0].scrollTop"
    page.becomes(lambda: page.browser.execute_script(top, region) > 0)
    heading = page.one(".scroll th")
    assert abs(heading.rect["y"] - region.rect["y"]) < 1  # still there
    assert "Kept: 100% is what one sentence stores" in page.text("#memory")


def test_an_entity_without_a_name_is_explained(page) -> None:
    page.open(STORY)
    page.one("#numbers summary").click()
    page.shows("#held", "office")
    assert not page.one("#nameless").is_displayed()
    page.open(["Mary went to the."])
    page.becomes(lambda: any("[e2" in text for text in page.texts(".node text")))
    page.one("#numbers summary").click()
    assert page.one("#nameless").is_displayed()


@pytest.mark.parametrize(("width", "sentences"), [(1280, 12), (1280, 60), (375, 12), (375, 60)])
def test_no_name_or_number_is_cut_or_lies_upon_another(address, width, sentences) -> None:
    people = ("Mary", "John", "Sandra", "Daniel")
    places = ("kitchen", "garden", "office", "hallway", "bedroom", "bathroom")
    told = [f"{people[n % 4]} went to the {places[n * n % 6]}." for n in range(sentences)]
    with chromium(width, 800) as browser:
        page = Page(browser, address).open(told, "Where is Mary?")
        page.becomes(lambda: page.texts("#graph .node.found"))
        for count in (sentences, sentences - 1):
            page.browser.execute_script(
                "const slider = document.getElementById('slider'); slider.value = arguments[0];"
                "slider.dispatchEvent(new Event('input'))",
                count,
            )
            page.becomes(lambda: page.texts("#graph .label"))
            assert browser.execute_script(CLASHES) == []


def test_nodes_keep_their_places(page) -> None:
    page.open(STORY)
    page.becomes(lambda: page.texts(".node"))
    places = "return [...document.querySelectorAll('.node')].map((one) => one.style.transform)"
    before = page.browser.execute_script(places)
    page.labelled("One sentence back").click()
    page.shows("#moment", "2. John")
    assert page.browser.execute_script(places) == before


def test_why_this_answer(page) -> None:
    page.open(STORY, "Where is Mary?")
    page.shows("#short", 'Mary went to the office 3: "office".')
    page.labelled("Views").find_element(By.ID, "tab-memory").send_keys(Keys.ARROW_RIGHT)
    page.shows("#steps", "From mary the memory leads to office.")
    page.shows("#conclusions", 'Without sentence 3 it would be "kitchen".')
    page.one(".sources button").click()
    page.becomes(lambda: page.said().get("view") is None)
    page.shows("#moment", "? mary")


def test_operations_have_the_titles_and_colours_of_the_table(page) -> None:
    page.open(STORY, "Where is Mary?", view="beside")
    page.shows("#difference", "answer")
    used = {name: SPECS[name] for name in OPERATIONS}
    for name, spec in used.items():
        seen = page.browser.execute_script(
            "const one = document.querySelector(arguments[0]);"
            "return [one.innerText, getComputedStyle(one).color]",
            f"#operations .{name} b",
        )
        rgb = ", ".join(str(int(spec.colour[at : at + 2], 16)) for at in (1, 3, 5))
        assert seen == [spec.title, f"rgb({rgb})"]
    dash = "return getComputedStyle(document.querySelector(arguments[0])).strokeDasharray"
    styles = {
        spec.line: page.browser.execute_script(dash, f"#legend .{name} .line")
        for name, spec in used.items()
    }
    assert len(set(styles.values())) == len(styles) == 3
