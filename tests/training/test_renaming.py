"""Stories told of others: same answers, other words, drawn from seed and step."""

import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from tpr_rnn.data.batches import Batch, epoch_order, make_batch
from tpr_rnn.data.encoding import Encoded, build_vocabulary, encode, longest_sentence
from tpr_rnn.data.registry import BUILT_IN
from tpr_rnn.data.simulator import generate
from tpr_rnn.data.simulator.wide import WIDE_TASKS
from tpr_rnn.data.story import Question, Story
from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.errors import UserError
from tpr_rnn.models import TPRRNNConfig
from tpr_rnn.training.recipe import Recipe
from tpr_rnn.training.renaming import Renaming
from tpr_rnn.training.run import train
from tpr_rnn.training.trainer import Trainer

KINDS = BUILT_IN.interchangeable.kinds
KEPT = BUILT_IN.interchangeable.kept
PERMUTED = ("men", "places", "things")


def encoded(stories: Mapping[str, Sequence[Story]]) -> tuple[Vocabulary, Encoded]:
    told = [story for each in stories.values() for story in each]
    vocabulary = build_vocabulary(told)
    return vocabulary, encode(stories, vocabulary, longest_sentence(told), kept=KEPT)


@cache
def generated(*tasks: str, questions: int = 60) -> dict[str, list[Story]]:
    return {task: generate(task, questions=questions, seed=0)["train"] for task in tasks}


def told(batch: Batch, vocabulary: Vocabulary) -> list[tuple[str, ...]]:
    """The sentences before each question, the question and the answer, as text."""

    def text(rows: torch.Tensor) -> str:
        return " ".join(vocabulary.words[word] for word in rows.tolist() if word)

    lines = []
    for group in batch.groups:
        for about, position, question in zip(
            group.about, group.position, group.question, strict=True
        ):
            story = group.story[about][:position]
            lines.append((*map(text, batch.sentences[story]), text(batch.questions[question])))
    answers = [vocabulary.words[answer] for answer in batch.answer.tolist()]
    return [(*line, answer) for line, answer in zip(lines, answers, strict=True)]


def in_other_words(
    lines: list[tuple[str, ...]], table: np.ndarray, vocabulary: Vocabulary
) -> list[tuple[str, ...]]:
    other = {old: vocabulary.words[new] for old, new in zip(vocabulary.words, table, strict=True)}
    return [
        tuple(" ".join(other[word] for word in text.split()) for text in line) for line in lines
    ]


def test_words_of_a_kind_change_places_in_stories_questions_and_answers_alike() -> None:
    vocabulary, data = encoded(generated("1", "7", "8"))
    table = Renaming.of(KINDS, vocabulary, data).draw(np.random.default_rng(1))
    chosen = np.arange(len(data))
    for groups in (1, 3):
        plain, renamed = (
            told(make_batch(data, chosen, groups, words), vocabulary) for words in (None, table)
        )
        assert renamed == in_other_words(plain, table[0], vocabulary)
        assert renamed != plain


def test_each_word_gives_way_to_one_of_its_kind_and_all_others_stay() -> None:
    vocabulary, data = encoded(generated("1", "5", "10"))
    renaming = Renaming.of(KINDS, vocabulary, data)
    (table,) = renaming.draw(np.random.default_rng(0))
    assert sorted(table.tolist()) == list(range(len(vocabulary)))
    kind_of = {word.lower(): kind for kind, words in KINDS.items() for word in words}
    for old, new in zip(vocabulary.words, table.tolist(), strict=True):
        assert kind_of.get(old, old) == kind_of.get(vocabulary.words[new], vocabulary.words[new])
    tables = [renaming.draw(np.random.default_rng(seed)) for seed in range(200)]
    mary, names = vocabulary.number("mary"), {"mary", "sandra", "julie"}
    assert {vocabulary.words[table[0, mary]] for table in tables} == names


def test_a_list_of_words_is_another_list() -> None:
    things = ("apple", "football", "milk")
    lists = [",".join(few) for n in (1, 2, 3) for few in itertools.permutations(things, n)]
    asked = tuple(Question("What is Mary carrying?", each, 1) for each in lists)
    vocabulary, data = encoded({"8": [Story(("Mary got it.",), asked)]})
    renaming = Renaming.of(KINDS, vocabulary, data)
    found = set()
    for seed in range(10):
        (table,) = renaming.draw(np.random.default_rng(seed))
        other = dict(zip(vocabulary.words, map(vocabulary.words.__getitem__, table), strict=True))
        found.add(other["apple"])
        for word in vocabulary.words:
            if "," in word[1:-1]:
                assert other[word] == ",".join(other[part] for part in word.split(","))
    assert found == set(things)


def test_where_a_list_lacks_another_its_words_stay() -> None:
    stories = [
        Story(
            ("Mary got the milk.", "Mary got the apple."),
            (Question("What is Mary carrying?", "milk,apple", 2),),
        ),
        Story(("John went to the garden.",), (Question("Where is John?", "garden", 1),)),
        Story(("Fred went to the office.",), (Question("Where is Fred?", "office", 1),)),
    ]
    vocabulary, data = encoded({"8": stories})
    renaming = Renaming.of(KINDS, vocabulary, data)
    assert "things" not in renaming.kinds
    assert set(PERMUTED) - set(renaming.kinds) == {"things"}
    for seed in range(20):
        (table,) = renaming.draw(np.random.default_rng(seed))
        for word in ("milk", "apple", "milk,apple"):
            assert table[vocabulary.number(word)] == vocabulary.number(word)


def test_what_means_more_in_a_task_stays_there_and_only_there() -> None:
    vocabulary, data = encoded(generated("6", "20"))
    table = Renaming.of(KINDS, vocabulary, data).draw(np.random.default_rng(3))
    chosen = np.arange(len(data))
    plain, renamed = (
        told(make_batch(data, chosen, words=words), vocabulary) for words in (None, table)
    )
    tasks = [data.task_names[task] for task in data.task]
    by_task = dict(zip(("6", "20"), table, strict=True))
    for task, before, after in zip(tasks, plain, renamed, strict=True):
        assert [after] == in_other_words([before], by_task[task], vocabulary)
    for words in (KINDS["places"], KINDS["things"]):
        known = [vocabulary.number(word) for word in words if word in vocabulary]
        assert (table[1, known] == known).all()
        assert (table[0, known] != known).any()


def test_a_sentence_told_under_two_choices_stands_in_the_table_twice() -> None:
    story = Story(("Mary went to the kitchen.",), (Question("Where is Mary?", "kitchen", 1),))
    _, data = encoded({"1": [story], "20": [story], "2": [story]})
    assert len(data.sentences) == 1 + 2  # blank, and the sentence under each choice
    assert data.sentence_kept.tolist() == [0, 0, 1]
    assert data.told.tolist() == [1, 2, 1]
    plain = encode({"1": [story], "20": [story]}, build_vocabulary([story]), 6)
    assert len(plain.sentences) == 1 + 1


def test_every_kind_and_choice_of_the_built_in_stories_is_one_that_there_is() -> None:
    words = [word.lower() for kind in KINDS.values() for word in kind]
    assert len(words) == len(set(words))
    assert {kind for kept in KEPT.values() for kind in kept} <= set(KINDS)
    assert set(KEPT) <= {*BUILT_IN.tasks, *WIDE_TASKS}


def test_answers_stay_right_in_other_words() -> None:
    """Somebody who follows only who went where, in whatever words, gives the renamed answers."""
    vocabulary, data = encoded(generated("1"))
    random, renaming = np.random.default_rng(4), Renaming.of(KINDS, vocabulary, data)
    for _ in range(10):
        batch = make_batch(data, random.permutation(len(data))[:20], words=renaming.draw(random))
        for *story, question, answer in told(batch, vocabulary):
            place = {}
            for sentence in story:
                words = sentence.split()
                place[words[0]] = words[-2]
            assert place[question.split()[-2]] == answer


# Training.


def make_trainer(seed: int = 3, **settings) -> Trainer:
    vocabulary, data = encoded(generated("1"))
    plain = {"batch_size": 8, "epochs": 4, "warmup_steps": 0, "rename_share": 0.5}
    config = TPRRNNConfig(
        vocabulary_size=len(vocabulary), max_words=data.sentences.shape[1], bounded_keys=True
    )
    return Trainer(
        config,
        Recipe(**plain | settings),
        train=data,
        valid=data,
        seed=seed,
        renaming=Renaming.of(KINDS, vocabulary, data),
    )


def renamed_batches(trainer: Trainer) -> list[bool]:
    """For each batch of a whole run, whether it was told in other words."""
    found = []
    while trainer.progress.step < trainer.schedule.last_step():
        epoch, position = divmod(trainer.progress.step, trainer.steps_per_epoch)
        size = trainer.recipe.batch_size
        order = epoch_order(trainer.train, trainer.seed, epoch)
        plain = make_batch(trainer.train, order[position * size : (position + 1) * size])
        batch = trainer._batch()
        found.append(not torch.equal(batch.sentences, plain.sentences))
        trainer.progress.step += 1
    return found


def test_so_large_a_share_of_the_batches_is_renamed() -> None:
    assert all(renamed_batches(make_trainer(rename_share=1.0, epochs=8)))
    half = renamed_batches(make_trainer(rename_share=0.5, epochs=40))
    assert 0.35 < np.mean(half) < 0.65
    assert not any(renamed_batches(make_trainer(rename_share=0.0)))


def test_batches_are_renamed_less_and_less_as_the_learning_rate_decays() -> None:
    found = renamed_batches(make_trainer(rename_share=1.0, epochs=80, decay_epochs=60))
    quarter = len(found) // 4
    assert all(found[:quarter])
    assert np.mean(found[quarter : 2 * quarter]) > 0.6 > 0.4 > np.mean(found[-quarter:])


def test_a_resumed_run_draws_the_same_words() -> None:
    whole, first, second = (make_trainer() for _ in range(3))
    for _ in whole.run():
        pass
    events = first.run()
    for _ in range(7):
        next(events)
    second.restore(first.progress, first.tensors())
    for _ in second.run():
        pass
    for name, tensor in whole.tensors().items():
        assert torch.equal(tensor, second.tensors()[name]), name


def test_other_seeds_draw_other_words() -> None:
    batches = [make_trainer(seed, rename_share=1.0)._batch().sentences for seed in range(4)]
    assert len({tuple(batch.flatten().tolist()) for batch in batches}) == 4


def test_stories_without_such_words_are_refused_in_words(tmp_path: Path) -> None:
    lines = ("1 Le chat dort.", "2 Qui dort?\tchat\t1")
    for split in ("train", "valid", "test"):
        (tmp_path / f"chats_{split}.txt").write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match="leave rename_share out"):
        train("chats", data=tmp_path, out=tmp_path / "run", settings={"rename_share": "0.5"})
    with pytest.raises(UserError, match=r"rename_share must be from 0 to 1, not 2"):
        Recipe(rename_share=2.0)
