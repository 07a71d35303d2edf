"""What the reads of a layer have found, as exact attention over what it was told."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import embedding

from tpr_rnn.errors import UserError
from tpr_rnn.memory import SPECS, DenseMemory, Operation, key_rows, parallel, told_weights
from tpr_rnn.nn.memory import Told, TPRMemory
from tpr_rnn.pictures import check_format, pyplot, save_picture


class Attention(NamedTuple):
    """How much of what every step has told stands in what every read has found.

    For a layer that began with no state, a read found exactly the sum over all steps and operations
    of `weights` times `told`, before its layer norm. Weights may be negative.
    """

    weights: Float[Tensor, "b m s t t o"]
    """Story, head, hop, step that reads, step that has told, operation."""
    told: Float[Tensor, "b m t o f"]
    """What each step has given to each operation to store."""
    operations: tuple[Operation, ...]
    """Those that store something of a step: others only pass on what is there."""

    def draw(
        self,
        path: Path | str,
        *,
        story: int = 0,
        head: int = 0,
        steps: Sequence[str] | None = None,
    ) -> None:
        """Write a picture: a panel for each hop and operation.

        Args:
            path: the file; its ending says which format.
            story: which story.
            head: which head.
            steps: what to call the steps; None: numbers.
        """
        path = Path(path)
        check_format(path)
        plot = pyplot()
        weights = self.weights[story, head].detach().float().cpu().numpy()
        hops, time = weights.shape[:2]
        names = [str(step) for step in range(time)] if steps is None else list(steps)
        if len(names) != time:
            raise UserError(f"there are {time} steps, but {len(names)} names for them")
        most = float(abs(weights).max()) or 1.0
        columns = len(self.operations)
        size = (1.2 + columns * (1.2 + 0.16 * time), hops * (1.2 + 0.16 * time))
        figure, axes = plot.subplots(
            hops, columns, figsize=size, squeeze=False, layout="constrained"
        )
        for hop in range(hops):
            for column, name in enumerate(self.operations):
                panel = axes[hop][column]
                image = panel.imshow(
                    weights[hop, :, :, column], cmap="RdBu_r", vmin=-most, vmax=most
                )
                panel.set_title(f"hop {hop + 1}: {SPECS[name].meaning}", fontsize=8)
                panel.set_xticks(range(time), names, rotation=90, fontsize=6)
                panel.set_yticks(range(time), names, fontsize=6)
                panel.set_xlabel("told at", fontsize=7)
                panel.set_ylabel("read at", fontsize=7)
        figure.colorbar(image, ax=axes, shrink=0.6, label="weight")
        save_picture(figure, path)
        plot.close(figure)


def attention(layer: TPRMemory, told: Told, before: DenseMemory) -> Attention:
    """See `TPRMemory.attention`; every head is a story here."""
    said = told.associations.until(told.lengths)
    stories, time = said.story.shape
    *_, found = parallel(said, operations=layer.operations, state=before, queries=told.queries)
    asked = embedding(told.queries.row, told.queries.table).unflatten(0, (stories, time))
    entity, along = asked.split([layer.entity_size, layer.hops * layer.relation_size], dim=2)
    found = found.view(stories, time, layer.hops, layer.entity_size)
    starts = torch.cat((entity.unsqueeze(2), found[:, :, :-1]), dim=2)  # of each hop
    rows = key_rows(said, layer.operations)
    count = len(layer.operations)
    seen = rows.sentence(count) <= torch.arange(time, device=asked.device).unsqueeze(1)
    each_hop = [
        told_weights(rows, count, rows.agreement(start, relation) * seen)
        for start, relation in zip(
            starts.unbind(2), along.unflatten(2, (layer.hops, -1)).unbind(2), strict=True
        )
    ]
    storing = [place for place, name in enumerate(layer.operations) if SPECS[name].content]
    by_head = (stories // layer.heads, layer.heads)
    weights = torch.stack(each_hop, dim=1).unflatten(3, (time, count))[..., storing]
    content = rows.content.unflatten(1, (time, count))[:, :, storing]
    return Attention(
        weights.unflatten(0, by_head),
        content.unflatten(0, by_head),
        tuple(layer.operations[place] for place in storing),
    )
