import pytest
import torch

from tpr_rnn.evaluation.calibration import calibration_error, fit_temperature


def answers(temperature: float, count: int = 4_000) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores `temperature` times too large, and answers drawn by the true probabilities."""
    generator = torch.Generator().manual_seed(0)
    logits = 2 * torch.randn(count, 6, generator=generator)
    answer = torch.multinomial(logits.softmax(dim=1), 1, generator=generator)[:, 0]
    return temperature * logits, answer


@pytest.mark.parametrize("temperature", [1.0, 2.0, 5.0])
def test_the_temperature_is_found(temperature: float) -> None:
    logits, answer = answers(temperature)
    assert fit_temperature(logits, answer) == pytest.approx(temperature, rel=0.1)


def test_who_is_always_right_gets_no_surer() -> None:
    logits = torch.randn(50, 4, generator=torch.Generator().manual_seed(0))
    assert fit_temperature(logits, logits.argmax(dim=1)) == 1.0


def test_the_calibration_error_shows_what_the_temperature_mends() -> None:
    logits, answer = answers(4.0)
    assert calibration_error(logits, answer) > 10
    assert calibration_error(logits, answer, 4.0) < 3


def test_the_calibration_error_by_hand() -> None:
    # Sure by 80 % of four answers, and right in two of them: 30 points too sure.
    logits = torch.tensor([[0.8, 0.2]]).log().expand(4, 2)
    assert calibration_error(logits, torch.tensor([0, 0, 1, 1])) == pytest.approx(30)
