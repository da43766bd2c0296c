"""One file per foreign tool; the contract is in `rankbench.foreign`.

`NAME`, `TITLE`; `OPERATIONS`, its benchmarks as rows; `recognises(head)`, whether the first lines of a text (a list of
`Line`) are its output; `read(text)`, the tables of a `Text`, one after the other.
"""
