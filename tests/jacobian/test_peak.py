import torch
from torch import Tensor, nn

from uniqueinfo.jacobian.peak import Peak


def gradients(batch: int) -> tuple[int, list[Tensor]]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(100, 1000), nn.Tanh(), nn.Linear(1000, 1))
    inputs = torch.randn(batch, 100)
    with Peak() as peak:
        found = torch.autograd.grad(model(inputs).sum(), list(model.parameters()))
    return peak.bytes, list(found)


def test_what_is_kept_for_the_backward_pass_counts() -> None:
    model = nn.Sequential(*[nn.Sigmoid() for _ in range(10)])
    inputs = torch.randn(1000, requires_grad=True)
    with Peak() as peak:
        model(inputs)
    assert peak.bytes == 10 * 1000 * 4


def test_what_is_let_go_does_not_count() -> None:
    with Peak() as peak, torch.no_grad():
        nn.Sequential(*[nn.Sigmoid() for _ in range(10)])(torch.zeros(1000))
    assert peak.bytes <= 3 * 1000 * 4


def test_views_count_once() -> None:
    with Peak() as peak:
        _ = torch.zeros(1000).view(10, 100).T.expand(3, 100, 10)
    assert peak.bytes == 4000


def test_every_run_counts_the_same_and_grows_with_the_batch() -> None:
    assert gradients(8)[0] == gradients(8)[0]
    assert gradients(80)[0] > gradients(40)[0] + 40 * 1000 * 4


def test_counting_changes_no_result() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(100, 1000), nn.Tanh(), nn.Linear(1000, 1))
    inputs = torch.randn(8, 100)
    plain = torch.autograd.grad(model(inputs).sum(), list(model.parameters()))
    assert all(torch.equal(a, b) for a, b in zip(plain, gradients(8)[1], strict=True))
