"""The experiments' data sets, each from the packed files of a data folder or in its own original format."""

from uniqueinfo.experiments.data.catalog import DATASETS, load
from uniqueinfo.experiments.data.cifar import animals
from uniqueinfo.experiments.data.dataset import Dataset, Part
from uniqueinfo.experiments.data.features import features
from uniqueinfo.experiments.data.pictures import MNIST, Pictures, Preparation, Prepared, imagenet
from uniqueinfo.experiments.data.reviews import WordVectors, glove
from uniqueinfo.experiments.data.weights import emnist_cnn, resnet18, resnet50

__all__ = [
    "DATASETS",
    "MNIST",
    "Dataset",
    "Part",
    "Pictures",
    "Preparation",
    "Prepared",
    "WordVectors",
    "animals",
    "emnist_cnn",
    "features",
    "glove",
    "imagenet",
    "load",
    "resnet18",
    "resnet50",
]
