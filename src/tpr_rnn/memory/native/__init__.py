"""The parallel form as a small C++ kernel, compiled on first use.

Where there is no compiler, or no CPU tensor, the same mathematics runs in plain PyTorch;
`status` says which it is, and why.
"""

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tpr_rnn.memory.associations import Associations
from tpr_rnn.memory.operations import SPECS, Operation
from tpr_rnn.memory.states import DenseMemory

DIRECTORY = Path(__file__).parent
# Sums may be reordered to fill vector registers; infinities and NaNs keep their meaning. Not by
# -ffast-math: a library that is linked with it makes the whole process take tiny numbers for 0.
REORDER = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno")
FLAGS = ("-O3", "-march=native", *REORDER, "-freciprocal-math", "-std=c++20", "-fPIC")


def usable(tensor: Tensor) -> bool:
    """Whether the kernel can work on such tensors here."""
    return (
        tensor.device.type == "cpu"
        and tensor.dtype in (torch.float32, torch.float64)
        and _load() is None
    )


def status() -> str:
    """Which form runs on the CPU, for a person to read."""
    problem = _load()
    return "native kernel" if problem is None else f"plain PyTorch ({problem})"


def update(
    associations: Associations,
    found: Float[Tensor, "b t o e"] | None,
    operations: tuple[Operation, ...],
    lengths: Int[Tensor, " b"] | None,
) -> Float[Tensor, "b t o f"]:
    """The changes that each operation makes.

    Args:
        associations: what each sentence says.
        found: what each operation finds in the memory before the first sentence; None: nothing.
        operations: the memory operations in use.
        lengths: sentences in each story; None: all.
    """
    table, story, entity_size = associations
    lengths = _lengths(story, lengths)
    found = None if found is None else found.contiguous()
    mask = _mask(operations)
    changes: Tensor = _Update.apply(
        table.contiguous(), story.long().contiguous(), found, lengths, entity_size, mask
    )
    return changes


def update_chunks(
    associations: Associations,
    memory: DenseMemory,
    operations: tuple[Operation, ...],
    lengths: Int[Tensor, " b"] | None,
    chunk: int,
) -> tuple[Float[Tensor, "b t o f"], DenseMemory]:
    """The changes that each operation makes, and the memory after them.

    The stories are told in chunks of so many sentences, and a dense memory is carried along.
    """
    table, story, _ = associations
    lengths = _lengths(story, lengths)
    changes, tensor = _UpdateChunks.apply(
        table.contiguous(),
        story.long().contiguous(),
        memory.tensor.contiguous(),
        lengths,
        chunk,
        _mask(operations),
    )
    return changes, DenseMemory(tensor)


def walk(
    associations: Associations,
    asked: Float[Tensor, "a d"],
    question: Int[Tensor, " b"],
    scale: Float[Tensor, " s"] | None,
    shift: Float[Tensor, " s"] | None,
    operations: tuple[Operation, ...],
    lengths: Int[Tensor, " b"] | None,
) -> Float[Tensor, "b s f"]:
    """Tell stories and ask one question about each: what every inference step retrieves.

    Args:
        associations: what each sentence says.
        asked: different questions, n and l1, l2, ... of each side by side.
        question: the row of `asked` for each story.
        scale: of the normalisation after each step; None: there is none.
        shift: likewise.
        operations: the memory operations in use.
        lengths: sentences in each story; None: all.
    """
    table, story, entity_size = associations
    retrieved: Tensor = _Walk.apply(
        table.contiguous(),
        story.long().contiguous(),
        _lengths(story, lengths),
        asked.contiguous(),
        question.long().contiguous(),
        scale,
        shift,
        entity_size,
        _mask(operations),
    )
    return retrieved


class _Update(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        table: Tensor,
        story: Tensor,
        found: Tensor | None,
        lengths: Tensor,
        entity_size: int,
        mask: int,
    ) -> Tensor:
        change: Tensor = torch.ops.tpr_rnn.update(table, story, found, lengths, entity_size, mask)
        ctx.save_for_backward(change, table, story, lengths)
        ctx.settings = (entity_size, mask)
        ctx.found = found is not None
        return change

    @staticmethod
    def backward(ctx: Any, g_change: Tensor) -> tuple[Tensor | None, ...]:
        _refuse_second_derivatives()
        g_table, g_content = torch.ops.tpr_rnn.update_backward(
            g_change.contiguous(), *ctx.saved_tensors, *ctx.settings
        )
        return g_table, None, -g_content if ctx.found else None, None, None, None


class _UpdateChunks(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        table: Tensor,
        story: Tensor,
        memory: Tensor,
        lengths: Tensor,
        chunk: int,
        mask: int,
    ) -> tuple[Tensor, Tensor]:
        change, final = torch.ops.tpr_rnn.update_chunks(table, story, memory, lengths, chunk, mask)
        ctx.save_for_backward(change, table, story, memory, lengths)
        ctx.settings = (chunk, mask)
        return change, final

    @staticmethod
    def backward(ctx: Any, g_change: Tensor, g_final: Tensor) -> tuple[Tensor | None, ...]:
        _refuse_second_derivatives()
        g_table, g_memory = torch.ops.tpr_rnn.update_chunks_backward(
            g_change.contiguous(), g_final.contiguous(), *ctx.saved_tensors, *ctx.settings
        )
        return g_table, None, g_memory, None, None, None


class _Walk(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        table: Tensor,
        story: Tensor,
        lengths: Tensor,
        asked: Tensor,
        question: Tensor,
        scale: Tensor | None,
        shift: Tensor | None,
        entity_size: int,
        mask: int,
    ) -> Tensor:
        inputs = (table, story, lengths, asked, question, scale, shift)
        ctx.settings = (entity_size, mask)
        retrieved, change = torch.ops.tpr_rnn.walk(*inputs, *ctx.settings)
        ctx.save_for_backward(change, *inputs)
        return cast(Tensor, retrieved)

    @staticmethod
    def backward(ctx: Any, g_retrieved: Tensor) -> tuple[Tensor | None, ...]:
        _refuse_second_derivatives()
        g_table, g_asked, g_norm = torch.ops.tpr_rnn.walk_backward(
            g_retrieved.contiguous(), *ctx.saved_tensors, *ctx.settings
        )
        g_scale, g_shift = g_norm if ctx.needs_input_grad[5] else (None, None)
        return g_table, None, None, g_asked, None, g_scale, g_shift, None, None


def _lengths(story: Tensor, lengths: Tensor | None) -> Tensor:
    """Lengths of stories as the kernel wants them; None: there is no padding."""
    if lengths is None:
        return torch.full((len(story),), story.shape[1])
    return lengths.long().contiguous()


def _refuse_second_derivatives() -> None:
    """A backward pass with gradients on is one of `create_graph`, which the kernel has not."""
    if torch.is_grad_enabled():
        raise RuntimeError(
            "the native kernel has no second derivatives; set TPR_RNN_NATIVE=0 to use PyTorch"
        )


def _mask(operations: tuple[Operation, ...]) -> int:
    """The operations as the kernel wants them: a bit each."""
    return sum(1 << list(SPECS).index(name) for name in operations)


@cache
def _load() -> str | None:
    """Load the kernel, compiling it if need be; return what is in the way, if anything is."""
    if os.environ.get("TPR_RNN_NATIVE") == "0":
        return "switched off by TPR_RNN_NATIVE=0"
    try:
        library = _cache_directory() / f"kernel-{_fingerprint()}.so"
        if not library.exists():
            _compile(library)
        try:
            torch.ops.load_library(library)
        except OSError:  # a damaged file; make it anew, once
            _compile(library)
            torch.ops.load_library(library)
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or "").strip().splitlines() or ["no message"]
        return f"the C++ kernel does not compile: {lines[0]}"
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
        return str(error).splitlines()[0]
    return None


def _compile(library: Path) -> None:
    found = next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    compiler = shlex.split(os.environ.get("CXX") or found or "")
    if not compiler:
        raise OSError("no C++ compiler was found")
    if shutil.which(compiler[0]) is None:
        raise OSError(f"there is no compiler {compiler[0]}, which CXX names")
    torch_directory = Path(torch.__file__).parent
    include = torch_directory / "include"
    library.parent.mkdir(parents=True, exist_ok=True)
    # Compiled beside its place and moved there, so that it is whole or not there at all.
    with tempfile.TemporaryDirectory(dir=library.parent) as directory:
        built = Path(directory) / library.name
        command = [*compiler, *FLAGS, "-shared", str(DIRECTORY / "kernel.cpp"), "-o", str(built)]
        command += [f"-I{include}", f"-I{include}/torch/csrc/api/include"]
        command += [f"-L{torch_directory / 'lib'}", "-lc10", "-ltorch_cpu"]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
        os.replace(built, library)


def _cache_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tpr-rnn"


def _fingerprint() -> str:
    """Another source, torch, Python or processor needs another kernel."""
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text("utf-8", "replace").splitlines()
        cpu = next((line for line in lines if line.startswith(("flags", "Features"))), cpu)
    sources = [path.read_text("utf-8") for path in sorted(DIRECTORY.glob("*.[ch]*"))]
    parts = (*sources, torch.__version__, cpu, *FLAGS)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
