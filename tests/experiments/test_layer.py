"""The experiment with layers: from stories to a report, on few and small ones."""

from collections import Counter

import pytest
import torch

from tpr_rnn.data import recall
from tpr_rnn.data.batches import StoryGroup, make_batch
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.recall import KINDS, RECALL_TASKS, tell
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.reading import read_run
from tpr_rnn.experiments.catalogue import find_experiment
from tpr_rnn.experiments.finished import records_there
from tpr_rnn.experiments.grid import Request
from tpr_rnn.experiments.last_step import gather_records, score_tests
from tpr_rnn.experiments.layer import RATES, VARIANTS
from tpr_rnn.models.layer_reader import LAYERS, LayerReader, LayerReaderConfig, _steps
from tpr_rnn.report.write import write_report
from tpr_rnn.training.run import Run


@pytest.fixture(autouse=True)
def few_stories(monkeypatch):
    tell.cache_clear()
    monkeypatch.setattr(recall, "STORIES", {"train": 12, "valid": 4, "test": 4})
    yield
    tell.cache_clear()


def answers_by_reading(story, hops: int) -> list[str]:
    """The answers to a story's questions, from its text alone."""
    told = [sentence.rstrip(".").split() for sentence in story.sentences]
    found = []
    for question in story.questions:
        *key, _ = question.text.split()
        place = {words[0]: words[1] for words in told if len(words) == 2}
        if key[0].startswith("c"):
            for words in told:
                if words[-1] == "exchange":
                    one, other, _ = words
                    place[one], place[other] = place[other], place[one]
            found.append(place[key[0]])
        elif hops:
            node = key[0]
            for _ in range(hops):
                node = place[node]
            found.append(node)
        else:
            values = [
                next(word for word in words if word not in key)
                for words in told
                if set(key) <= set(words)
            ]
            found.append(values[-2] if len(values) > 1 else values[-1])
    return found


@pytest.mark.parametrize("task", RECALL_TASKS)
def test_stories_answer_their_questions(task) -> None:
    kind, _, number = task.rpartition("-")
    for story in tell(task, "train"):
        hops = int(number) if kind == "hops" else 0
        expected = [question.answer for question in story.questions]
        assert answers_by_reading(story, hops) == expected
        assert {question.after for question in story.questions} == {len(story.sentences)}
    assert len(set(tell(task, "train"))) == 12
    assert not set(tell(task, "train")) & set(tell(task, "test"))


@pytest.mark.parametrize("layer", LAYERS)
def test_questions_do_not_touch_each_other_and_come_after_their_story(layer) -> None:
    told = list(tell("one-key-16", "train"))
    vocabulary, words, stories = (
        build_vocabulary(told),
        longest_sentence(told),
        {"one-key-16": told},
    )
    data = encode(stories, vocabulary, words)
    torch.manual_seed(0)
    config = LayerReaderConfig(vocabulary_size=len(vocabulary), max_words=words, layer=layer)
    model = LayerReader(config).double()
    together = make_batch(data, torch.arange(24).numpy())
    logits = model(together)
    (group,) = together.groups
    alone = together._replace(groups=(group.for_each_question(),))
    if layer == "lstm":  # it cannot read a question without changing its state
        assert torch.isfinite(logits).all()
    else:
        torch.testing.assert_close(model(alone), logits)
    silent = together._replace(sentences=together.sentences.flip(0))
    assert not torch.allclose(model(silent), logits)


def test_a_question_stands_behind_its_story() -> None:
    group = StoryGroup(
        story=torch.tensor([[4, 5, 6], [7, 0, 0]]),
        lengths=torch.tensor([3, 1]),
        about=torch.tensor([1, 0, 1]),
        position=torch.tensor([1, 3, 1]),
        question=torch.tensor([0, 1, 2]),
    )
    rows, told, at = _steps(group, sentences=10)
    assert at.tolist() == [1, 3, 2]
    assert rows.tolist() == [[4, 5, 6, 11, 0], [7, 10, 12, 0, 0]]
    assert told.tolist() == [[True] * 3 + [False] * 2, [True] + [False] * 4]


def test_every_layer_has_about_as_many_parameters() -> None:
    sizes = []
    for layer in LAYERS:
        model = LayerReader(LayerReaderConfig(vocabulary_size=50, max_words=3, layer=layer))
        sizes.append(sum(parameter.numel() for parameter in model.parameters()))
    assert max(sizes) / min(sizes) < 1.05


def test_the_grid_has_every_layer_rate_task_and_seed(tmp_path) -> None:
    jobs = find_experiment("layer")(Request(out=tmp_path, seeds=range(3)))
    exchanging = (len(VARIANTS) - len(LAYERS)) * len(KINDS["permute"][1])
    assert len(jobs) == (len(RECALL_TASKS) * len(LAYERS) + exchanging) * len(RATES) * 3
    assert len({job.directory for job in jobs}) == len(jobs)
    assert Counter(job.config.task for job in jobs).keys() == set(RECALL_TASKS)
    with pytest.raises(UserError, match="there is no task 'one'"):
        find_experiment("layer")(Request(out=tmp_path, seeds=range(1), tasks=("one",)))


def test_it_runs_and_is_reported(tmp_path) -> None:
    tasks = ("one-key-16", "permute-3")
    settings = {"epochs": "1", "decay_epochs": "0", "batch_size": "64"}
    request = Request(out=tmp_path, seeds=range(1), tasks=tasks, settings=settings)
    jobs = [job for job in find_experiment("layer")(request) if job.variant.endswith("-0.003")]
    for job in jobs:
        run = Run.begin(job.config, job.directory)
        for _ in run.events():
            pass
        run.finish()
    assert [job.directory for job in jobs if read_run(job.directory).test is None]
    for _ in score_tests(jobs, "tpr-rnn sweep layer"):
        pass
    assert records_there(jobs).keys() == {job.directory for job in jobs}  # not to be run again
    gather_records(jobs, tmp_path / "layer.jsonl")
    report = write_report([tmp_path / "layer.jsonl"], tmp_path / "report")
    assert not report.left_out
    names = {path.name for path in report.files}
    assert {"layer-one-key.csv", "layer-permute.png", "layer-rates.csv"} <= names
    page = (tmp_path / "report" / "layer.md").read_text("utf-8")
    for title in (*LAYERS.values(), "third-order memory (write, swap)"):
        assert f"| {title} |" in page
    assert set(KINDS) >= {"one-key", "permute"}
