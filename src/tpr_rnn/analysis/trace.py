"""One trace for every view: what the memory holds after each sentence, and why it answers so.

    reader = Reader.load("runs/task-1")
    found = trace(reader, ["Mary went to the kitchen.", "John left."], "Where is Mary?")
    found.as_json()

`schema` documents all that it holds. Every number is computed from the model and nothing is
simulated; the tests compare them with the step-by-step memory.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from tpr_rnn.analysis.graph import changes_by_step, held_associations, story_graph
from tpr_rnn.analysis.inference import trace_question
from tpr_rnn.analysis.schema import SentenceTrace, Trace
from tpr_rnn.analysis.steps import follow
from tpr_rnn.data.vocabulary import tokenize
from tpr_rnn.errors import UserError
from tpr_rnn.models.reader import Reader


@torch.no_grad()
def trace(
    reader: Reader,
    story: Sequence[str],
    question: str | None = None,
    *,
    operations: Sequence[str] | None = None,
    top: int = 5,
    kinds: Mapping[str, str] | None = None,
    supports: Sequence[int] = (),
) -> Trace:
    """Follow a story, and a question about it, through a model's memory.

    Args:
        reader: a trained model with its words; unknown words take slots (`Reader.for_words`), or
            are an error that names them.
        story: the sentences, in order; the last `reader.max_sentences` of them count.
        question: asked after the last sentence; None: only the story is followed.
        operations: use only these memory operations of the model's, to see what the others are
            good for; None: all that it was trained with.
        top: how many answers to give.
        kinds: what new words are, where that is not to be told from their sentences.
        supports: the sentences that support the right answer, where they are known; what of them
            the model does without is then said (`Basis.unused`).
    """
    if operations is not None:
        reader = reader.with_operations(operations)
    said = [*story] if question is None else [*story, question]
    reader = reader.for_words(said, kinds)
    reader.check(said)
    texts = reader.as_read(story)
    not_told = () if question is None else tuple(reader.not_told(story, question, kinds))
    steps = follow(reader, texts, None if question is None else reader.as_asked(question))
    if not steps.memory.change.isfinite().all():
        raise UserError(
            f"this model's memory grows beyond all numbers within these {len(texts)} sentences; "
            "tell fewer of them, or use a model that was trained with bounded_keys"
        )
    graph = story_graph(steps)
    made = changes_by_step(graph, steps.memory)
    held = held_associations(graph, steps.memory)
    skipped = story[: len(story) - len(texts)]
    needed = [] if steps.unit == "word" else [number - len(skipped) for number in supports]
    return Trace(
        unit=steps.unit,
        skipped=len(skipped) if steps.unit == "sentence" else sum(map(_words, skipped)),
        operations=reader.memory_model.operations,
        nodes=graph.entities.groups,
        relations=graph.relations.groups,
        sentences=tuple(
            SentenceTrace(
                text,
                steps.tokens[t],
                len(skipped) + steps.line[t],
                graph.parts[t],
                made[t],
                held[t],
            )
            for t, text in enumerate(steps.texts)
        ),
        similarity={name: _cosines(part) for name, part in steps.said.items()},
        question=None
        if steps.walk is None
        else trace_question(reader, graph, steps.memory, steps.walk, top, needed, not_told),
        new_words={new.word: new.kind for new in reader.new_words},
    )


def _words(text: str) -> int:
    return len(tokenize(text))


def _cosines(vectors: Tensor) -> tuple[tuple[float, ...], ...]:
    unit = normalize(vectors, dim=1)
    return tuple(map(tuple, (unit @ unit.mT).tolist()))
