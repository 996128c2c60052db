"""Logs: scores, figures and page beside the training they belong to, in MLflow."""

from pathlib import Path

import mlflow
from sklearn.datasets import load_wine

import uniqueinfo as ui

X, y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)

mlflow.set_tracking_uri("sqlite:///mlflow.db")
mlflow.create_experiment("wine", artifact_location=Path("artifacts").absolute().as_uri())
mlflow.set_experiment("wine")
with mlflow.start_run():
    scores = ui.score_features(X, y, progress=False)
    run = ui.log_to_mlflow(scores, answers=[ui.mislabeled(scores)])

kept = mlflow.get_run(run).data
print(f"taken for y: {kept.params['uniqueinfo/taken_as/y']}")
for name in ("samples", "mean_information", "wrong_labels_expected"):
    print(f"{name}: {kept.metrics['uniqueinfo/' + name]:.3g}")
print(*sorted(each.path for each in mlflow.MlflowClient().list_artifacts(run, "uniqueinfo")), sep="\n")
