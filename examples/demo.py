"""Everything in one go: generate stories of task 1, train a TPR-RNN, score it, ask it.

Run by `make demo`; everything is saved in runs/demo.
"""

import os
import shutil
import sys
from pathlib import Path

from tpr_rnn import Reader, UserError, load_corpus
from tpr_rnn.cli import app
from tpr_rnn.cli.options import command

RUN = Path("runs/demo")


def main() -> int:
    """Train, evaluate, and answer three questions."""
    shutil.rmtree(RUN, ignore_errors=True)
    os.environ.pop("TPR_RNN_DATA", None)  # the demo is about the built-in stories
    for arguments in (
        ["train", "--task", "1", "--out", str(RUN)],
        ["evaluate", str(RUN), "--split", "test"],
    ):
        status = app(arguments)
        if status:
            return int(status)

    reader = Reader.load(RUN)
    stories = load_corpus(None, task="1", splits=["test"]).stories["1"]["test"]
    for story in stories[:3]:
        question = story.questions[2]
        sentences = story.sentences[: question.after]
        answer, *_ = reader.answer(sentences, question.text)
        print("\nA story that it has never seen:")
        for sentence in sentences:
            print(f"    {sentence}")
        verdict = "right" if answer.word == question.answer.lower() else question.answer
        print(f"  {question.text}  {answer.word} ({answer.probability:.1%}; {verdict})")

    print(f"\nEverything is in {RUN}. Next, write a story of your own:\n  {command()} ask {RUN}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"demo: {error}")
