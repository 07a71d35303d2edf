from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tpr_rnn.analysis.trace import trace
from tpr_rnn.data.simulator.wide.words import SLOTS as EACH
from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.errors import UserError
from tpr_rnn.models import TPRRNN, TPRRNNConfig
from tpr_rnn.models.new_words import SLOTS
from tpr_rnn.models.reader import Reader

KNOWN = (
    *("mary", "milk", "kitchen", "went", "to", "the", "took", "gave", "is", "where", "in", "of"),
    *("north", "what", "unknown", ".", "?"),
)


@pytest.fixture
def reader() -> Reader:
    """A model with slots; nothing that it has learned matters here."""
    vocabulary = Vocabulary([*KNOWN, *(slot for slots in SLOTS.values() for slot in slots)])
    config = TPRRNNConfig(vocabulary_size=len(vocabulary), max_words=9, hidden_size=4)
    return Reader(TPRRNN(config, generator=torch.Generator().manual_seed(0)), vocabulary)


STORY = ["Alice went to the library.", "Alice took the lantern.", "Alice gave the lantern to Bob."]


def kinds_of(reader: Reader, *texts: str, **kinds: str) -> dict[str, str]:
    return {new.word: new.kind for new in reader.for_words(texts, kinds).new_words}


def test_a_new_word_is_of_the_kind_that_its_sentences_ask_for(reader: Reader) -> None:
    expected = {"alice": "name", "library": "place", "lantern": "thing", "bob": "name"}
    assert kinds_of(reader, *STORY) == expected
    assert kinds_of(reader, *STORY, "Where is the lantern?", "Where is Bob?") == expected
    assert kinds_of(reader, "The attic is north of the cellar.") == {
        "attic": "place",
        "cellar": "place",
    }


def test_what_was_told_first_says_what_a_word_is(reader: Reader) -> None:
    assert kinds_of(reader, STORY[0], "Where is the library?")["library"] == "place"


def test_a_place_that_no_known_sentence_has_says_nothing_of_a_word(reader: Reader) -> None:
    assert kinds_of(reader, STORY[1], "Who ate the lantern?")["lantern"] == "thing"
    with pytest.raises(UserError, match=r"never seen the words 'who'.* 'ate'"):
        reader.answer(STORY[1:2], "Who ate the lantern?")


def test_somebody_can_say_what_a_word_is(reader: Reader) -> None:
    assert kinds_of(reader, *STORY, library="thing")["library"] == "thing"
    with pytest.raises(UserError, match="'library' can be a name, thing, place, not 'verb'"):
        kinds_of(reader, *STORY, library="verb")


def test_new_words_are_read_as_slots_and_answered_as_themselves(reader: Reader) -> None:
    slots = {"Alice": "name-1", "library": "place-1", "lantern": "thing-1", "Bob": "name-2"}
    told = list(STORY)
    for word, slot in slots.items():
        told = [text.replace(word, slot) for text in told]
    back = {slot: word.lower() for word, slot in slots.items()}
    expected = [
        (back.get(answer.word, answer.word), answer.probability)
        for answer in reader.answer(told, "Where is name-1?", top=30)
    ]
    assert [tuple(answer) for answer in reader.answer(STORY, "Where is Alice?", top=30)] == expected


def test_a_trace_speaks_of_new_words_by_their_own_name(reader: Reader) -> None:
    found = trace(reader, STORY, "Where is Alice?", top=40)
    assert found.sentences[0].tokens == ("alice", "went", "to", "the", "library", ".")
    assert found.question is not None
    answers = {answer.word for answer in found.question.answers}
    assert "name-1" not in answers


def test_a_known_word_beside_new_ones_keeps_its_meaning(reader: Reader) -> None:
    adapted = reader.for_words(["Mary went to the library."])
    assert [str(new) for new in adapted.new_words] == ["library: a place, like kitchen"]
    assert adapted.vocabulary.number("mary") == reader.vocabulary.number("mary")
    assert "library" not in reader.vocabulary


def test_a_slot_that_the_story_itself_names_is_not_taken(reader: Reader) -> None:
    adapted = reader.for_words(["Name-1 went to the kitchen.", "Alice went to the kitchen."])
    assert [new.slot for new in adapted.new_words] == ["name-2"]


def test_twenty_new_words_fit_and_one_more_is_too_many(reader: Reader) -> None:
    story = [f"Mary went to the hall{number}." for number in range(EACH)]
    assert len(reader.for_words(story).new_words) == EACH
    with pytest.raises(UserError, match="a story can have 20 new places, and 'cellar' is one more"):
        reader.for_words([*story, "Mary went to the cellar."])


@pytest.mark.parametrize("text", ["Mary slept.", "Mary flew to the kitchen.", "Quickly Mary went."])
def test_what_is_no_noun_is_not_taken_for_one(reader: Reader, text: str) -> None:
    with pytest.raises(UserError, match="the model has never seen the word"):
        reader.answer([text], "Where is Mary?")


def test_a_model_without_slots_knows_no_more_words_than_before() -> None:
    config = TPRRNNConfig(vocabulary_size=len(KNOWN) + 1, max_words=9, hidden_size=4)
    reader = Reader(TPRRNN(config), Vocabulary(KNOWN))
    assert not reader.takes_new_words
    with pytest.raises(UserError, match=r"never seen the words 'alice'.* 'library'"):
        reader.answer(STORY[:1], "Where is Alice?")
    with pytest.raises(UserError, match="takes no new words"):
        reader.check_kinds({"library": "place"})


def test_what_the_story_never_mentions_is_named(reader: Reader) -> None:
    assert reader.not_told(STORY, "Where is Mary?") == ["mary"]
    assert reader.not_told(STORY, "Where is Carol?") == ["carol"]
    assert reader.not_told(STORY, "Is Alice in the library?") == []


def test_doubt_is_kept_with_the_model(reader: Reader, tmp_path: Path) -> None:
    replace(reader, temperature=3.0).save(tmp_path / "model.safetensors")
    doubting = Reader.load(tmp_path)
    logits = torch.tensor([9.0, 3.0, 6.0])  # the first one is the padding, which is no word
    torch.testing.assert_close(doubting.probabilities(logits)[1:], (logits[1:] / 3).softmax(dim=0))
    torch.testing.assert_close(reader.probabilities(logits)[1:], logits[1:].softmax(dim=0))
    assert reader.probabilities(logits)[0] == 0


def test_being_told_what_a_word_is_must_change_something(reader: Reader) -> None:
    reader.check_kinds({"alice": "name"})
    reader.check_kinds({})
    with pytest.raises(UserError, match="the model knows 'went'"):
        reader.check_kinds({"went": "thing"})
