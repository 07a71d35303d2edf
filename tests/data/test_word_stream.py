"""Word streams against a plain loop over stories, sentences and words."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tpr_rnn.data.batches import Batch, StoryGroup, make_batch
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.simulator import tell
from tpr_rnn.data.story import Question, Story
from tpr_rnn.data.word_stream import WordStream, word_stream

text = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4).map(" ".join)


@st.composite
def told(draw: st.DrawFn) -> Story:
    sentences = draw(st.lists(text, max_size=5))
    places = draw(st.lists(st.integers(0, len(sentences)), min_size=1, max_size=5))
    return Story(
        tuple(sentences), tuple(Question(draw(text), "a", place) for place in sorted(places))
    )


def by_a_loop(batch: Batch, group: StoryGroup) -> WordStream:
    rows, asked_rows, at = [], [], torch.zeros_like(group.about)
    for story, length in enumerate(group.lengths.tolist()):
        row: list[int] = []
        asked: list[bool] = []
        for time in range(length + 1):
            for question in range(len(group.about)):
                if (group.about[question], group.position[question]) == (story, time):
                    words = batch.questions[group.question[question]]
                    row += words[words > 0].tolist()
                    asked += [True] * int((words > 0).sum())
                    at[question] = len(row) - 1
            if time < length:
                words = batch.sentences[group.story[story, time]]
                row += words[words > 0].tolist()
                asked += [False] * int((words > 0).sum())
        rows.append(row)
        asked_rows.append(asked)
    lengths = [len(row) for row in rows]
    words = torch.zeros(len(rows), max(lengths, default=0), dtype=torch.int64)
    asked_words = torch.zeros_like(words, dtype=torch.bool)
    for number, row in enumerate(rows):
        words[number, : len(row)] = torch.tensor(row)
        asked_words[number, : len(row)] = torch.tensor(asked_rows[number], dtype=torch.bool)
    return WordStream(
        words,
        torch.tensor(lengths),
        group.about,
        at,
        asked=asked_words,
        told=(words > 0) & ~asked_words,
    )


def assert_same(one: WordStream, other: WordStream) -> None:
    for name, part in one._asdict().items():
        assert torch.equal(part, getattr(other, name)), name


@given(
    st.lists(told(), min_size=1, max_size=5),
    st.randoms(use_true_random=False),
    st.integers(1, 3),
    st.sampled_from([None, 1, 2, 70]),
)
@settings(max_examples=60, deadline=None)
def test_words_and_places_are_those_of_a_plain_loop(stories, random, groups, limit) -> None:
    cap = None if limit is None else {"1": limit}
    data = encode({"1": stories}, build_vocabulary(stories), longest_sentence(stories), cap)
    chosen = list(range(len(data)))
    random.shuffle(chosen)
    batch = make_batch(data, np.array(chosen[: random.randint(1, len(chosen))]), groups)
    for group in batch.groups:
        assert_same(word_stream(batch, group), by_a_loop(batch, group))
        own = group.for_each_question()
        assert_same(word_stream(batch, own), by_a_loop(batch, own))


@pytest.mark.parametrize("task", ["3", "5", "19"])
def test_a_story_reads_as_it_is_told(task) -> None:
    stories = [tell(task, seed=seed) for seed in range(3)]
    vocabulary = build_vocabulary(stories)
    data = encode({task: stories}, vocabulary, longest_sentence(stories))
    batch = make_batch(data, np.arange(len(data)))
    stream = word_stream(batch, batch.groups[0])
    assert_same(stream, by_a_loop(batch, batch.groups[0]))
    row = " ".join(vocabulary.words[word] for word in stream.words[0] if word)
    first = stories[0].questions[0]
    opening = [*stories[0].sentences[: first.after], first.text]
    assert row.startswith(" ".join(opening).lower().replace(".", " .").replace("?", " ?"))


def test_a_batch_without_questions_is_an_empty_stream() -> None:
    none = torch.zeros(0, dtype=torch.int64)
    group = StoryGroup(none.view(0, 0), none, none, none, none)
    batch = Batch(none.view(0, 3), none.view(0, 3), (group,), none, none)
    assert word_stream(batch, group).words.shape == (0, 0)
