"""The texts of the pages in several languages, each in one file: `en.toml`, `de.toml`.

* `catalogue`: The words of a page in one language: texts by key, numbers and dates, and sentences of the library
"""

from discreet.pages.words.catalogue import MAIN, Words, english, languages, words_in

__all__ = ["MAIN", "Words", "english", "languages", "words_in"]
