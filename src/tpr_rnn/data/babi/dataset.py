"""bAbI: what its tasks, caps, probes and mixtures are."""

from tpr_rnn.data import wide
from tpr_rnn.data.babi import systematic
from tpr_rnn.data.babi.directory import file_name, find_files
from tpr_rnn.data.babi.format import read_stories
from tpr_rnn.data.babi.interchangeable import INTERCHANGEABLE
from tpr_rnn.data.babi.substitutes import available, training_stories
from tpr_rnn.data.babi.swapped_names import SWAPPED, SWAPPED_NAMES
from tpr_rnn.data.dataset import DataSet, Substitutes, Task
from tpr_rnn.data.simulator import TASK_TITLES, generate

MAX_SENTENCES = 70
"""The last so many sentences before a question are read, as in the released program."""
OTHER_MAX_SENTENCES = {"3": 130}
"""In task 3 the first supporting fact may lie further back."""

# Seconds of one core (results/records/single-task.jsonl).
_SECONDS = {
    "1": 4, "2": 52, "3": 608, "4": 3, "5": 142, "6": 37, "7": 67, "8": 54, "9": 29, "10": 62,
    "11": 49, "12": 27, "13": 52, "14": 31, "15": 4, "16": 107, "17": 29, "18": 49, "19": 58,
    "20": 7,
}  # fmt: skip

BABI = DataSet(
    name="babi",
    example=file_name("1", "train"),
    find=find_files,
    read=read_stories,
    tasks={
        name: Task(
            title=title,
            max_sentences=OTHER_MAX_SENTENCES.get(name, MAX_SENTENCES),
            seconds=_SECONDS.get(name),
        )
        for name, title in TASK_TITLES.items()
    },
    other_tasks=Task(max_sentences=MAX_SENTENCES),
    probes={SWAPPED: SWAPPED_NAMES},
    interchangeable=INTERCHANGEABLE,
    mixtures={**systematic.MIXTURES, **wide.MIXTURES},
    substitutes=Substitutes(serve=available, make=training_stories),
    generate=generate,
)
