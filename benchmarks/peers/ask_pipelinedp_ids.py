"""PipelineDP as in `ask_pipelinedp`, but it enforces the bounds on contributions, by an identifier in each row."""

from __future__ import annotations

from functools import partial
from operator import itemgetter

from ask_pipelinedp import prepare, request
from measured import measure

if __name__ == "__main__":
    measure(prepare, partial(request, identifier=itemgetter(3)), ["pipeline-dp"])
