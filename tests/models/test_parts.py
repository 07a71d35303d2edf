"""The kernel for sentences and their parts against PyTorch, in float64: results, every gradient."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tpr_rnn.memory import native
from tpr_rnn.models import parts
from tpr_rnn.models.encoder import SentenceEncoder, encode
from tpr_rnn.models.networks import EntityRelationNetworks, NetworkShape, take_apart

pytestmark = pytest.mark.skipif(not parts.usable(torch.zeros(1)), reason=native.status())


def random(*sizes: int, scale: float = 1.0) -> Tensor:
    generator = torch.Generator().manual_seed(sum(sizes))
    numbers = torch.randn(*sizes, generator=generator, dtype=torch.float64)
    return (scale * numbers).requires_grad_()


def gradients(output: Tensor, inputs: tuple[Tensor, ...], **settings: bool) -> tuple[Tensor, ...]:
    weights = torch.arange(output.numel(), dtype=output.dtype).view_as(output).cos()
    return torch.autograd.grad((output * weights).sum(), inputs, **settings)


@pytest.mark.parametrize(
    ("rows", "vocabulary", "length", "size"),
    [(0, 4, 3, 5), (1, 4, 1, 1), (5, 40, 7, 9), (90, 7, 3, 33)],
)
def test_encoding_is_that_of_pytorch(rows: int, vocabulary: int, length: int, size: int) -> None:
    words = torch.randint(vocabulary, (rows, length), generator=torch.Generator().manual_seed(0))
    vectors = random(vocabulary, size), random(length, size)
    ours, expected = parts.encode(encode, words, *vectors), encode(words, *vectors)
    assert_close(ours, expected)
    assert_close(gradients(ours, vectors), gradients(expected, vectors))


def test_an_unknown_word_is_refused() -> None:
    for word in (-1, 4):
        with pytest.raises(IndexError, match=f"word {word} is not in a vocabulary of 4"):
            parts.encode(encode, torch.tensor([[0, word]]), random(4, 3), random(2, 3))


def inputs_of(rows: int, layers: int, scale: float) -> tuple[Tensor, ...]:
    v, h, e, r = 5, 7, 4, 3
    return (
        random(rows, v),
        *(random(layers, v, h), random(layers, 1, h)),
        *(random(2, h, e, scale=scale), random(2, 1, e, scale=scale)),
        *(random(3, h, r, scale=scale), random(3, 1, r, scale=scale)),
    )


@pytest.mark.parametrize("rows", [0, 1, 17, 100])  # the last in blocks
@pytest.mark.parametrize("layers", [1, 5])
@pytest.mark.parametrize(("linear", "bounded"), [(False, False), (False, True), (True, True)])
@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("scale", [0.05, 1.0])  # relations shorter and longer than 1
def test_parts_are_those_of_pytorch(
    rows: int, layers: int, linear: bool, bounded: bool, dropout: bool, scale: float
) -> None:
    inputs = inputs_of(rows, layers, scale)
    kept = (random(layers, rows, 7) > 0).double() * 2 if dropout else None
    settings = kept, linear, bounded
    ours = parts.take_apart(take_apart, inputs, settings)
    expected = take_apart(*inputs, *settings)
    assert_close(ours, expected)
    assert_close(gradients(ours, inputs), gradients(expected, inputs))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numbers_of_any_size_are_those_of_pytorch(dtype: torch.dtype) -> None:
    sizes = torch.tensor([0.0, 1e-30, 1e-6, 1e-3, 0.1, 1.0, 8.0, 30.0, 1e30, torch.inf, torch.nan])
    sentences = sizes.to(dtype)[:, None] * torch.tensor([[1, 0, 0, 0, 0]])
    inputs = (
        sentences.nan_to_num(0.0),
        *(each.detach().to(dtype) for each in inputs_of(0, 5, 1.0)[1:]),
    )
    ours = parts.take_apart(take_apart, inputs, (None, False, False))
    assert_close(ours, take_apart(*inputs, None, False, False))
    lost = parts.take_apart(take_apart, (sentences * torch.nan, *inputs[1:]), (None, False, False))
    assert lost.isnan().all()


@pytest.mark.parametrize("layers", [1, 5])
def test_threads_share_the_sentences(layers: int) -> None:
    inputs, settings = inputs_of(130, layers, 1.0), (None, False, True)
    expected = take_apart(*inputs, *settings)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        ours = parts.take_apart(take_apart, inputs, settings)
        found = gradients(ours, inputs)
    finally:
        torch.set_num_threads(before)
    assert_close(ours, expected)
    assert_close(found, gradients(expected, inputs))


@pytest.mark.parametrize("place", range(7))
def test_layers_that_do_not_fit_are_refused(place: int) -> None:
    inputs = list(inputs_of(2, 5, 1.0))
    inputs[place] = torch.cat((inputs[place], inputs[place][..., :1]), dim=-1)
    with pytest.raises(RuntimeError, match=r"do not go together|are not those of layers"):
        parts.take_apart(take_apart, tuple(inputs), (None, False, True))


def test_an_entity_of_length_0_has_the_gradient_of_pytorch() -> None:
    inputs = inputs_of(3, 5, 0.0)
    ours = parts.take_apart(take_apart, inputs, (None, False, True))
    expected = take_apart(*inputs, None, False, True)
    assert_close(ours, expected)
    assert_close(gradients(ours, inputs), gradients(expected, inputs))


def test_gradients_have_gradients() -> None:
    inputs = inputs_of(3, 5, 1.0)
    settings = (random(5, 3, 7) > 0).double(), False, True
    words, vectors = torch.tensor([[0, 1], [2, 1]] * 3), (random(4, 3), random(2, 3))
    for ours, expected, of in (
        (parts.take_apart(take_apart, inputs, settings), take_apart(*inputs, *settings), inputs),
        (parts.encode(encode, words, *vectors), encode(words, *vectors), vectors),
    ):
        first = gradients(ours, of, create_graph=True), gradients(expected, of, create_graph=True)
        assert_close(*first)
        assert_close(*(gradients(torch.cat([g.flatten() for g in each]), of) for each in first))


def test_a_part_without_gradient_gets_none() -> None:
    inputs = inputs_of(3, 5, 1.0)
    weights = tuple(each.detach() for each in inputs[1:])
    ours = parts.take_apart(take_apart, (inputs[0], *weights), (None, False, True))
    expected = take_apart(inputs[0], *weights, None, False, True)
    assert_close(gradients(ours, inputs[:1]), gradients(expected, inputs[:1]))


@pytest.mark.parametrize("shared", [False, True])
def test_dropout_draws_the_same_in_both_forms(
    shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = NetworkShape(
        symbol_size=5,
        hidden_size=6,
        entity_size=4,
        relation_size=3,
        bounded=True,
        linear=False,
        shared_hidden=shared,
        sentence_dropout=0.3,
        hidden_dropout=0.4,
    )
    generator = torch.Generator().manual_seed(0)
    networks = EntityRelationNetworks(("e1", "e2"), ("r1", "r2"), shape, generator).double()

    def run() -> tuple[Tensor, tuple[Tensor, ...]]:
        torch.manual_seed(1)
        apart = networks(random(9, 5))
        return apart, gradients(apart, tuple(networks.parameters()))

    ours = run()
    monkeypatch.setattr(parts, "usable", lambda *_: False)
    assert_close(ours, run())


def test_where_the_kernel_cannot_look_pytorch_serves() -> None:
    tensor = torch.zeros(1)
    assert parts.usable(tensor, torch.nn.Parameter(tensor))
    assert not parts.usable(tensor.half())
    assert not parts.usable(tensor, tensor.double())
    assert not parts.usable(torch.zeros(1, device="meta"))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert not parts.usable(tensor)


def test_a_graph_has_both_in_pytorch() -> None:
    encoder = SentenceEncoder(6, 3, 1.0, torch.Generator().manual_seed(0))
    words = torch.tensor([[0, 1, 2], [5, 4, 3]])
    program = torch.export.export(encoder, (words,))
    assert_close(program.module()(words), encoder(words))
    assert not any("tpr_rnn_parts" in str(node.target) for node in program.graph.nodes)
