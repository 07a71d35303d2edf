"""The memory after a story as a picture: nodes are entities, arrows are what it holds."""

from pathlib import Path
from typing import Any

from tpr_rnn.analysis.explanation import node_name, reasons
from tpr_rnn.analysis.schema import Association, Trace
from tpr_rnn.memory import SPECS
from tpr_rnn.pictures import check_format, pyplot, save_picture

FOUND = "#FFF3C4"

WIDTH, GAP, ROW = 10.0, 5.5, 0.55
"""In inches: the picture, from column to column, from node to node."""
SWEEPS = 8
"""How often the columns are sorted by each other; they come to rest sooner."""

Place = tuple[float, float]


def draw_memory(trace: Trace, path: Path) -> None:
    """Draw what the memory holds at the end of a trace, and what the question found in it."""
    check_format(path)
    plot = pyplot("analysis")
    arrows = _arrows(trace)
    columns = _columns(trace, arrows)
    places = _places(columns)
    height = ROW * max(1, *map(len, columns))
    figure, axes = plot.subplots(figsize=(WIDTH, height + 1.3), layout="constrained")
    axes.set(xlim=(-WIDTH / 2, WIDTH / 2), ylim=(-height / 2, height / 2), aspect="equal")
    axes.axis("off")
    loops = [arrow for arrow in arrows if arrow.source == arrow.target]
    boxes = {node: _draw_node(axes, trace, node, loops, place) for node, place in places.items()}
    for arrow in arrows:
        if arrow not in loops:
            _draw_arrow(axes, trace, arrow, places, boxes)
    used = [SPECS[operation] for operation in trace.operations]
    lines = [plot.Line2D([], [], color=spec.colour, linestyle=spec.line) for spec in used]
    labels = [f"{spec.title}: {spec.meaning}" for spec in used]
    figure.legend(lines, labels, loc="outside lower center", ncols=3)
    figure.suptitle(_title(trace))
    save_picture(figure, path)
    plot.close(figure)


def _arrows(trace: Trace) -> list[Association]:
    """The arrows to draw: of several between two nodes by one operation, the latest."""
    held = trace.sentences[-1].held if trace.sentences else ()
    return list({(arrow.source, arrow.target, arrow.operation): arrow for arrow in held}.values())


def _columns(trace: Trace, arrows: list[Association]) -> tuple[list[int], list[int]]:
    """Nodes that sentences tell of as e1, and those that they tell of as e2.

    Each column is sorted by where its neighbours stand in the other one: few arrows cross then.
    """
    nodes = sorted({node for arrow in arrows for node in (arrow.source, arrow.target)})
    left: list[int] = []
    right: list[int] = []
    for node in nodes:
        parts = [part for _, part in trace.nodes[node].members]
        (left if 2 * parts.count("e1") >= len(parts) else right).append(node)
    for _ in range(SWEEPS):
        right = _sorted_by(right, left, arrows)
        left = _sorted_by(left, right, arrows)
    return left, right


def _sorted_by(nodes: list[int], others: list[int], arrows: list[Association]) -> list[int]:
    height = {node: index / len(others) for index, node in enumerate(others)}
    mean = {}
    for index, node in enumerate(nodes):
        pairs = [{arrow.source, arrow.target} for arrow in arrows]
        neighbours = [height[n] for pair in pairs if node in pair for n in pair if n in height]
        mean[node] = sum(neighbours) / len(neighbours) if neighbours else index / len(nodes)
    return sorted(nodes, key=lambda node: mean[node])


def _places(columns: tuple[list[int], list[int]]) -> dict[int, Place]:
    return {
        node: (side * GAP / 2, ROW * ((len(column) - 1) / 2 - index))
        for side, column in zip((-1, 1), columns, strict=True)
        for index, node in enumerate(column)
    }


def _title(trace: Trace) -> str:
    told = f"The memory after {len(trace.sentences)} {trace.unit}s (number: the one that told it)"
    if trace.question is None:
        return told
    mixed = [
        f"step {number} found {step.name}"
        for number, step in enumerate(reasons(trace, trace.question).steps, start=1)
        if not trace.question.steps[number - 1].retrieved.is_node
    ]
    answered = f'{trace.question.text}  "{trace.question.answers[0].word}"'
    # What is no node has no place in the picture.
    return "\n".join([answered, told, *([f"In no box: {', '.join(mixed)}"] if mixed else [])])


def _draw_node(axes: Any, trace: Trace, node: int, loops: list[Association], place: Place) -> Any:
    """A box with the node's name, what leads from it to itself, and the steps that found it."""
    steps = [
        str(number) if step.retrieved.cosine > 0 else f"{number} (with a minus)"
        for number, step in enumerate(trace.question.steps if trace.question else (), start=1)
        if step.retrieved.node == node and step.retrieved.is_node
    ]
    text = node_name(trace, node)
    own = [_told_by(trace, arrow) for arrow in loops if arrow.source == node]
    if own:
        text += f"\nto itself: {', '.join(own)}"
    if steps:
        text += f"\nfound by step {', '.join(steps)}"
    box = {
        "boxstyle": "round,pad=0.3",
        "facecolor": FOUND if steps else "white",
        "edgecolor": "black" if steps else "#888888",
    }
    return axes.text(*place, text, ha="center", va="center", bbox=box, zorder=3).get_bbox_patch()


def _draw_arrow(
    axes: Any, trace: Trace, arrow: Association, places: dict[int, Place], boxes: dict[int, Any]
) -> None:
    spec = SPECS[arrow.operation]
    start, end = places[arrow.source], places[arrow.target]
    # Every second operation swerves further from the straight line, so that arrows between two
    # nodes stand apart. Within a column that line runs through the nodes between.
    aside = list(SPECS).index(arrow.operation) % 2
    bend = 0.05 + 0.09 * aside + (0.5 if start[0] == end[0] else 0)
    axes.annotate(
        "",
        xy=end,
        xytext=start,
        arrowprops={
            "arrowstyle": "-|>",
            "connectionstyle": f"arc3,rad={bend}",
            "color": spec.colour,
            "linestyle": spec.line,
            "linewidth": 0.5 + 1.3 * min(abs(arrow.strength), 1.5),
            "patchA": boxes[arrow.source],
            "patchB": boxes[arrow.target],
            "shrinkA": 1,
            "shrinkB": 1,
        },
    )
    # On the curve, not in its middle, where most arrows cross.
    control = (
        (start[0] + end[0]) / 2 + bend * (end[1] - start[1]),
        (start[1] + end[1]) / 2 - bend * (end[0] - start[0]),
    )
    way = 0.3 + 0.12 * aside
    x, y = (
        (1 - way) ** 2 * a + 2 * way * (1 - way) * c + way**2 * b
        for a, b, c in zip(start, end, control, strict=True)
    )
    paper = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
    label = _told_by(trace, arrow)
    axes.text(x, y, label, color=spec.colour, ha="center", va="center", fontsize=8, bbox=paper)


def _told_by(trace: Trace, arrow: Association) -> str:
    """The number of the sentence that told it, or the opposite of it."""
    return f"{'' if arrow.strength > 0 else 'not '}{trace.skipped + arrow.told_by + 1}"
