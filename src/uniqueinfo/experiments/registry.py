"""The experiments there are: each is a module here of the same name, with a function ``run(request) -> Result``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Experiment:
    """What an experiment is about."""

    what: str
    paper: str | None
    """What the paper found, and where it says so; None where it is ours alone."""
    long: bool = False
    """Where several run at a time, these are begun first."""
    remark: str | None = None
    """Why it may come out otherwise than in the paper; which lines of the page tell."""
    smaller: str | None = None
    """What is smaller than the paper's even at the paper's scale."""
    open_question: str | None = None
    """Why expectations of ours beyond the paper may have failed."""


EXPERIMENTS = {
    "table1": Experiment(
        "the linearized network, and influence functions, against retraining",
        "Table 1. Wide or pretrained networks change without a sample as their linearizations say; mostly closer than "
        "influence functions, and 30 times as fast. A small network from scratch does not.",
        long=True,
        remark="Where the pretrained CNN stays below the paper, its gradients move while it trains: taken at both ends "
        "of the training, by the same algebra, they follow it (“both ends”), and along a recording of it more closely "
        "still (table1_recorded). At small scale it learns from a fifth of the paper's samples, so that each weighs "
        "more. By plain steps, not leaps along flow, the CNN from scratch is followed too: see table1_steps.",
    ),
    "table1_resnet50": Experiment(
        "Table 1's ResNet-50 column: the linearized network, and influence functions, against retraining",
        "Table 1. ResNet-50 fine-tuned on cats and dogs changes without a sample as its linearization says.",
        long=True,
        remark="As in ResNet-18's column, few small photographs are learnt and only the end of the network is trained. "
        "That figures lie so much nearer 1 than the paper's may be owed to that: with all layers trained "
        "(table1_whole, table1_whole_resnet50) they lie farther from it.",
    ),
    "table1_whole": Experiment(
        "Table 1's ResNet-18, all layers trained: the linearized network, and influence functions, against retraining",
        "Table 1. ResNet-18 fine-tuned on cats and dogs changes without a sample as its linearization says.",
        long=True,
        remark="40 photographs of 48 pixels: chosen from the time of one training, before any agreement was seen.",
    ),
    "table1_whole_resnet50": Experiment(
        "Table 1's ResNet-50, all layers trained: the linearized network, and influence functions, against retraining",
        "Table 1. ResNet-50 fine-tuned on cats and dogs changes without a sample as its linearization says.",
        long=True,
        remark="40 photographs of 32 pixels: chosen from the time of one training, before any agreement was seen. "
        "Without weight decay, influence functions give effects many orders of magnitude too small, as the picture "
        "shows: that the linearization is above them then says little.",
    ),
    "table1_recorded": Experiment(
        "Table 1 by a third method, scores along a recording of the training, against retraining",
        "Table 1. Wide or pretrained networks change without a sample as their linearizations say.",
        long=True,
        remark="A training is run once more and kept on the way; gradients then move as they moved. ResNet-18, all "
        "layers, is in table1_whole. How outputs go between checkpoints was settled on ResNet-50 without decay and on "
        "made-up networks, after a spline through them had followed these less closely; all other cells were looked at "
        "once, with what had been settled. The CNN from scratch is not followed here, which is owed to leaps along "
        "flow: by plain steps it is (table1_steps).",
    ),
    "table1_cnn": Experiment(
        "Table 1's CNN, pretrained and from scratch, on the paper's number of digits: three methods against retraining",
        "Table 1. A pretrained CNN changes without a sample as its linearization says; a small one from scratch does "
        "not.",
        long=True,
        remark="1000 digits, 50 left out: chosen before any of these results. The two lines of the pretrained CNN that "
        "table1 misses are reached with the paper's number of digits. One of the 50 moves that network far more than "
        "the others do, and most of each correlation is owed to it: so the intervals reach far down, and ranks are "
        "told beside. The truth can tell less than it seems to: along flow, a CNN whose samples merely come in another "
        "order, which changes rounding alone, ends elsewhere, by a fifth to all of what a middling sample's leaving "
        "moves it. Small changes are therefore not known here; and all changes of the CNN from scratch are small, so "
        "that its cells speak against no method: by plain steps it is followed (table1_steps).",
    ),
    "table1_steps": Experiment(
        "Table 1's CNN from scratch by the paper's own steps: three methods against retraining",
        "Table 1. A small network from scratch does not change without a sample as its linearization says.",
        long=True,
        remark="200 digits, 20 left out: chosen before any of these results. The other tables follow this network by "
        "leaps along flow, in which rounding alone moves it by as much as a sample's leaving (table1_cnn), so that "
        "no method follows it there. By plain steps, which rounding hardly touches, a recording of "
        "the training says how predictions change, and without weight decay weights too. With weight decay weights are "
        "not followed; rounding still makes a sixth of their median change there.",
    ),
    "letters": Experiment(
        "pretraining done again: Table 1's pretrained CNN from our own weights and from the published ones",
        "Table 1. The CNN is pretrained on EMNIST's letters; its authors' weights are published.",
        long=True,
        remark="Five networks of ours, which differ by their seed alone, differ from one another as much as from the "
        "published one: three are followed as closely as it, two less. The one that had come first was one of the two, "
        "and had looked as if pretraining here were worse.",
    ),
    "informative": Experiment(
        "how information is spread over samples; the most and the least informative ones",
        "Figures 1 and 4. Most samples carry little. The least informative look typical, the most informative hard. "
        "Two even classes carry about the same; among cassava leaves the rare classes carry more.",
        long=True,
    ),
    "sources": Experiment(
        "two sources of data for one task: MNIST and SVHN",
        "Figures 2a and 7a. Photographed house numbers are worth far more than MNIST's digits, for two networks.",
        long=True,
        smaller="500 coordinates of each parameter of ResNet-50",
        remark="ResNet-50 stands for the paper's DenseNet-121, whose weights are not to be had.",
    ),
    "sources_extra": Experiment(
        "two more sources of digits: MNIST over photographs, and UCI's",
        None,
        long=True,
        remark="Digits over photographs vary as house numbers do, and carry more; UCI's are as plain as MNIST's, and "
        "carry as much.",
    ),
    "mislabeled": Experiment(
        "samples with wrong labels carry more information",
        "Figures 2b and 8. With a tenth of the labels wrong, those samples carry much more, on three data sets.",
        remark="While training is short, the training loss alone finds wrong labels as well as the margin. Trained "
        "until it has learnt them, the network's loss no longer tells them from others; its leave-one-out margin still "
        "does. The panel is `ui.mislabeled(scores, neighbours=True)`, which asks other models on the network's kernel "
        "too. On normalized pixels the margin stays below bounds that it reaches on pixels from 0 to 1; the panel, "
        "which came later, reaches them on both.",
    ),
    "summarize": Experiment(
        "test accuracy after removing the least informative samples",
        "Figure 2c. The least informative samples can go almost for free, and far more of them if what is left is "
        "scored again after every 5 %. Beyond 80 %, keeping only the most informative is worse than keeping the least.",
        long=True,
    ),
    "transfer": Experiment(
        "the same, scores from one network and accuracy of another",
        "Figure 7b. Samples chosen for a network of one hidden layer serve one of two almost as well.",
    ),
    "subclasses": Experiment(
        "a rare sub-class carries more information: cats among pets",
        "Figure 9. 200 cats among 4000 dogs, both labelled pets: a cat carries more than a dog.",
        long=True,
        remark="That cats can also be found among the informative pets, by clusters, is a claim of ours. Clusters were "
        "made smaller, one for every ten samples looked at, after two large ones had missed the bound with all layers "
        "and with automatic training; digits and letters say the same (python -m benchmarks.subclasses). What is found "
        "is small: a dozen pets, of which five are cats with all layers, and ten or more with the last alone.",
    ),
    "duplicates": Experiment("duplicates planted among digits, found in kernel space", None),
    "attribution": Experiment("predictions moved as said by really removing the named samples", None),
    "adversarial": Experiment(
        "adversarial examples carry more information",
        "Figure 10. Photographs changed to fool the network carry more than those left as they were, and can be found "
        "by it.",
        long=True,
    ),
    "sentiment": Experiment(
        "informative film reviews, and their length",
        "Appendix A.8. The longer a review, the less it carries, slightly; the least informative are typical, the most "
        "informative nuanced.",
        remark="It is not length itself: the mean of few word vectors lies far from the mean review, and what lies far "
        "out carries more. With that distance taken off nothing is left of the correlation. Under MiniLM longer "
        "reviews carry more, distance or not; why was not looked into.",
    ),
    "architectures": Experiment(
        "information under different networks",
        "Figures 5a and 6. Scores under different networks correlate, and their ten most informative samples overlap.",
        long=True,
        smaller="250 photographs for validation",
        remark="The three networks correlate about as the paper's ResNet-50 and DenseNet-121 do (0.45). Ten runs with "
        "photographs of 128 pixels had come first, to save time, and correlated far less (0.11 to 0.19). Much of what "
        "two networks disagree on is the random outputs of their fresh last layers: averaged over runs, or with "
        "outputs that start from zero (`uniqueinfo.centred`), they agree far better.",
    ),
    "initialization": Experiment(
        "information under different initializations of the last layer",
        "Appendix A.4. Scores under different fresh last layers correlate, by 0.364 ± 0.066.",
        remark="A fresh last layer begins with random outputs, which training has to undo. Without them "
        "(`uniqueinfo.centred`) scores agree far better.",
    ),
    "lengths": Experiment(
        "information under different lengths of training",
        "Figure 5b. Scores after different lengths of training correlate strongly.",
    ),
    "bound": Experiment(
        "I(W; z_i | S₋ᵢ) and its bound KL(p(w|S) ‖ p(w|S₋ᵢ)) on a toy problem",
        "Figure 3. What the weights of SGD tell of a sample, about 1.3 nats, is below its bound, about 3.0.",
    ),
    "steadystate": Experiment(
        "simulated SGD and its continuous limit against the Lyapunov equation",
        "Appendix D. The covariance of the weights in the end solves a Lyapunov equation.",
    ),
}
