"""Networks by name, and weights that never run code."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from tests.added import added
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.ends import BothEnds
from uniqueinfo.runs.models import ModelChoice, read_weights


def test_an_mlp_has_the_widths_asked_for() -> None:
    network = ModelChoice("mlp:7,5").build((1, 4, 4), outputs=3, seed=0)
    assert [tuple(p.shape) for p in network.parameters() if p.ndim == 2] == [(7, 16), (5, 7), (3, 5)]
    assert network(torch.zeros(2, 1, 4, 4)).shape == (2, 3)


def test_the_seed_fixes_the_weights_and_nothing_else() -> None:
    torch.manual_seed(5)
    state = torch.get_rng_state()
    first, second = (ModelChoice("mlp:4").build((3,), 1, seed=1).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_function_is_given_what_it_asks_for(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\ndef make(shape, outputs):\n    return torch.nn.Linear(shape[0], outputs)\n"
    )
    network = ModelChoice(f"{tmp_path / 'net.py'}:make").build((6,), outputs=2, seed=0)
    assert network(torch.zeros(1, 6)).shape == (1, 2)


@pytest.mark.parametrize("suffix", ["pth", "safetensors"])
def test_weights_fill_all_but_a_last_layer_of_another_shape(tmp_path: Path, suffix: str) -> None:
    trained = ModelChoice("mlp:4").build((3,), outputs=10, seed=7)
    path = tmp_path / f"w.{suffix}"
    if suffix == "pth":
        torch.save({"state_dict": trained.state_dict()}, path)
    else:
        save_file(trained.state_dict(), path)
    with pytest.warns(UserWarning, match=r"last layer \(3.weight, 3.bias\) is not taken .*another number of outputs"):
        network = ModelChoice("mlp:4", weights=path).build((3,), outputs=2, seed=0)
    assert torch.equal(network.state_dict()["1.weight"], trained.state_dict()["1.weight"])
    assert network(torch.zeros(1, 3)).shape == (1, 2)


def test_a_last_layer_that_the_file_lacks_is_said(tmp_path: Path) -> None:
    trained = ModelChoice("mlp:4").build((3,), outputs=2, seed=7).state_dict()
    save_file(
        {name: tensor for name, tensor in trained.items() if not name.startswith("3.")}, tmp_path / "w.safetensors"
    )
    with pytest.warns(UserWarning, match="holds none of that name; it starts from random values"):
        ModelChoice("mlp:4", weights=tmp_path / "w.safetensors").build((3,), outputs=2, seed=0)


def test_trained_weights_give_gradients_at_both_ends(tmp_path: Path) -> None:
    after = ModelChoice("mlp:4").build((3,), outputs=1, seed=7)
    save_file(after.state_dict(), tmp_path / "after.safetensors")
    choice = ModelChoice("mlp:4", trained=tmp_path / "after.safetensors")
    network = choice.build((3,), outputs=1, seed=0)
    assert isinstance(network, BothEnds)
    assert torch.equal(network.end.state_dict()["1.weight"], after.state_dict()["1.weight"])
    assert choice.files == (tmp_path / "after.safetensors",)


class _Bomb:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_a_pickle_posing_as_weights_is_never_run(tmp_path: Path) -> None:
    (tmp_path / "w.pth").write_bytes(pickle.dumps(_Bomb(tmp_path / "ran")))
    with pytest.raises(InputError, match="could run code"):
        read_weights(tmp_path / "w.pth")
    assert not (tmp_path / "ran").exists()


def test_a_transformer_is_built_for_the_outputs_needed(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    transformers.BertModel(config).save_pretrained(tmp_path / "bert")
    network = ModelChoice(f"transformers:{tmp_path / 'bert'}").build((5,), outputs=3, seed=0)
    assert network(input_ids=torch.ones(2, 5, dtype=torch.long)).logits.shape == (2, 3)


def test_a_model_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(InputError, match="nothing-here"):
        ModelChoice(f"transformers:{tmp_path / 'nothing-here'}").build((5,), outputs=3, seed=0)


NEW = '''
    """Networks that say the same of everything."""

    import torch

    from uniqueinfo.errors import InputError
    from uniqueinfo.runs.models.source import ModelSource


    class Constant(ModelSource):
        prefix = "{prefix}"
        words = "{prefix}:NUMBER"

        def check(self, argument):
            if not argument.isdigit():
                raise InputError(f"--model {prefix}:{{argument}}: give a number")

        def build(self, argument, outputs, pretrained, shape):
            head = torch.nn.Linear(shape[0], outputs)
            torch.nn.init.constant_(head.weight, float(argument))
            return head


    SOURCES = (Constant(),)
'''


def test_one_new_file_is_a_new_source(tmp_path: Path) -> None:
    with added("uniqueinfo.runs.models", tmp_path, NEW.format(prefix="constant")):
        network = ModelChoice("constant:3").build((2,), outputs=1, seed=0)
        assert network.state_dict()["weight"].tolist() == [[3, 3]]
        with pytest.raises(InputError, match="give a number"):
            ModelChoice("constant:three")
        with pytest.raises(InputError, match=r"transformers:NAME, .*constant:NUMBER.* or file\.py:function"):
            ModelChoice("forest")
    with pytest.raises(InputError, match="unknown"):
        ModelChoice("constant:3")


def test_two_sources_of_one_prefix_are_a_mistake_of_ours(tmp_path: Path) -> None:
    with added("uniqueinfo.runs.models", tmp_path, NEW.format(prefix="mlp")), pytest.raises(TypeError, match="mlp"):
        ModelChoice("linear")


@pytest.mark.parametrize("name", ["linear:3", "timm", "timm:", "torchvision:", "forest:3", ""])
def test_names_of_no_source_are_told_what_there_is(name: str) -> None:
    with pytest.raises(InputError, match=f"--model {name}: unknown; give linear, mlp:WIDTH, .* or file.py:function"):
        ModelChoice(name)


def test_only_a_file_is_named_by_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "net.py").touch()
    monkeypatch.chdir(tmp_path)
    own = ModelChoice("net.py:make")
    assert own.files == (Path("net.py"),)
    assert own.absolute == f"{tmp_path.resolve() / 'net.py'}:make"
    for name in ("linear", "mlp:7,5", "transformers:some/where"):
        assert (ModelChoice(name).absolute, ModelChoice(name).files) == (name, ())


def test_a_linear_model_starts_from_zero() -> None:
    network = ModelChoice("linear").build((2, 3), outputs=4, seed=0)
    assert ModelChoice("linear").linear
    assert torch.equal(network(torch.ones(5, 2, 3)), torch.zeros(5, 4))


def test_only_some_networks_read_texts() -> None:
    assert ModelChoice("transformers:bert").reads_text
    assert not ModelChoice("mlp:3").reads_text
    with pytest.raises(InputError, match="reads no texts"):
        ModelChoice("mlp:3").tokens(["a text"])


@pytest.mark.parametrize(
    ("name", "pixels", "fresh"),
    [("linear", 64, False), ("mlp:8", 64, False), ("torchvision:resnet18", 224, True), ("timm:vit", 224, True)],
)
def test_a_librarys_network_is_known_by_its_pictures_and_its_fresh_head(name: str, pixels: int, fresh: bool) -> None:
    choice = ModelChoice(name)
    assert (choice.pixels, choice.fresh_head) == (pixels, fresh)
    assert not ModelChoice(name, pretrained=False).fresh_head
