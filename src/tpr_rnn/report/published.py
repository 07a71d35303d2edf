"""What others have published on bAbI (v1.2, English, 10k), as data: errors in percent."""

from dataclasses import dataclass

PAPER = "Schlag & Schmidhuber 2018"
TABLE_1, TABLE_2 = f"{PAPER}, Table 1", f"{PAPER}, Table 2"
OWN = "its authors"
MEMORY = "its authors (from memory, not checked)"
"""A figure that was quoted from memory: nobody has looked it up for this table."""
USERS = "users of its code (from memory, not checked)"
UNKNOWN = "its authors (from memory; mean or best is not known)"


@dataclass(frozen=True)
class Published:
    """What a system reaches in one setting; what nobody has published is None."""

    system: str
    source: str
    mean: float | str | None = None
    """A text where no more than a bound is known."""
    deviation: float | None = None
    best: float | None = None
    failed: float | None = None


# One model for all tasks.
JOINT = (
    Published("MEMO (Banino 2020)", UNKNOWN, mean=0.21),
    Published("STM (Le 2020)", MEMORY, mean=0.39, deviation=0.18, best=0.15, failed=0.0),
    Published("STM, as others ran its code", USERS, mean=1.4),
    Published("BiADNC with augmented task 16 (Franke 2018)", MEMORY, mean=0.4, deviation=0.3),
    Published("RRN (Palm 2018)", MEMORY, mean=0.46),
    Published("Working Memory Networks (Pavez 2018)", MEMORY, mean="under 0.5"),
    Published("MNM-p (Munkhdalai 2019)", MEMORY, mean=0.55, best=0.18),
    Published("Universal Transformer + ACT", OWN, mean=1.12, deviation=1.62, best=0.29),
    Published("RMN (Moon 2018)", MEMORY, mean=1.2),
    Published("TPR-RNN (the paper)", TABLE_1, mean=1.34, deviation=0.52, best=0.78, failed=0.86),
    Published("BiADNC", OWN, mean=3.2, deviation=0.5, failed=1.4),
    Published("ADNC", OWN, mean=6.3, deviation=2.7, failed=3.2),
    Published("SDNC (Rae 2016)", TABLE_1, mean=6.4, deviation=2.5, best=2.9, failed=4.1),
    Published("MemN2N (Sukhbaatar 2015)", OWN, best=7.5),
    Published("REN / EntNet (Henaff 2017)", TABLE_1, mean=9.7, deviation=2.6, failed=5.0),
    Published("DNC (as run by Rae 2016)", TABLE_1, mean=12.8, deviation=4.7, best=5.2, failed=8.2),
    Published("DNC (Graves 2016)", OWN, mean=16.7, deviation=7.6, best=3.8, failed=11.2),
    Published("LSTM", OWN, mean=28.7, deviation=0.5, best=28.0),
)

# Mean and best of one model for all tasks, by architecture.
PUBLISHED_JOINT = {
    "tpr-rnn": ("1.34 ± 0.52", "0.78"),
    "entnet": ("9.7 ± 2.6", ""),
    "dnc": ("12.8 ± 4.7 (16.7 ± 7.6 by its authors)", "5.2 (3.8)"),
    "sdnc": ("6.4 ± 2.5", "2.9"),
    "memn2n": ("", "7.5"),
    "word-lstm": ("28.7 ± 0.5", "28.0"),
}

# A model for each task; "best" is the best of several runs of each task.
SINGLE = (
    Published("QRN (Seo 2017)", MEMORY, best=0.3),
    Published("RelNet (Bansal 2017)", MEMORY, best=0.3),
    Published("Universal Transformer + ACT", OWN, mean=0.73, deviation=0.89, best=0.21),
    Published("TPR-RNN (a PyTorch port, one run a task)", OWN, mean=0.80, failed=0.0),
    Published("TPR-RNN (the paper)", TABLE_2, mean=1.12, deviation=1.19, best=0.17, failed=0.4),
    Published("REN / EntNet (Henaff 2017)", TABLE_2, best=0.5, failed=0.0),
    Published("DMN+ (Xiong 2016)", TABLE_2, best=2.8, failed=1.0),
    Published("MemN2N (Sukhbaatar 2015)", TABLE_2, best=4.2, failed=3.0),
    Published("LSTM (Sukhbaatar 2015)", TABLE_2, best=36.4, failed=16.0),
)

# The swapped-names test (data/babi/swapped_names.py), models of all tasks.
SWAPPED_SOURCE = "Park et al. 2024"
SWAPPED = {"TPR-RNN": 8.74, "TPR-RNN + AID": 5.61, "FWM": 2.85, "FWM + AID": 1.21}


@dataclass(frozen=True)
class PaperRow:
    """A row of Table 2."""

    lstm: float
    n2n: float
    dmn: float
    ren: float
    best: float
    mean: float
    deviation: float


PAPER_SINGLE = {
    "1": PaperRow(0.0, 0.0, 0.0, 0.0, 0.0, 0.02, 0.05),
    "2": PaperRow(81.9, 0.3, 0.3, 0.1, 0.0, 0.06, 0.09),
    "3": PaperRow(83.1, 2.1, 1.1, 4.1, 1.2, 1.78, 0.58),
    "4": PaperRow(0.2, 0.0, 0.0, 0.0, 0.0, 0.02, 0.04),
    "5": PaperRow(1.2, 0.8, 0.5, 0.3, 0.5, 0.61, 0.17),
    "6": PaperRow(51.8, 0.1, 0.0, 0.2, 0.0, 0.22, 0.19),
    "7": PaperRow(24.9, 2.0, 2.4, 0.0, 0.5, 2.78, 1.81),
    "8": PaperRow(34.1, 0.9, 0.0, 0.5, 0.1, 0.47, 0.45),
    "9": PaperRow(20.2, 0.3, 0.0, 0.1, 0.0, 0.14, 0.13),
    "10": PaperRow(30.1, 0.0, 0.0, 0.6, 0.3, 1.24, 1.30),
    "11": PaperRow(10.3, 0.0, 0.0, 0.3, 0.0, 0.14, 0.11),
    "12": PaperRow(23.4, 0.0, 0.0, 0.0, 0.0, 0.04, 0.05),
    "13": PaperRow(6.1, 0.0, 0.0, 1.3, 0.3, 0.42, 0.11),
    "14": PaperRow(81.0, 0.2, 0.2, 0.0, 0.0, 0.24, 0.29),
    "15": PaperRow(78.7, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    "16": PaperRow(51.9, 51.8, 45.3, 0.2, 0.0, 0.02, 0.045),
    "17": PaperRow(50.1, 18.6, 4.2, 0.5, 0.4, 0.9, 0.69),
    "18": PaperRow(6.8, 5.3, 2.1, 0.3, 0.1, 0.64, 0.33),
    "19": PaperRow(31.9, 2.3, 0.0, 2.3, 0.0, 12.64, 17.39),
    "20": PaperRow(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
}
# As printed; the LSTM's errors above have the mean 33.4.
PAPER_SINGLE_MEAN = PaperRow(36.4, 4.2, 2.8, 0.5, 0.17, 1.12, 1.19)
PAPER_SINGLE_FAILED = PaperRow(16.0, 3.0, 1.0, 0.0, 0.0, 0.4, 0.55)
PAPER_SINGLE_SEEDS = 5


@dataclass(frozen=True)
class BestColumn:
    """A column of Table 2: the best run of a task."""

    of_task: str
    """The field of `PaperRow` that has it."""
    mean: float
    failed: float
    runs: str
    """Out of how many runs a task."""


# By architecture.
PUBLISHED_SINGLE = {
    "tpr-rnn": BestColumn("best", PAPER_SINGLE_MEAN.best, PAPER_SINGLE_FAILED.best, "5"),
    "entnet": BestColumn("ren", PAPER_SINGLE_MEAN.ren, PAPER_SINGLE_FAILED.ren, "up to 10"),
    "dmn": BestColumn("dmn", PAPER_SINGLE_MEAN.dmn, PAPER_SINGLE_FAILED.dmn, "up to 10"),
    "memn2n": BestColumn("n2n", PAPER_SINGLE_MEAN.n2n, PAPER_SINGLE_FAILED.n2n, "10"),
    "word-lstm": BestColumn("lstm", PAPER_SINGLE_MEAN.lstm, PAPER_SINGLE_FAILED.lstm, ""),
}

# Table 3: the tasks that failed with these operations.
PAPER_ABLATION = {
    "W": ("3", "6", "9", "10", "12", "13", "17", "19"),
    "W+M": ("9", "10", "13", "17"),
    "W+B": ("3",),
}


@dataclass(frozen=True)
class PaperErrors:
    """A row of appendix B: eight runs, and the least error of any of them."""

    mean: float
    deviation: float
    best: float | str


PAPER_ALL = {
    "1": PaperErrors(0.05, 0.08, 0.00),
    "2": PaperErrors(0.64, 0.46, 0.30),
    "3": PaperErrors(4.14, 1.85, 2.20),
    "4": PaperErrors(0.05, 0.08, 0.00),
    "5": PaperErrors(1.00, 0.25, 0.70),
    "6": PaperErrors(0.36, 0.39, 0.00),
    "7": PaperErrors(1.88, 0.82, 1.00),
    "8": PaperErrors(0.51, 0.37, 0.20),
    "9": PaperErrors(0.40, 0.43, 0.10),
    "10": PaperErrors(0.89, 0.75, 0.20),
    "11": PaperErrors(1.18, 0.48, 0.50),
    "12": PaperErrors(1.35, 1.14, 0.00),
    "13": PaperErrors(2.38, 0.47, 1.90),
    "14": PaperErrors(0.85, 0.54, 0.20),
    "15": PaperErrors(0.03, 0.07, 0.00),
    "16": PaperErrors(0.70, 1.35, 0.00),
    "17": PaperErrors(3.44, 3.16, 0.60),
    "18": PaperErrors(0.72, 0.60, 0.00),
    "19": PaperErrors(6.96, 7.03, 1.20),
    "20": PaperErrors(0.00, 0.00, 0.00),
}
PAPER_ALL_MEAN = PaperErrors(1.34, 0.52, 0.78)
PAPER_ALL_FAILED = PaperErrors(0.86, 1.11, "")  # Table 1
PAPER_ALL_SEEDS = 8

# Figure 3: "under 5 % error in about 48 hours", on a GPU.
PAPER_HOURS, PAPER_STEPS = 48, 250_000
