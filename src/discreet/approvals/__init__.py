"""Approvals: what is signed, by whom, and how many signatures are demanded. No ledger, no plan and no data.

* `demand`: The demand for signatures: how many, of which keys, and who has not signed yet
* `files`: Approvals as small files in a folder, which can be mailed
* `keys`: Ed25519 keys in the files of OpenSSH
* `signing`: Signatures of statements, made and checked
* `statements`: The statement that a signature makes: one canonical text for each thing that can be approved
* `written`: Approvals as entries of ledgers and releases hold them
"""
