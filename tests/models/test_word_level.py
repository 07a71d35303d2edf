"""The word-level TPR-RNN against its equations, one word at a time."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from tpr_rnn.data.batches import make_batch
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.story import Question, Story
from tpr_rnn.data.vocabulary import tokenize
from tpr_rnn.errors import UserError
from tpr_rnn.memory import parallel, sequential
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.word_level import WordLevel, WordLevelConfig

STORIES = [
    Story(
        ("Mary went home.", "John left.", "Mary took the apple, and left."),
        (
            Question("Where is Mary?", "home", 0),
            Question("Where is Mary?", "home", 1),
            Question("Where is John?", "apple", 3),
            Question("Is Mary home?", "left", 3),
        ),
    ),
    Story(("John left.",), (Question("Where is John?", "home", 1),)),
    Story((), (Question("Is John home?", "apple", 0),)),
]
VOCABULARY = build_vocabulary(STORIES)
LONGEST = longest_sentence(STORIES)
DATA = encode({"1": STORIES}, VOCABULARY, LONGEST)
ALL = np.arange(len(DATA))


def make_model(seed: int = 0, **settings) -> WordLevel:
    sizes = {"symbol_size": 4, "hidden_size": 6, "entity_size": 5, "relation_size": 3} | settings
    config = WordLevelConfig(vocabulary_size=len(VOCABULARY), max_words=LONGEST, **sizes)
    model = WordLevel(config, generator=torch.Generator().manual_seed(seed)).double()
    with torch.no_grad():  # large enough that relations are cut, and biases that count
        for layer in (model.update, model.inference):
            layer.weight.mul_(3)
            layer.bias.uniform_(-1, 1, generator=torch.Generator().manual_seed(seed))
        model.norm.shift.fill_(0.1)
    return model


def step_by_step(model: WordLevel, story: Story) -> list[torch.Tensor]:
    """The logits of each question of a story, by the equations, one word at a time."""
    weights = dict(model.lstm.named_parameters())
    e, r, hops = 5, 3, model.config.inference_steps
    h = c = torch.zeros(6, dtype=torch.float64)
    memory = torch.zeros(e, r, e, dtype=torch.float64)
    answers = []

    def entity(vector):
        return vector / vector.norm()

    def relation(vector):
        return vector / max(vector.norm(), torch.ones(()))

    def find(source, along):
        return torch.einsum("e,r,erf->f", source, along, memory)

    def bind(source, along, filler):
        return torch.einsum("e,r,f->erf", source, along, filler)

    for time in range(len(story.sentences) + 1):
        texts = [(asked.text, True) for asked in story.questions if asked.after == time]
        texts += [(told, False) for told in story.sentences[time : time + 1]]
        for text, asked in texts:
            for word in tokenize(text):
                x = model.embedding[VOCABULARY.number(word)]
                gates = weights["weight_ih_l0"] @ x + weights["bias_ih_l0"]
                gates = gates + weights["weight_hh_l0"] @ h + weights["bias_hh_l0"]
                i, f, g, o = gates.chunk(4)
                c = f.sigmoid() * c + i.sigmoid() * g.tanh()
                h = o.sigmoid() * c.tanh()
                said = model.update.weight @ h + model.update.bias
                e1, e2 = map(entity, said[: 2 * e].split(e))
                r1, r2, r3 = map(relation, said[2 * e :].split(r))
                w, m, b = find(e1, r1), find(e1, r2), find(e2, r3)
                if "write" in model.operations:
                    memory = memory + bind(e1, r1, e2 - w)
                if "move" in model.operations:
                    memory = memory + bind(e1, r2, w - m)
                if "backlink" in model.operations:
                    memory = memory + bind(e2, r3, e1 - b)
            if asked:
                walk = model.inference.weight @ h + model.inference.bias
                found, total = entity(walk[:e]), torch.zeros(e, dtype=torch.float64)
                for hop in range(hops):
                    found = find(found, relation(walk[e + hop * r : e + (hop + 1) * r]))
                    centred = found - found.mean()
                    found = centred / (centred.square().mean() + 1e-7).sqrt()
                    found = found * model.norm.scale[hop] + model.norm.shift[hop]
                    total = total + found
                answers.append(total @ model.output)
    return answers


@pytest.mark.parametrize("memory_form", [parallel, sequential])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"inference_steps": 1},
        {"operations": ("write",)},
        {"operations": ("write", "backlink")},
    ],
)
@pytest.mark.parametrize("groups", [1, 2])
def test_forward_and_gradients_are_those_of_the_equations(memory_form, settings, groups) -> None:
    model = make_model(**settings)
    model.memory_form = memory_form
    batch = make_batch(DATA, ALL, groups)
    logits = model(batch)
    cross_entropy(logits, batch.answer).backward()
    got = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    model.zero_grad()
    by_story = torch.stack([answer for story in STORIES for answer in step_by_step(model, story)])
    # Of two groups the first has the short stories, the last two of ours.
    expected = by_story if groups == 1 else torch.cat((by_story[4:], by_story[:4]))
    torch.testing.assert_close(logits, expected)
    cross_entropy(by_story, torch.from_numpy(DATA.answer)).backward()
    for name, weight in model.named_parameters():
        torch.testing.assert_close(got[name], weight.grad, msg=name)


def test_a_seed_repeats_and_another_differs() -> None:
    batch = make_batch(DATA, ALL)
    one, same, other = (make_model(seed)(batch) for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_what_comes_after_a_question_does_not_change_its_answer() -> None:
    model = make_model()
    whole = model(make_batch(DATA, ALL))
    for asked in range(1, 4):
        shorter = model(make_batch(DATA, np.arange(asked)))
        torch.testing.assert_close(shorter, whole[:asked])


@pytest.mark.parametrize("setting", ["word_dropout", "hidden_dropout"])
def test_dropout_is_for_training_alone(setting) -> None:
    batch = make_batch(DATA, ALL)
    model = make_model(**{setting: 0.5})
    assert not torch.equal(model.train()(batch), model(batch))
    assert torch.equal(model.eval()(batch), make_model()(batch))


def test_a_reader_asks_it_as_any_model() -> None:
    model = make_model().float()
    reader = Reader(model, VOCABULARY)
    story = ["Mary went home.", "John left."]
    answers = reader.answer(story, "Where is Mary?", top=99)
    data = encode(
        {"1": [Story(tuple(story), (Question("Where is Mary?", "home", 2),))]}, VOCABULARY, LONGEST
    )
    y_hat = model(make_batch(data, np.arange(1)))[0, 1:].softmax(dim=0)  # the padding is no word
    for answer in answers:
        expected = float(y_hat[VOCABULARY.number(answer.word) - 1].detach())
        assert answer.probability == pytest.approx(expected, abs=1e-6)
    assert reader.answer([], "Where is Mary?")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden_size": 0}, "hidden_size must be from 1"),
        ({"word_dropout": 1.0}, "word_dropout must be at least 0 and under 1"),
        ({"embedding_scale": 0.0}, "embedding_scale must be over 0"),
        ({"operations": ("write", "read")}, "unknown memory operation"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message) -> None:
    with pytest.raises(UserError, match=message):
        make_model(**settings)
