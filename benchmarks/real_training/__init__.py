"""Trainings people really run: do scores follow training again, under the loss and the optimizer really used?"""
