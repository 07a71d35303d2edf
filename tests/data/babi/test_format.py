import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpr_rnn.data.babi.format import format_story, parse_stories, read_plain_story, read_stories
from tpr_rnn.data.story import Question, Story
from tpr_rnn.errors import UserError

TWO_STORIES = """\
1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Mary got the milk there.
5 Where is the milk?\tbathroom\t4 1
1 Sandra went home.
2 Where is Sandra?\thome\t1
"""
PARSED = [
    Story(
        ("Mary moved to the bathroom.", "John went to the hallway.", "Mary got the milk there."),
        (
            Question("Where is Mary?", "bathroom", 2, (0,)),
            Question("Where is the milk?", "bathroom", 3, (2, 0)),
        ),
    ),
    Story(("Sandra went home.",), (Question("Where is Sandra?", "home", 1, (0,)),)),
]


def test_stories_questions_and_supports_are_read(tmp_path) -> None:
    path = tmp_path / "qa1_train.txt"
    path.write_text(TWO_STORIES)
    assert read_stories(path) == PARSED


@pytest.mark.parametrize(
    "content",
    [
        TWO_STORIES.replace("\n", "\r\n").encode(),
        TWO_STORIES.replace("\n", "   \n").encode(),
        TWO_STORIES.replace("\n", "\n\n").encode() + b"\n\n",
        b"\xef\xbb\xbf" + TWO_STORIES.encode(),
        TWO_STORIES.rstrip("\n").encode(),
    ],
    ids=["CRLF", "trailing spaces", "blank lines", "byte-order mark", "no final newline"],
)
def test_harmless_variations_are_accepted(content, tmp_path) -> None:
    path = tmp_path / "qa1_train.txt"
    path.write_bytes(content)
    assert read_stories(path) == PARSED


def test_the_first_line_of_a_file_has_the_number_1(tmp_path) -> None:
    path = tmp_path / "qa1_train.txt"
    path.write_text("2 Mary went home.\n")
    with pytest.raises(UserError, match="1: the line is numbered 2; expected 1, or 1 for a new"):
        read_stories(path)


def test_any_script_is_read(tmp_path) -> None:
    path = tmp_path / "qa1_train.txt"
    path.write_text("1 मैरी रसोई में गई।\n2 मैरी कहाँ है?\tरसोई\t1\n", encoding="utf-8")
    (story,) = read_stories(path)
    assert story.sentences == ("मैरी रसोई में गई।",)
    assert story.questions[0].answer == "रसोई"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Mary moved to the bathroom.", "starts with its number"),
        ("1\tMary moved.", "starts with its number"),
        ("4 John went to the hallway.", "expected 3, or 1 for a new story"),
        ("2 John went to the hallway.", "expected 3"),
        ("0 John went to the hallway.", "expected 3"),
        ("3 Where is Mary?", "question without a tab and an answer"),
        ("3 Where is Mary?\t", "question without a tab and an answer"),
        ("3 Where is Mary?    bathroom    1", "expected '3 Where is Mary\\?<TAB>answer"),
        ("3 Where is Mary?\t\t1", "no answer"),
        ("3 Where is Mary?\tbathroom\t7", "'7' points nowhere"),
        ("3 Where is Mary?\tbathroom\t3", "'3' points nowhere"),
        ("3 Where is Mary?\tbathroom\tone", "'one' points nowhere"),
        ("3 Where is Mary?\tbathroom\t-1", "'-1' points nowhere"),
        ("3 Where is Mary?\tbathroom\t1\t2", "two tabs at most"),
        ("3", "nothing stands after"),
        ("3 \tbathroom\t1", "without a question"),
    ],
)
def test_a_malformed_line_is_named_with_its_file_and_number(line, message, tmp_path) -> None:
    path = tmp_path / "qa1_train.txt"
    path.write_text("1 Mary moved to the bathroom.\n2 John went away.\n" + line + "\n")
    with pytest.raises(UserError, match=message) as error:
        read_stories(path)
    assert f"{path}:3:" in str(error.value)


def test_a_line_without_a_tab_is_a_sentence_even_with_a_question_mark() -> None:
    lines = ["1 Pallavi bhedia hai ?.", "2 Kya ?", "3 Pallavi kya hai ?\tbhedia\t1"]
    (story,) = parse_stories(lines, "hn")
    assert story.sentences == ("Pallavi bhedia hai ?.", "Kya ?")
    assert story.questions == (Question("Pallavi kya hai ?", "bhedia", 2, (0,)),)
    assert parse_stories(lines[:1], "hn")[0].sentences == ("Pallavi bhedia hai ?.",)


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        # A file whose tabs are gone, with and without answers and supports.
        (["1 Mary went home.", "2 Where is Mary?", "3 Who left? john"], "f:2"),
        (["1 Mary went home.", "2 Where is Mary? home"], "f:2"),
        # One line among others.
        (["1 A left.", "2 Who left?\ta\t1", "3 Where is Mary?  hall  1 2"], "f:3"),
    ],
)
def test_a_question_whose_tabs_are_gone_is_named(lines, place) -> None:
    with pytest.raises(UserError, match=f"{place}: a question without a tab and an answer"):
        parse_stories(lines, "f")


def test_a_support_may_not_be_a_question() -> None:
    lines = ["1 Mary went home.", "2 Where is Mary?\thome\t1", "3 Who is home?\tMary\t2"]
    with pytest.raises(UserError, match="f:3: the support '2' points nowhere"):
        parse_stories(lines, "f")


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path) -> None:
    path = tmp_path / "qa1_train.txt"
    path.write_bytes(b"1 Mary moved.\n2 J\xff.\n")
    with pytest.raises(UserError, match=r"qa1_train.txt:2: not UTF-8 \(byte 0xff\)"):
        read_stories(path)


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(UserError, match=r"qa1_train\.txt: cannot be read"):
        read_stories(tmp_path / "qa1_train.txt")


words = st.text(st.characters(categories=["L", "M"]), min_size=1, max_size=8)
sentences = st.lists(words, min_size=1, max_size=5).map(lambda ws: " ".join(ws) + ".")


@st.composite
def stories(draw):
    told = draw(st.lists(sentences, min_size=1, max_size=6))
    questions = []
    for after in sorted(draw(st.lists(st.integers(1, len(told)), max_size=4))):
        supports = draw(st.lists(st.integers(0, after - 1), max_size=3))
        questions.append(Question(draw(words) + "?", draw(words), after, tuple(supports)))
    return Story(tuple(told), tuple(questions))


@given(st.lists(stories(), max_size=4))
def test_what_is_written_is_read_back(told) -> None:
    text = "".join(map(format_story, told))
    assert parse_stories(text.split("\n"), "text") == told


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text) -> None:
    with contextlib.suppress(UserError):
        parse_stories(text.split("\n"), "text")


def test_a_story_to_ask_about_may_be_numbered_or_not(tmp_path) -> None:
    path = tmp_path / "story.txt"
    path.write_text("Mary went home.\n\nJohn left.\n")
    assert read_plain_story(path) == ["Mary went home.", "John left."]
    path.write_text("Mary went home. John left!  Really?! He left . .\nMr.X left\n")
    assert read_plain_story(path) == [
        "Mary went home.", "John left!", "Really?!", "He left . .", "Mr.X left"
    ]  # fmt: skip
    path.write_text("1 Mary went home.\n2 Where is Mary?\thome\t1\n3 John left.\n")
    assert read_plain_story(path) == ["Mary went home.", "John left."]
    path.write_text("1 Mary went home. John left.\n")  # what is numbered stays as it is
    assert read_plain_story(path) == ["Mary went home. John left."]
    path.write_text(TWO_STORIES)
    with pytest.raises(UserError, match="holds 2 stories"):
        read_plain_story(path)
    path.write_text("\n")
    with pytest.raises(UserError, match="empty story"):
        read_plain_story(path)
