"""Only Ed25519 keys of OpenSSH are taken, from files that are what they should be; each key has one spelling."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from tests.signers import key_file, public

import discreet as dp
from discreet.approvals import keys
from discreet.approvals.keys import PublicKey, load_private_key, load_public_keys, public_key, public_keys

LINE = f"{public('anna').text} anna"


def never(_: str) -> str:
    raise AssertionError("asked for a passphrase")


def test_a_key_and_its_fingerprint_are_those_of_ssh_keygen(tmp_path: Path) -> None:
    tool = shutil.which("ssh-keygen")
    if tool is None:
        pytest.skip("ssh-keygen is not installed")
    subprocess.run([tool, "-q", "-t", "ed25519", "-N", "", "-C", "anna at work", "-f", tmp_path / "k"], check=True)
    shown = subprocess.run([tool, "-lf", tmp_path / "k.pub"], check=True, capture_output=True, text=True).stdout
    (found,) = load_public_keys(tmp_path / "k.pub", "keys")
    _, own = load_private_key(tmp_path / "k", never)
    assert own == found
    assert shown.split()[1] == found.fingerprint
    assert found.name == "anna at work"
    assert (tmp_path / "k.pub").read_text().startswith(found.text)


def test_lists_have_a_key_in_each_line_as_in_allowed_signers() -> None:
    text = f"# the board\n\n{LINE}\nben@office {public('ben').text}\n"
    assert [(key.name, key) for key in public_keys(text, "keys")] == [
        ("anna", public("anna")),
        ("ben@office", public("ben")),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ssh-rsa AAAAB3NzaC1yc2E anna", "'ssh-rsa'"),
        ("ecdsa-sha2-nistp256 AAAA anna", "'ecdsa-sha2-nistp256'"),
        ("sk-ssh-ed25519@openssh.com AAAA anna", "'sk-ssh-ed25519@openssh.com'"),
        ("ssh-ed25519-cert-v01@openssh.com AAAA anna", "'ssh-ed25519-cert-v01@openssh.com'"),
        (f"* cert-authority {LINE}", "'cert-authority'"),
        (f'anna valid-before="20270101" {LINE}', "options"),
        ("hello", "is not a public key"),
        ("ssh-ed25519", "is not a public key"),
        ("ssh-ed25519 AAAA", "cut off or damaged"),
        ("ssh-ed25519 !!!!", "cut off or damaged"),
        (f"{LINE}\x07", "printable"),
    ],
)
def test_other_keys_are_refused_by_name(line: str, said: str) -> None:
    with pytest.raises(dp.ArgumentError, match="here") as refused:
        public_key(line, "here")
    assert said in str(refused.value)


def test_a_blob_of_another_type_is_refused_whatever_its_line_says() -> None:
    blob = rsa.generate_private_key(65537, 2048).public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).split()[1]
    with pytest.raises(dp.ArgumentError, match="'ssh-rsa'"):
        public_key(f"ssh-ed25519 {blob.decode()} anna", "here")


def points_of_small_order() -> set[int]:
    """The second coordinates of all points whose eightfold is nothing, by the group law alone."""
    p = 2**255 - 19
    d = -121665 * pow(121666, -1, p) % p

    def add(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
        (a, b), (c, e) = one, other
        t = d * a * b * c * e % p
        return (a * e + b * c) * pow(1 + t, -1, p) % p, (b * e + a * c) * pow(1 - t, -1, p) % p

    def point(y: int) -> tuple[int, int] | None:
        square = (y * y - 1) * pow(d * y * y + 1, -1, p) % p
        x = pow(square, (p + 3) // 8, p)
        x = x if x * x % p == square else x * pow(2, (p - 1) // 4, p) % p
        return (x, y) if x * x % p == square else None

    order = 2**252 + 27742317777372353535851937790883648493
    found, start = {1}, 2
    while len(found) < 5:
        start += 1
        base = point(start)
        if base is None:
            continue
        total, power, rest = (0, 1), base, order
        while rest:
            total = add(total, power) if rest & 1 else total
            power, rest = add(power, power), rest >> 1
        step = total
        for _ in range(8):
            found.add(step[1])
            step = add(step, total)
    return found


def test_keys_with_which_anybody_can_sign_are_refused() -> None:
    small = points_of_small_order()
    assert small == keys._ANYBODY
    for place in small:
        for sign in (0, 1 << 255):
            with pytest.raises(dp.ArgumentError, match="anybody could sign"):
                PublicKey((place | sign).to_bytes(32, "little"))


def test_a_second_spelling_of_a_key_is_refused() -> None:
    with pytest.raises(dp.ArgumentError, match="not a key that ssh-keygen makes"):
        PublicKey((2**255 - 19 + 3).to_bytes(32, "little"))  # another spelling of 3


def test_private_keys_that_others_can_read_are_refused_as_ssh_refuses_them(tmp_path: Path) -> None:
    path = key_file(tmp_path, "anna")
    assert load_private_key(path, never)[1] == public("anna")
    for mode in (0o644, 0o640, 0o604, 0o620):
        path.chmod(mode)
        with pytest.raises(dp.ArgumentError, match="chmod 600"):
            load_private_key(path, never)


def test_a_passphrase_is_asked_for_and_must_be_right(tmp_path: Path) -> None:
    path = key_file(tmp_path, "anna", "open sesame")
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return "open sesame"

    assert load_private_key(path, ask)[1] == public("anna")
    assert asked == [f"passphrase of '{path}': "]
    with pytest.raises(dp.ArgumentError, match="passphrase is wrong"):
        load_private_key(path, lambda _: "open barley")


def test_private_keys_of_other_types_are_refused_by_name_before_any_passphrase(tmp_path: Path) -> None:
    path, other = tmp_path / "key", ec.generate_private_key(ec.SECP256R1())
    path.touch(mode=0o600)
    path.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    with pytest.raises(dp.ArgumentError, match="ecdsa-sha2-nistp256"):
        load_private_key(path, never)
    path.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(dp.ArgumentError, match="not a private key in the format of OpenSSH"):
        load_private_key(path, never)


def test_two_halves_of_different_keys_are_refused(tmp_path: Path) -> None:
    path = key_file(tmp_path, "anna")
    begin, *body, end = path.read_text().split("\n")[:-1]
    whole = base64.b64decode("".join(body)).replace(public("anna").raw, public("ben").raw, 1)
    path.write_text("\n".join([begin, base64.b64encode(whole).decode(), end]) + "\n")
    with pytest.raises(dp.ArgumentError, match=r"two halves|damaged"):
        load_private_key(path, never)


def test_every_cut_of_a_private_key_is_refused(tmp_path: Path) -> None:
    path = key_file(tmp_path, "anna")
    text = path.read_text()
    for end in range(0, len(text) - 2, 7):
        path.write_text(text[:end])
        with pytest.raises(dp.ArgumentError, match="key "):
            load_private_key(path, never)


def test_anything_but_a_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo, 0o600)
    for path in (fifo, tmp_path, tmp_path / "missing"):
        with pytest.raises(dp.ArgumentError, match=r"cannot be read|chmod"):
            load_private_key(path, never)
        with pytest.raises(dp.ArgumentError, match="cannot be read"):
            load_public_keys(path, "keys")


def test_a_private_key_in_place_of_a_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(dp.ArgumentError, match=r"\*.pub"):
        load_public_keys(key_file(tmp_path, "anna"), "keys")
    (tmp_path / "empty").write_text("# nobody\n")
    with pytest.raises(dp.ArgumentError, match="no key in it"):
        load_public_keys(tmp_path / "empty", "keys")
