"""A release for people who register or review deployments of differential privacy. Reads a `Release` only.

What the document does not say is a marked question to the custodian, never a guess.

* `entry`: The entry of a release for the registry of deployments, as nested values in the order of its schema
* `evaluation`: The answers to the evaluation of NIST SP 800-226: from the guarantee down to the collection, and the hazards
* `facts`: Plain sentences from a release document about its guarantee, data, noise and record
* `page`: The evaluation as one self-contained HTML file, and both files of a release written
* `yaml_text`: Nested values as YAML that every reader takes alike
"""
