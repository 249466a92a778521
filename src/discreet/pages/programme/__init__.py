"""The programme page: one index.html over all releases of a folder, with search, budgets, agreement of tables and links.

Reads release documents, and the accounts of ledgers that somebody hands in; never a ledger or a source itself.

* `agreement`: The agreement of tables: quantities that several releases publish, each with its own noise, and exact
  totals
* `page`: The programme page as one HTML file: no network, one script of a known digest, everything escaped
* `reading`: The releases of a folder and of its sub-folders, and a sentence for each document that is none
* `spending`: The part of the budget of each data set that was spent: by its ledger where one is given, else by the
  documents
* `view`: The contents of the page: the releases of a folder turned into texts, one line each
"""

from discreet.pages.programme.page import render_programme, write_programme
from discreet.pages.programme.reading import shelf_of

__all__ = ["render_programme", "shelf_of", "write_programme"]
