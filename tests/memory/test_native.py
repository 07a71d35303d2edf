"""The compiled kernel: when it runs, and what happens where it cannot."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from memory.random_stories import TOLERANCE, random_associations, random_queries
from tpr_rnn.memory import Associations, native, parallel, read, sequential
from tpr_rnn.memory.native import build, compiler


@pytest.fixture
def load(monkeypatch, tmp_path):
    """Load the kernel as a fresh process would, with an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    return build.load.__wrapped__


def test_it_can_be_switched_off(load, monkeypatch) -> None:
    monkeypatch.setenv("TPR_RNN_NATIVE", "0")
    assert load() == (False, "switched off by TPR_RNN_NATIVE=0")


def test_without_a_compiler_it_says_so(load, monkeypatch) -> None:
    monkeypatch.setattr(build, "_prebuilt_for_here", lambda _: [])
    monkeypatch.setenv("PATH", "")
    assert load() == (False, "no C++ compiler was found")


def test_a_compiler_that_fails_is_quoted(load, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(build, "_prebuilt_for_here", lambda _: [])
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\necho 'this is not C++' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    assert load() == (False, "the C++ kernel does not compile: this is not C++")


@pytest.fixture
def wheel(monkeypatch, tmp_path):
    """A kernel as a wheel has it, on a processor of level 3 of x86-64; and what is loaded."""
    for level in compiler.LEVELS["x86_64"]:
        library = compiler.prebuilt(tmp_path, level)
        library.parent.mkdir(exist_ok=True)
        library.touch()
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(build, "_processor", lambda: f"flags\t: {' '.join(compiler.V3)} new")
    loaded: list[Path] = []
    monkeypatch.setattr(torch.ops, "load_library", loaded.append)
    return tmp_path, loaded


def test_of_a_wheel_the_best_library_for_the_processor_is_loaded(load, wheel) -> None:
    directory, loaded = wheel
    assert load(directory) == (True, "prebuilt for x86-64-v3")
    assert loaded == [compiler.prebuilt(directory, "x86-64-v3")]


def test_a_processor_without_one_of_the_flags_of_a_level_gets_a_lower_one(
    load, wheel, monkeypatch
) -> None:
    flags = compiler.V4 - {"bmi2"}
    monkeypatch.setattr(build, "_processor", lambda: f"flags : {' '.join(flags)}")
    assert load(wheel[0]) == (True, "prebuilt for x86-64-v2")


def test_where_no_library_of_a_wheel_fits_one_is_compiled(load, wheel, monkeypatch) -> None:
    directory, loaded = wheel
    made: list[Path] = []
    monkeypatch.setattr(
        build, "compile_kernel", lambda source, library, torch: made.append(library)
    )
    monkeypatch.setattr(build, "_processor", lambda: "flags : fpu")
    assert load(directory) == (True, "compiled on first use")
    assert loaded == made


def test_a_library_of_a_wheel_that_does_not_load_is_said(load, wheel, monkeypatch) -> None:
    def refuse(library: Path) -> None:
        raise OSError("undefined symbol: torch_library_impl")

    monkeypatch.setattr(torch.ops, "load_library", refuse)
    monkeypatch.setenv("PATH", "")
    reason = "no C++ compiler was found; the prebuilt one does not load: undefined symbol"
    assert load(wheel[0]) == (False, f"{reason}: torch_library_impl")


def test_this_processor_is_known() -> None:
    levels = compiler.LEVELS.get(platform.machine())
    if platform.system() != "Linux" or levels is None:
        pytest.skip("wheels have libraries for Linux on x86_64 and aarch64")
    assert build._prebuilt_for_here(Path("kernel")), build._processor()


def test_status_names_the_form(monkeypatch) -> None:
    monkeypatch.setattr(build, "load", lambda: build.Kernel(True, "prebuilt for x86-64-v3"))
    assert native.status() == "native kernel (prebuilt for x86-64-v3)"
    monkeypatch.setattr(build, "load", lambda: build.Kernel(False, "no reason"))
    assert native.status() == "plain PyTorch (no reason)"
    assert not native.usable(torch.zeros(1))


def test_only_plain_floats_on_a_cpu_are_for_the_kernel() -> None:
    assert not native.usable(torch.zeros(1, dtype=torch.float16))
    assert not native.usable(torch.zeros(1, device="meta"))


def test_it_is_used_where_it_is_loaded_and_while_a_graph_is_traced(monkeypatch) -> None:
    for loaded in (False, True):
        monkeypatch.setattr(build, "load", lambda loaded=loaded: build.Kernel(loaded, "made up"))
        assert native.usable(torch.zeros(1)) == loaded
    monkeypatch.setattr(build, "load", lambda: build.Kernel(False, "made up"))
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert native.usable(torch.zeros(1))


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


OPERATOR_INPUTS = {
    # Two stories of four sentences of 12 numbers, and three queries of two hops about them.
    "table": torch.ones(8, 12),
    "story": torch.arange(8).view(2, 4),
    "lengths": torch.tensor([4, 2]),
    "state": torch.zeros(2, 3, 2, 3),
    "asked": torch.ones(2, 3 + 2 * 2),
    "row": torch.tensor([0, 1, 1]),
    "about": torch.tensor([1, 0, 1]),
    "position": torch.tensor([0, 4, 3]),
    "scale": torch.ones(2),
    "shift": torch.zeros(2),
}


@needs_kernel
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("lengths", [4, 7000], "story 1 has 4 sentences, not 7000"),
        ("lengths", [-1, 2], "story 0 has 4 sentences, not -1"),
        ("lengths", [4], r"a batch of lengths is of shape \[1\]"),
        ("lengths", [4, 4, 4], r"a batch of lengths is of shape \[3\]"),
        ("story", [[0, 1, 2, 8], [0, 1, 2, 3]], "there is no sentence 8 in a table of 8"),
        ("story", [[0, 1, 2, 3], [0, -1, 2, 3]], "there is no sentence -1"),
        ("state", torch.zeros(2, 3, 2, 2), "a state is of shape"),
        ("state", torch.zeros(1, 3, 2, 3), "a state is of shape"),
        ("table", torch.zeros(8, 13), "a sentence of 13 numbers"),
        ("table", torch.zeros(8, 6), "a sentence of 6 numbers"),
        ("asked", torch.zeros(2, 8), "a query of 8 numbers"),
        ("row", [0, 2, 0], "there is no query 2 in a table of 2"),
        ("row", [0, -1, 0], "there is no query -1"),
        ("about", [0, 2, 0], "there is no story 2 among 2"),
        ("about", [0, -1, 0], "there is no story -1"),
        ("about", [0, 1], r"stories of queries is of shape \[2\]"),
        ("about", None, "3 queries are not the same number for each of 2 stories"),
        ("position", [0, 5, 0], "there is no position 5"),
        ("position", [0, -1, 0], "there is no position -1"),
        ("position", [0, 1], r"positions is of shape \[2\]"),
        ("scale", torch.ones(1), "a scale is of shape"),
        ("shift", torch.ones(3), "a shift is of shape"),
    ],
)
def test_the_kernel_itself_looks_at_every_bound(field, value, message) -> None:
    """Not a wrong result and no crash, forward or backward, whoever calls the operator."""
    operator = torch.ops.tpr_rnn
    settings = (3, 0b111, 16, 16)
    change, _, _ = operator.update(*OPERATOR_INPUTS.values(), *settings)
    wrong = OPERATOR_INPUTS | {field: None if value is None else torch.as_tensor(value)}
    with pytest.raises(ValueError, match=message):
        operator.update(*wrong.values(), *settings)
    with pytest.raises(ValueError, match=message):
        operator.update_backward(change, None, None, change, *wrong.values(), *settings)


@needs_kernel
def test_gradients_that_do_not_fit_are_refused() -> None:
    inputs = (*OPERATOR_INPUTS.values(), 3, 0b111, 16, 16)
    outputs = torch.ops.tpr_rnn.update(*inputs)
    fitting = [*outputs, outputs[0]]
    for place in range(4):
        wrong = [*fitting[:place], fitting[place][:1], *fitting[place + 1 :]]
        with pytest.raises(ValueError, match="is of shape"):
            torch.ops.tpr_rnn.update_backward(*wrong, *inputs)


@needs_kernel
def test_what_lies_behind_the_end_of_a_story_is_no_sentence() -> None:
    story = torch.tensor([[0, 1, 2, 3], [0, 1, 999, -1]])
    torch.ops.tpr_rnn.update(*(OPERATOR_INPUTS | {"story": story}).values(), 3, 0b111, 16, 16)


@needs_kernel
def test_the_order_in_which_operations_are_named_does_not_matter(story) -> None:
    expected, _ = sequential(story, operations=("write", "backlink"))
    for form in (sequential, parallel):
        changes, _ = form(story, operations=("backlink", "write"))
        torch.testing.assert_close(changes, expected)


@needs_kernel
@pytest.mark.parametrize("threads", [2, 3, 9])
def test_threads_share_the_stories(threads) -> None:
    said = random_associations(5, 9, 3, 2, seed=1)
    queries = random_queries(said, 20, seed=2)
    inputs = (said.table, queries.table, queries.scale, queries.shift)

    def results(form) -> tuple[torch.Tensor, ...]:
        changes, _, found = form(said, queries=queries)
        total = (changes**2).sum() + (found**2).sum()
        return changes, found, *torch.autograd.grad(total, inputs)

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        actual = results(parallel)
    finally:
        torch.set_num_threads(before)
    for one, other in zip(actual, results(sequential), strict=True):
        torch.testing.assert_close(one, other, **TOLERANCE)


@needs_kernel
@pytest.mark.parametrize("chunk", [None, 3])
def test_what_no_query_sees_has_no_gradient_even_if_it_is_infinite(chunk) -> None:
    said = random_associations(2, 8, 5, 3, seed=1)
    later = torch.arange(16) % 8 >= 4
    table = torch.where(later[:, None], 1e200 * said.table, said.table).detach().requires_grad_()
    queries = random_queries(said, 12, seed=2)
    queries = queries._replace(position=torch.tensor([0, 2, 4] * 4))

    def gradient(story: torch.Tensor) -> torch.Tensor:
        told = Associations(table, story, said.entity_size)
        _, _, found = parallel(told, queries=queries, chunk=chunk)
        return torch.autograd.grad(found.square().sum(), table)[0]

    torch.testing.assert_close(gradient(said.story), gradient(said.story[:, :4]), **TOLERANCE)


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


@needs_kernel
def test_an_operation_that_the_kernel_lacks_runs_in_plain_pytorch(monkeypatch) -> None:
    monkeypatch.setattr(native.operator, "OPERATIONS", ("write", "move"))
    assert native.usable(torch.zeros(1), ("write",))
    assert not native.usable(torch.zeros(1), ("write", "backlink"))


def test_somebody_looks_at_operators_who_traces_them_or_has_tensors_of_a_kind(monkeypatch) -> None:
    class Own(torch.Tensor):
        pass

    plain = torch.zeros(1)
    assert not native.observed(plain)
    assert not native.observed(torch.nn.Parameter(plain))
    assert native.observed(plain.as_subclass(Own))
    with FlopCounterMode(display=False):
        assert native.observed(plain)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert native.observed(plain)
