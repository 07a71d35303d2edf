"""Which sentences an explanation should name: the numbers of `analysis.basis.Rule`, by trial.

    python -m benchmarks.explanation_rule --out results/analysis/rule.json

Traces generated stories, which nobody measures explanations on, and compares the sentences that
each rule names with the supporting ones. The best rule has the highest harmonic mean of precision
and recall (each a mean over the tasks, where the answer is right).
"""

import argparse
import itertools
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from tpr_rnn.analysis.basis import Rule, Search, told_shares
from tpr_rnn.analysis.faithfulness import choose_questions
from tpr_rnn.analysis.steps import follow
from tpr_rnn.analysis.trace import trace
from tpr_rnn.data.story import Story
from tpr_rnn.data.vocabulary import answer_word
from tpr_rnn.models.reader import Reader
from tpr_rnn.pretrained import load_pretrained, pretrained_run
from tpr_rnn.training.run_config import corpus_for

RULES = tuple(
    Rule(enough=enough, missed=missed, mostly=mostly)
    for enough, missed, mostly in itertools.product(
        (0.5, 0.6, 0.75), (0.1, 0.2, 0.3), (0.6, 0.7, 0.85)
    )
)


@torch.no_grad()
def compare_rules(
    reader: Reader, stories: Mapping[str, Sequence[Story]], questions: int, seed: int
) -> dict[str, Any]:
    """The precision and recall of each rule on so many questions of each task, best first."""
    measured: dict[Rule, dict[str, list[tuple[float, float]]]] = {
        rule: defaultdict(list) for rule in RULES
    }
    for task, some in stories.items():
        for story, question in choose_questions(some, questions, seed):
            told = story.sentences[: question.after]
            found = trace(reader, told, question.text)
            assert found.question is not None
            answer = found.question.answers[0].word
            if not question.supports or answer != answer_word(question.answer):
                continue
            walk = follow(reader, reader.as_read(told), reader.as_asked(question.text)).walk
            assert walk is not None
            shares = torch.tensor([told_shares(step, walk.told) for step in found.question.steps])
            supports = set(question.supports)
            for rule in RULES:
                search = Search(walk, reader.vocabulary.number(answer), shares, rule)
                named = {found.skipped + sentence for sentence in search.rests_on()}
                both = len(named & supports)
                measured[rule][task].append((both / (len(named) or 1), both / len(supports)))
    rows = []
    for rule, by_task in measured.items():
        precision, recall = (
            sum(sum(pair[side] for pair in pairs) / len(pairs) for pairs in by_task.values())
            / len(by_task)
            for side in (0, 1)
        )
        harmonic = 2 * precision * recall / (precision + recall)
        numbers = {"precision": precision, "recall": recall, "harmonic_mean": harmonic}
        rows.append(vars(rule) | {name: round(value, 4) for name, value in numbers.items()})
    rows.sort(key=lambda row: -row["harmonic_mean"])
    answers = sum(map(len, measured[RULES[0]].values()))
    return {"right_answers": answers, "seed": seed, "rules": rows}


def main() -> None:
    """Compare, print the best and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--questions", type=int, default=20, help="of each task")
    parser.add_argument("--seed", type=int, default=100, help="of their choice")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    corpus, _ = corpus_for(pretrained_run(), None, ["valid"])
    stories = {task: splits["valid"] for task, splits in corpus.stories.items()}
    found = {"data": corpus.name} | compare_rules(
        load_pretrained(), stories, given.questions, given.seed
    )
    given.out.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    print(f"{found['right_answers']} right answers; best first")
    for row in found["rules"][:5]:
        print(row)


if __name__ == "__main__":
    main()
