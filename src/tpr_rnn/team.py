"""Several processes that train one model, as torchrun starts them (data parallel).

Each takes some stories of every batch, and the gradients are added up. The first one (rank 0) has
the run: it alone reads and writes its directory, and tells the others what to do.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous


class TeamLost(Exception):
    """A process of the team died."""


def started_by_torchrun() -> bool:
    """Whether this process is one of several that torchrun has started."""
    return dist.is_torchelastic_launched() and int(os.environ["WORLD_SIZE"]) > 1


def leads() -> bool:
    """Whether this process has the run: it is alone, or the first of its team."""
    return not started_by_torchrun() or os.environ["RANK"] == "0"


def device_here(name: str) -> str:
    """The device of this process: in a team, each has a GPU of its own."""
    return f"cuda:{os.environ['LOCAL_RANK']}" if name == "cuda" and started_by_torchrun() else name


class Team:
    """The processes, seen from one of them. All must call the same methods in the same order."""

    def __init__(self) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()

    @staticmethod
    @contextmanager
    def joined() -> "Iterator[Team]":
        """Meet the other processes, and leave them at the end."""
        gpus = torch.cuda.is_available() and dist.is_nccl_available()
        store, rank, size = next(rendezvous("env://"))
        # torchrun keeps its store where it starts dead processes again on a fixed port: the
        # addresses of those before must not be taken for those of the present ones.
        attempt = PrefixStore(f"attempt {os.environ['TORCHELASTIC_RESTART_COUNT']}", store)
        backend = "cpu:gloo,cuda:nccl" if gpus else "gloo"
        dist.init_process_group(backend, store=attempt, rank=rank, world_size=size)
        try:
            yield Team()
        finally:
            dist.destroy_process_group()

    def add_up(self, *tensors: Tensor) -> None:
        """Put the sum of what each process has into each tensor."""
        for tensor in tensors:
            _call(dist.all_reduce, tensor)

    def any(self, flag: bool) -> bool:
        """Whether any process says so."""
        flags = torch.tensor(float(flag))
        self.add_up(flags)
        return bool(flags)

    def copy(self, tensors: Iterable[Tensor]) -> None:
        """Put what the first process has into each tensor."""
        for tensor in tensors:
            _call(dist.broadcast, tensor, src=0)

    def tell(self, message: Any = None) -> Any:
        """What the first process has to say; what others give counts for nothing."""
        messages = [message]
        _call(dist.broadcast_object_list, messages, src=0)
        return messages[0]


def _call(collective: Callable[..., object], *arguments: Any, **options: Any) -> None:
    try:
        collective(*arguments, **options)
    except RuntimeError as error:  # the connection is closed, or nobody answers any more
        raise TeamLost(str(error).splitlines()[0]) from error
