"""What the program says of bAbI is what the records say."""

from pathlib import Path
from statistics import mean

from tpr_rnn.data.babi.dataset import BABI
from tpr_rnn.data.simulator import TASK_TITLES
from tpr_rnn.evaluation.record import read_lines

RECORDS = Path(__file__).parents[3] / "results" / "records" / "single-task.jsonl"


def test_the_cost_of_a_task_is_that_of_its_runs() -> None:
    records = [record for record in read_lines(RECORDS) if record.variant == "single"]
    for name, task in BABI.tasks.items():
        took = [record.cpu_seconds for record in records if record.task == name]
        assert task.seconds == round(mean(took))
        assert task.title == TASK_TITLES[name]
    assert list(BABI.tasks) == [str(number) for number in range(1, 21)]
