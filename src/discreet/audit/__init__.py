"""The library attacking itself: record and replay, black-box lower bounds. Nothing is implemented here yet.

The pieces an audit needs exist: `discreet.publish` and `discreet.evaluate` take cube and bits as arguments, so that the
kernel from resampling to noise runs without engine and ledger.
"""
