"""The random numbers of a device: seeded for every step, and given back as they were."""

from contextlib import AbstractContextManager

import torch


def forked(device: torch.device) -> AbstractContextManager[None]:
    """Give the random numbers of a device back as they were: only its own, not of every GPU."""
    if device.type in ("cpu", "mps"):  # mps has one generator, which cannot be asked by device
        return torch.random.fork_rng(devices=[])
    return torch.random.fork_rng(devices=[device], device_type=device.type)


def seed_device(device: torch.device, seed: int) -> None:
    """Start the random numbers of a device from a seed."""
    if device.type == "cpu":  # torch.manual_seed prepares GPUs too, which takes a millisecond
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)
