"""The compiled kernel: when it runs, and what happens where it cannot."""

import subprocess
import sys

import pytest
import torch

from tpr_rnn.memory import OPERATIONS, Associations, native, parallel, read, sequential


@pytest.fixture
def load(monkeypatch, tmp_path):
    """Load the kernel as a fresh process would, with an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    return native._load.__wrapped__


def test_it_can_be_switched_off(load, monkeypatch) -> None:
    monkeypatch.setenv("TPR_RNN_NATIVE", "0")
    assert load() == "switched off by TPR_RNN_NATIVE=0"


def test_without_a_compiler_it_says_so(load, monkeypatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert load() == "no C++ compiler was found"


def test_a_compiler_that_fails_is_quoted(load, monkeypatch, tmp_path) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\necho 'this is not C++' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    assert load() == "the C++ kernel does not compile: this is not C++"


def test_status_names_the_form(monkeypatch) -> None:
    monkeypatch.setattr(native, "_load", lambda: None)
    assert native.status() == "native kernel"
    monkeypatch.setattr(native, "_load", lambda: "no reason")
    assert native.status() == "plain PyTorch (no reason)"
    assert not native.usable(torch.zeros(1))


def test_only_plain_floats_on_a_cpu_are_for_the_kernel() -> None:
    assert not native.usable(torch.zeros(1, dtype=torch.float16))
    assert not native.usable(torch.zeros(1, device="meta"))


needs_kernel = pytest.mark.skipif(not native.usable(torch.zeros(1)), reason=native.status())


@pytest.fixture
def story() -> Associations:
    generator = torch.Generator().manual_seed(1)
    table = torch.randn(8, 3 + 3 + 2 + 2 + 2, generator=generator, dtype=torch.float64)
    return Associations(table / 2, torch.arange(8).view(2, 4), entity_size=3)


@needs_kernel
def test_lengths_may_lie_anywhere_and_be_of_any_whole_type(story) -> None:
    lengths = torch.tensor([4, 0, 2, 0])
    expected, _ = sequential(story, lengths=lengths[::2].clone())
    for same in (lengths[::2], lengths[::2].int()):
        torch.testing.assert_close(parallel(story, lengths=same)[0], expected)


@needs_kernel
@pytest.mark.parametrize("lengths", [[4, 7000], [-1, 2], [4], [4, 4, 4]])
def test_lengths_that_do_not_fit_are_refused(story, lengths) -> None:
    # Not a wrong result, and no crash, with the shape checks of the tests out of the way.
    with pytest.raises(RuntimeError, match=r"sentences, not|stories and"):
        native.update(story, None, OPERATIONS, torch.tensor(lengths))


@needs_kernel
def test_sentences_that_are_not_there_are_refused(story) -> None:
    with pytest.raises(RuntimeError, match="there is no sentence 8"):
        native.update(story._replace(story=story.story + 1), None, OPERATIONS, None)


@needs_kernel
def test_the_order_in_which_operations_are_named_does_not_matter(story) -> None:
    expected, _ = sequential(story, operations=("write", "backlink"))
    for form in (sequential, parallel):
        changes, _ = form(story, operations=("backlink", "write"))
        torch.testing.assert_close(changes, expected)


@needs_kernel
def test_second_derivatives_are_refused(story) -> None:
    table = story.table.requires_grad_()
    changes, _ = parallel(story)
    with pytest.raises(RuntimeError, match="no second derivatives"):
        torch.autograd.grad(changes.sum(), table, create_graph=True)


@needs_kernel
def test_gradients_are_those_of_finite_differences() -> None:
    generator = torch.Generator().manual_seed(0)

    def tensor(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()

    def tell_and_read(said, entity, relation):
        story = torch.tensor([[0, 1, 2, 1], [2, 3, 0, 0]])
        _, memory = parallel(Associations(said / 2, story, 3), lengths=torch.tensor([4, 2]))
        return read(memory, entity, relation)

    inputs = (tensor(4, 3 + 3 + 2 + 2 + 2), tensor(2, 3), tensor(2, 2))
    assert torch.autograd.gradcheck(tell_and_read, inputs)


def test_it_leaves_the_arithmetic_of_the_process_alone() -> None:
    # Some compilers' flags for fast arithmetic make tiny numbers 0 in the whole process.
    script = (
        "import torch; from tpr_rnn.memory import native\n"
        "native.status(); print(5e-324 > 0, float(torch.tensor(1e-40)) > 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True"]
