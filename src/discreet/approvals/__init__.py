"""Approvals: what is signed, by whom, and how many signatures are demanded. No ledger, no plan and no data.

* `demand`: How many signatures of which keys are demanded, and who has not signed yet
* `files`: Approvals as small files in a folder, which can be mailed
* `keys`: Ed25519 keys in the files of OpenSSH
* `signing`: Signatures of statements, made and checked
* `statements`: What a signature says: one canonical text for each thing that can be approved
* `written`: Approvals as entries of ledgers and releases hold them
"""
