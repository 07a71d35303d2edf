import numpy as np
import pytest
import torch

from tpr_rnn.data.batches import (
    bucketed_batches,
    count_stories,
    epoch_order,
    evaluation_batches,
    make_batch,
    story_batches,
    task_shares,
)
from tpr_rnn.data.encoding import (
    UNKNOWN_ANSWER,
    build_vocabulary,
    encode,
    longest_sentence,
)
from tpr_rnn.data.story import Question, Story
from tpr_rnn.data.vocabulary import PADDING, Vocabulary, tokenize
from tpr_rnn.data.word_stream import word_stream
from tpr_rnn.errors import UserError

STORIES = [
    Story(
        ("Mary went home.", "John left.", "Mary went home."),
        (Question("Where is Mary?", "home", 1), Question("Where is John?", "apple,milk", 3)),
    ),
    Story(("John left.",), (Question("Where is John?", "home", 1),)),
]


@pytest.fixture
def encoded():
    vocabulary = build_vocabulary(STORIES)
    return encode({"1": STORIES[:1], "7": STORIES[1:]}, vocabulary, longest_sentence(STORIES))


def test_words_are_lower_case_and_punctuation_is_a_word() -> None:
    assert tokenize("Mary went  home.") == ("mary", "went", "home", ".")
    assert tokenize("Where's Mary ? ") == ("where's", "mary", "?")
    assert tokenize("मैरी रसोई में गई।") == ("मैरी", "रसोई", "में", "गई", "।")


def test_the_vocabulary_is_sorted_and_padding_is_number_0() -> None:
    vocabulary = build_vocabulary(STORIES)
    assert vocabulary.words[0] == PADDING
    assert list(vocabulary.words[1:]) == sorted(vocabulary.words[1:])
    assert "apple,milk" in vocabulary
    assert vocabulary == Vocabulary(reversed(vocabulary.words))


def test_an_unknown_word_is_named_with_the_nearest_known() -> None:
    vocabulary = Vocabulary(["kitchen", "garden", "mary", "."])
    with pytest.raises(UserError, match=r"never seen the word 'kichen' \(did you mean kitchen\?\)"):
        vocabulary.number("kichen")
    assert vocabulary.complaint(["xyzzy"]) == "the model has never seen the word 'xyzzy'"
    assert vocabulary.unknown(["mary", "bill", "bill"]) == ["bill"]


def test_each_different_sentence_stands_once_in_the_table(encoded) -> None:
    vocabulary = build_vocabulary(STORIES)
    assert len(encoded.sentences) == 3  # blank, 'mary went home .', 'john left .'
    assert not encoded.sentences[0].any()
    words = [vocabulary.words[number] for number in encoded.sentences[1] if number]
    assert words == ["mary", "went", "home", "."]
    assert encoded.told.tolist() == [1, 2, 1, 2]
    assert encoded.start.tolist() == [0, 0, 3]
    assert encoded.length.tolist() == [1, 3, 1]
    assert encoded.task.tolist() == [0, 0, 1]
    assert encoded.task_names == ("1", "7")


def test_the_cap_keeps_the_last_sentences() -> None:
    vocabulary = build_vocabulary(STORIES)
    caps = {"1": 2, "3": 1}
    usual = encode({"1": STORIES[:1]}, vocabulary, 4, caps)
    assert (usual.start.tolist(), usual.length.tolist()) == ([0, 1], [1, 2])
    third = encode({"3": STORIES[:1]}, vocabulary, 4, caps)
    assert (third.start.tolist(), third.length.tolist()) == ([0, 2], [1, 1])
    whole = encode({"kitchen": STORIES[:1]}, vocabulary, 4, caps)
    assert whole.length.tolist() == [1, 3]


def test_a_sentence_that_is_too_long_is_an_error() -> None:
    with pytest.raises(UserError, match=r"'mary went home .' has 4 words .* at most 3"):
        encode({"1": STORIES}, build_vocabulary(STORIES), 3)


def test_an_answer_that_no_model_of_the_vocabulary_can_give_is_unknown() -> None:
    others = [Story(("John left.",), (Question("Where is John?", "Atlantis", 1),))]
    assert encode({"1": others}, build_vocabulary(STORIES), 4).answer.tolist() == [UNKNOWN_ANSWER]


@pytest.mark.parametrize("groups", [1, 2, 3, 7])
def test_a_batch_tells_the_stories_that_were_chosen(encoded, groups) -> None:
    chosen = np.array([1, 0, 2])
    batch = make_batch(encoded, chosen, groups)
    seen = []
    row = 0
    for group in batch.groups:
        assert group.story.shape[1] == group.lengths.max()
        asked_about = zip(group.about, group.position, group.question, strict=True)
        for story, position, question in asked_about:
            told = [tuple(batch.sentences[i].tolist()) for i in group.story[story, :position]]
            asked = tuple(batch.questions[question].tolist())
            seen.append((told, asked, batch.answer[row].item(), batch.task[row].item()))
            row += 1
    expected = []
    for n in chosen:
        told = encoded.told[encoded.start[n] : encoded.start[n] + encoded.length[n]]
        expected.append(
            (
                [tuple(encoded.sentences[i].tolist()) for i in told],
                tuple(encoded.questions[encoded.question[n]].tolist()),
                encoded.answer[n],
                encoded.task[n],
            )
        )
    assert sorted(seen) == sorted(expected)
    rows = sum(len(group.story) for group in batch.groups)
    assert rows == len({int(encoded.start[n]) for n in chosen}) == 2  # each story once


def test_a_question_that_begins_elsewhere_has_a_row_of_its_own() -> None:
    vocabulary = build_vocabulary(STORIES)
    capped = encode({"1": STORIES[:1]}, vocabulary, 4, {"1": 2})
    (group,) = make_batch(capped, np.arange(2)).groups
    assert len(group.story) == 2
    whole = encode({"1": STORIES[:1]}, vocabulary, 4)
    (group,) = make_batch(whole, np.arange(2)).groups
    assert len(group.story) == 1
    assert (group.about.tolist(), group.position.tolist()) == ([0, 0], [1, 3])


def test_an_empty_story_shares_the_row_of_the_next_one_and_reads_nothing_of_it() -> None:
    empty = Story((), (Question("Where is Mary?", "home", 0),))
    data = encode({"1": [empty, *STORIES]}, build_vocabulary(STORIES), 4)
    (group,) = make_batch(data, np.arange(len(data))).groups
    assert group.position[0] == 0


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_evaluation_reads_each_story_once(size) -> None:
    data = encode({"1": STORIES * 5, "7": STORIES[1:] * 3}, build_vocabulary(STORIES), 4)
    batches = list(evaluation_batches(data, size))
    rows = sum(len(group.story) for batch in batches for group in batch.groups)
    assert rows == len(set(data.start.tolist())) == 13
    answers = torch.cat([batch.answer for batch in batches])
    assert sorted(answers.tolist()) == sorted(data.answer.tolist())


def test_the_order_of_an_epoch_depends_on_seed_and_epoch_alone(encoded) -> None:
    big = encode({"1": STORIES * 50}, build_vocabulary(STORIES), 4)
    first = epoch_order(big, seed=3, epoch=0)
    assert sorted(first) == list(range(150))
    assert (first == epoch_order(big, seed=3, epoch=0)).all()
    assert (first != epoch_order(big, seed=3, epoch=1)).any()
    assert (first != epoch_order(big, seed=4, epoch=0)).any()
    same_story = big.start[first][1:] == big.start[first][:-1]
    assert same_story.sum() == 50  # the two questions of each first story stand together


def test_a_task_gets_its_share_of_an_epoch() -> None:
    big = encode({"1": STORIES * 50, "2": STORIES * 50}, build_vocabulary(STORIES), 4)
    order = epoch_order(big, seed=3, epoch=0, shares={"1": 0.25, "2": 0.75})
    times = np.bincount(order, minlength=300)
    assert len(order) == 300
    assert times[:150].sum() == 75
    assert set(times[:150]) == {0, 1}  # some are left out
    assert times[150:].sum() == 225
    assert set(times[150:]) == {1, 2}  # some come again
    assert (order[:150] >= 150).any()
    assert (order[:150] < 150).any()  # the tasks are mixed
    assert (order == epoch_order(big, seed=3, epoch=0, shares={"1": 0.25, "2": 0.75})).all()
    assert (order != epoch_order(big, seed=3, epoch=1, shares={"1": 0.25, "2": 0.75})).any()
    assert not len(epoch_order(big, seed=0, epoch=0, shares={"1": 0.0, "2": 0.0}))


def many_lengths(stories: int = 300):
    """Stories of 1 to 12 sentences, each with up to 4 questions."""
    random = np.random.default_rng(0)
    told = []
    for length in random.integers(1, 13, stories).tolist():
        places = sorted(random.integers(1, length + 1, random.integers(1, 5)).tolist())
        questions = tuple(Question("Where is Mary?", "home", place) for place in places)
        told.append(Story(("Mary went home.",) * length, questions))
    return encode({"1": told[:100], "2": told[100:]}, build_vocabulary(told), 4)


@pytest.mark.parametrize("batch_size", [8, 50, 100_000])
def test_bucketed_batches_hold_each_story_whole_and_once(batch_size) -> None:
    data = many_lengths()
    batches = bucketed_batches(data, 3, 0, batch_size=batch_size, pool=4)
    assert len(batches) == -(-len(data) // batch_size)
    assert sorted(np.concatenate(batches)) == list(range(len(data)))
    stories = [set(data.start[batch].tolist()) for batch in batches]
    assert sum(map(len, stories)) == 300  # none is cut
    assert max(map(len, batches)) < batch_size + 4


def test_bucketed_batches_hold_stories_of_similar_length_in_random_order() -> None:
    data = many_lengths()

    def padding(batches) -> float:
        made = [make_batch(data, batch) for batch in batches]
        read = [word_stream(batch, batch.groups[0]) for batch in made]
        words = sum(int(stream.lengths.sum()) for stream in read)
        return 1 - words / sum(stream.words.numel() for stream in read)

    plain = epoch_order(data, 3, 0)
    assert padding(np.split(plain, range(40, len(plain), 40))) > 0.3
    bucketed = bucketed_batches(data, 3, 0, batch_size=40, pool=1000)
    assert padding(bucketed) < 0.1
    longest = [data.length[batch].max() for batch in bucketed]
    assert longest != sorted(longest)


def test_batches_of_stories_have_so_many_with_all_their_questions() -> None:
    data = many_lengths()
    assert count_stories(data) == 300
    batches = story_batches(data, 3, 0, stories=7)
    assert [len(set(data.start[batch].tolist())) for batch in batches] == [7] * 42 + [6]
    assert sorted(np.concatenate(batches)) == list(range(len(data)))
    order = epoch_order(data, 3, 0)
    assert np.concatenate(batches).tolist() == order.tolist()


def test_bucketed_batches_depend_on_seed_and_epoch_alone() -> None:
    data = many_lengths()

    def drawn(seed: int, epoch: int) -> list[list[int]]:
        batches = bucketed_batches(data, seed, epoch, batch_size=40, pool=4)
        return [batch.tolist() for batch in batches]

    assert drawn(3, 1) == drawn(3, 1)
    assert drawn(3, 1) != drawn(3, 2)
    assert drawn(3, 1) != drawn(4, 1)


def test_a_story_drawn_twice_into_a_batch_is_read_once() -> None:
    data = many_lengths()
    shares = {"1": 0.9, "2": 0.1}
    batches = bucketed_batches(data, 0, 0, batch_size=200, pool=4, shares=shares)
    for batch in batches:
        assert len(set(batch.tolist())) == len(batch)
    assert (np.bincount(np.concatenate(batches), minlength=len(data)) > 1).any()


def test_a_batch_of_whole_stories_has_room_for_two() -> None:
    with pytest.raises(
        UserError, match="up to 4 questions needs a batch_size of at least 8, not 7"
    ):
        bucketed_batches(many_lengths(), 0, 0, batch_size=7, pool=4)


def test_shares_go_by_questions_and_by_errors() -> None:
    data = encode({"1": STORIES * 30, "2": STORIES * 10}, build_vocabulary(STORIES), 4)
    assert task_shares(data, {"1": 10.0, "2": 30.0}, error_weighted_share=0.0) == {
        "1": 0.75,
        "2": 0.25,
    }
    assert task_shares(data, {"1": 10.0, "2": 30.0}, error_weighted_share=1.0) == {
        "1": 0.25,
        "2": 0.75,
    }
    assert task_shares(data, {"1": 10.0, "2": 30.0}, error_weighted_share=0.5) == {
        "1": 0.5,
        "2": 0.5,
    }
    assert task_shares(data, {"2": 3.0}, error_weighted_share=0.5) == {"1": 0.375, "2": 0.625}
    assert task_shares(data, {"1": 0.0, "2": 0.0}, error_weighted_share=0.5) == {
        "1": 0.75,
        "2": 0.25,
    }
    assert task_shares(data, {}, error_weighted_share=1.0) == {"1": 0.75, "2": 0.25}


def test_evaluation_sees_every_question_once() -> None:
    big = encode({"1": STORIES * 50}, build_vocabulary(STORIES), 4)
    batches = list(evaluation_batches(big, size=64))
    assert [len(batch.answer) for batch in batches] == [64, 64, 22]
    answers = sorted(answer for batch in batches for answer in batch.answer.tolist())
    assert answers == sorted(big.answer.tolist())
