"""How a model fares on the suite of wide questions."""

from tpr_rnn.data.encoding import UNKNOWN_ANSWER, encode
from tpr_rnn.data.simulator.wide.suite import suite
from tpr_rnn.data.simulator.wide.words import UNKNOWN
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.calibration import calibration_error
from tpr_rnn.evaluation.record import ProbePart, ProbeScore
from tpr_rnn.evaluation.scoring import answered, percent
from tpr_rnn.models.reader import Reader

WIDE = "wide"
"""The name of this probe."""


def wide_errors(reader: Reader) -> ProbeScore:
    """Errors by kind; kinds that need words which the model does not know are left out.

    Measured besides: of the questions that nothing told answers, how many get `unknown`, and of all
    others, how many get it wrongly; and the expected calibration error over all of them.
    """
    vocabulary = reader.vocabulary
    stories = suite(vocabulary.__contains__)
    if not any(stories.values()):
        raise UserError(
            "this model knows the words of no kind of wide question; train one on the task all, "
            "wide or all+wide, or leave out --wide"
        )
    caps = {} if reader.max_sentences is None else dict.fromkeys(stories, reader.max_sentences)
    data = encode(stories, vocabulary, reader.model.config.max_words, caps)
    logits, answer, task = answered(reader.model, data)
    found = logits.argmax(dim=1)
    wrong = found != answer
    per_part = {
        name: ProbePart(
            error=percent(100 * float(wrong[task == number].float().mean())),
            questions=int((task == number).sum()),
        )
        for number, name in enumerate(data.task_names)
    }
    no_answer = vocabulary.number(UNKNOWN) if UNKNOWN in vocabulary else UNKNOWN_ANSWER
    unanswerable, says_unknown = answer == no_answer, found == no_answer
    return ProbeScore(
        error=percent(sum(each.error for each in per_part.values()) / len(per_part)),
        per_part=per_part,
        measures={
            "unknown_found": percent(100 * float(says_unknown[unanswerable].float().mean())),
            "unknown_wrongly": percent(100 * float(says_unknown[~unanswerable].float().mean())),
            "calibration_error": percent(calibration_error(logits, answer, reader.temperature)),
        },
    )
