"""Equations 5, 7-8 and 15-20 by plain loops, and the settings of the model."""

import copy
import math

import pytest
import safetensors.torch
import torch

from tpr_rnn.data.batches import make_batch
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.story import Question, Story
from tpr_rnn.errors import UserError
from tpr_rnn.memory import sequential
from tpr_rnn.models import TPRRNN, TPRRNNConfig

STORIES = [
    Story(
        ("Mary went home.", "John left.", "Mary got the milk there."),
        (Question("Where is Mary?", "home", 1), Question("Where is the milk?", "home", 3)),
    ),
    Story(("John left.", "Mary left."), (Question("Where is John?", "home", 2),)),
    Story((), (Question("Where is John?", "home", 0),)),
]


@pytest.fixture
def data():
    vocabulary = build_vocabulary(STORIES)
    return encode({"1": STORIES}, vocabulary, longest_sentence(STORIES))


def make_model(data, dtype=torch.float64, memory_form=None, **settings) -> TPRRNN:
    size = int(max(data.sentences.max(), data.questions.max(), data.answer.max())) + 1
    sizes = {"entity_size": 4, "relation_size": 3, "hidden_size": 5}
    config = TPRRNNConfig(
        vocabulary_size=size, max_words=data.sentences.shape[1], **(sizes | settings)
    )
    generator = torch.Generator().manual_seed(0)
    extra = {} if memory_form is None else {"memory_form": memory_form}
    return TPRRNN(config, generator=generator, **extra).to(dtype)


def every_question(data, groups=1):
    return make_batch(data, torch.arange(len(data)).numpy(), groups)


def network(networks, first, index, kind, weights, s):
    """A two-layer network, by hand; its first layer may be the only one there is."""
    layer = 0 if networks.shape.shared_hidden else index
    hidden = torch.tanh(s @ first.hidden_weight[layer] + first.hidden_bias[layer, 0])
    weight, bias = weights
    out = hidden @ weight[kind] + bias[kind, 0]
    return out if networks.shape.linear else torch.tanh(out)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_every_intermediate_follows_its_equation(data, shared, bounded, linear) -> None:
    settings = {"shared_hidden": shared, "bounded_keys": bounded, "linear_keys": linear}
    model = make_model(data, embedding_scale=1.0, **settings)
    batch = every_question(data)
    found = model.intermediates(batch)
    (group,) = batch.groups
    story, lengths = group.story[group.about], group.position  # one row a question
    assert len(group.story) < len(story)
    update, inference = model.update, model.inference
    first = update if shared else inference  # whose first layers the questions go through
    assert update.shape.linear == inference.shape.linear == (bounded and linear)
    unit = (lambda v: v / v.norm()) if bounded else (lambda v: v)
    shorten = (lambda v: v / max(v.norm(), 1)) if bounded else (lambda v: v)

    def encode_by_hand(words):  # eq. 5
        return sum(
            model.encoder.word_vectors[word] * model.encoder.position_vectors[i]
            for i, word in enumerate(words)
        )

    for b in range(len(story)):
        F = torch.zeros(4, 3, 4, dtype=torch.float64)
        for t in range(lengths[b]):
            s = encode_by_hand(batch.sentences[story[b, t]])
            torch.testing.assert_close(found["s"][b, t], s)
            entity = (update.entity_weight, update.entity_bias)
            relation = (update.relation_weight, update.relation_bias)
            e = [unit(network(update, update, i, i, entity, s)) for i in range(2)]  # eq. 7
            r = [shorten(network(update, update, 2 + j, j, relation, s)) for j in range(3)]  # eq. 8
            for name, value in zip(("e1", "e2", "r1", "r2", "r3"), (*e, *r), strict=True):
                torch.testing.assert_close(found[name][b, t], value)
            w_hat = torch.einsum("e,r,erf->f", e[0], r[0], F)
            m_hat = torch.einsum("e,r,erf->f", e[0], r[1], F)
            b_hat = torch.einsum("e,r,erf->f", e[1], r[2], F)
            for name, value in (("w_hat", w_hat), ("m_hat", m_hat), ("b_hat", b_hat)):
                torch.testing.assert_close(found[name][b, t], value, rtol=1e-9, atol=1e-12)
            F = (
                F
                + torch.einsum("e,r,f->erf", e[0], r[0], e[1] - w_hat)
                + torch.einsum("e,r,f->erf", e[0], r[1], w_hat - m_hat)
                + torch.einsum("e,r,f->erf", e[1], r[2], e[0] - b_hat)
            )
        torch.testing.assert_close(found["F"][b], F, rtol=1e-9, atol=1e-12)
        for name in ("w_hat", "m_hat", "b_hat"):
            assert not found[name][b, lengths[b] :].any()

        s_q = encode_by_hand(batch.questions[group.question[b]])
        torch.testing.assert_close(found["s_q"][b], s_q)
        entity = (inference.entity_weight, inference.entity_bias)
        relation = (inference.relation_weight, inference.relation_bias)
        i = unit(network(inference, first, 0, 0, entity, s_q))  # eq. 15
        torch.testing.assert_close(found["n"][b], i)
        total = torch.zeros(4, dtype=torch.float64)
        for step in range(3):
            relation_vector = shorten(
                network(inference, first, 1 + step, step, relation, s_q)
            )  # eq. 16
            torch.testing.assert_close(found[f"l{step + 1}"][b], relation_vector)
            x = torch.einsum("e,r,erf->f", i, relation_vector, F)
            x = (x - x.mean()) / torch.sqrt(((x - x.mean()) ** 2).mean() + 1e-7)
            i = x * model.norm.scale[step] + model.norm.shift[step]  # eq. 17-19
            torch.testing.assert_close(found[f"i{step + 1}"][b], i, rtol=1e-6, atol=1e-9)
            total = total + i
        scores = total @ model.output
        y_hat = torch.exp(scores) / torch.exp(scores).sum()  # eq. 20
        torch.testing.assert_close(found["y_hat"][b], y_hat, rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(model(batch), found["logits"])


@pytest.mark.parametrize("operations", [("write",), ("write", "backlink")])
def test_intermediates_hold_what_the_operations_in_use_found(data, operations) -> None:
    found = make_model(data, operations=operations).intermediates(every_question(data))
    assert "w_hat" in found
    assert "m_hat" not in found
    assert ("b_hat" in found) == ("backlink" in operations)


def test_bounded_keys_leave_short_relations_as_they_are(data) -> None:
    sizes = {}
    for scale in (0.01, 30.0):
        model = make_model(data, embedding_scale=scale, bounded_keys=True)
        found = model.intermediates(every_question(data))
        for name in ("e1", "e2", "n"):
            length = found[name].norm(dim=-1)
            torch.testing.assert_close(length[length > 0], torch.ones_like(length[length > 0]))
        sizes[scale] = torch.cat([found[name].norm(dim=-1).flatten() for name in ("r1", "l1")])
    assert sizes[0.01].max() < 0.1
    assert sizes[30.0].max().item() == pytest.approx(1.0)


def test_both_forms_of_the_memory_give_one_model(data) -> None:
    batch = every_question(data)
    fast, slow = make_model(data), make_model(data, memory_form=sequential)
    for model in (fast, slow):
        torch.nn.functional.cross_entropy(model(batch), batch.answer).backward()
    torch.testing.assert_close(fast(batch), slow(batch), rtol=1e-9, atol=1e-12)
    for (name, one), other in zip(fast.named_parameters(), slow.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-8, atol=1e-12, msg=name)


@pytest.mark.parametrize("groups", [2, 3, 4])
def test_grouping_a_batch_by_length_changes_no_gradient(data, groups) -> None:
    gradients = []
    for batch in (every_question(data), every_question(data, groups)):
        model = make_model(data, embedding_scale=1.0)
        torch.nn.functional.cross_entropy(model(batch), batch.answer).backward()
        gradients.append([parameter.grad for parameter in model.parameters()])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def test_the_number_of_inference_steps_is_a_setting(data) -> None:
    model = make_model(data, inference_steps=2)
    found = model.intermediates(every_question(data))
    assert "i2" in found
    assert "i3" not in found
    assert "l3" not in found


def test_layer_norm_is_a_setting(data) -> None:
    """Large word vectors make large keys: what is read is not what a layer norm makes of it."""
    model = make_model(data, layer_norm=False, embedding_scale=9.0)
    batch = every_question(data)
    found = model.intermediates(batch)
    entity = found["n"]
    total = torch.zeros_like(entity)
    for step in (1, 2, 3):
        entity = torch.einsum("be,br,berf->bf", entity, found[f"l{step}"], found["F"])
        torch.testing.assert_close(found[f"i{step}"], entity, rtol=1e-9, atol=1e-12)
        total = total + entity
    told = batch.groups[0].position > 0
    assert found["i1"][told].abs().amax(dim=1).min() > 1e-3
    assert "norm.scale" not in model.state_dict()
    torch.testing.assert_close(model(batch), total @ model.output, rtol=1e-9, atol=1e-12)
    normed = make_model(data, embedding_scale=9.0)
    assert (normed(batch)[told] - model(batch)[told]).abs().amax(dim=1).min() > 0.1


@pytest.mark.parametrize("setting", ["sentence_dropout", "hidden_dropout"])
def test_dropout_is_for_training_alone(data, setting) -> None:
    batch = every_question(data)
    plain, noisy = make_model(data), make_model(data, **{setting: 0.5})
    assert not torch.equal(noisy(batch), noisy(batch))
    assert torch.equal(noisy.eval()(batch), plain.eval()(batch))


def test_a_shared_hidden_layer_is_there_once(data) -> None:
    own, shared = make_model(data), make_model(data, shared_hidden=True)
    layers = own.update.hidden_weight.shape[0] + own.inference.hidden_weight.shape[0]
    assert layers == 9
    assert shared.update.hidden_weight.shape[0] == 1
    assert "inference.hidden_weight" not in shared.state_dict()
    safetensors.torch.save(shared.state_dict())  # refuses what is there twice
    copied = copy.deepcopy(shared)
    with torch.no_grad():
        copied.update.hidden_weight.zero_()
    s_q = torch.ones(1, shared.config.vocabulary_size, dtype=torch.float64)
    assert not torch.equal(copied.inference(s_q), shared.inference(s_q))


def test_float32_and_float64_agree(data) -> None:
    batch = every_question(data)
    single, double = make_model(data, torch.float32), make_model(data)
    assert single(batch).dtype == torch.float32
    torch.testing.assert_close(single(batch).double(), double(batch), rtol=1e-3, atol=1e-4)


def test_initialisation_is_the_one_of_the_appendix() -> None:
    config = TPRRNNConfig(vocabulary_size=50, max_words=4)
    model = TPRRNN(config, generator=torch.Generator().manual_seed(0))
    words = model.encoder.word_vectors
    assert 0.0095 < words.abs().max() <= 0.01
    assert torch.equal(model.encoder.position_vectors, torch.full((4, 50), 0.25))
    for weight, fan_in, fan_out in (
        (model.update.hidden_weight, 50, 50),
        (model.update.entity_weight, 50, 15),
        (model.update.relation_weight, 50, 10),
        (model.inference.entity_weight, 50, 15),
        (model.output, 15, 50),
    ):
        assert weight.shape[-2:] == (fan_in, fan_out)
        bound = math.sqrt(6 / (fan_in + fan_out))
        assert 0.95 * bound < weight.abs().max() <= bound
    for name, parameter in model.named_parameters():
        if name.endswith(("bias", "shift")):
            assert not parameter.any(), name
        if name.endswith("scale"):
            assert (parameter == 1).all(), name


def test_a_seed_gives_one_model() -> None:
    config = TPRRNNConfig(vocabulary_size=9, max_words=4)
    one, same, other = (
        TPRRNN(config, generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
    )
    assert torch.equal(one.output, same.output)
    assert not torch.equal(one.output, other.output)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"entity_size": 0}, "entity_size must be from 1"),
        ({"hidden_size": -1}, "hidden_size must be from 1"),
        ({"inference_steps": 0}, "inference_steps"),
        ({"embedding_scale": 0.0}, "embedding_scale"),
        ({"hidden_dropout": 1.0}, "hidden_dropout must be at least 0 and under 1"),
        ({"operations": ("move",)}, "move needs write"),
    ],
)
def test_senseless_settings_are_refused(settings, message) -> None:
    with pytest.raises(UserError, match=message):
        TPRRNNConfig(vocabulary_size=9, max_words=4, **settings)


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(TypeError, match="entity"):
        TPRRNNConfig(vocabulary_size=9, max_words=4, entity=3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_model_runs_on_a_gpu(data) -> None:
    batch = every_question(data, groups=2)
    model = make_model(data)
    expected = model(batch)
    device = torch.device("cuda")
    torch.testing.assert_close(model.to(device)(batch.to(device)).cpu(), expected)
