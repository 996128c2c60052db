"""Questions scores answer: each takes Scores and gives an Answer: a sentence, a table, a figure.

One module each; `registry` finds them, and `uniqueinfo` and the command line get them from there.
"""
