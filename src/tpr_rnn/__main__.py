"""`python -m tpr_rnn` is the command `tpr-rnn`."""

from tpr_rnn.cli import main

main()
