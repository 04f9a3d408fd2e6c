"""A certificate authority of the run's own: the only one that the functions trust, and gone with the run."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

LIFETIME = timedelta(days=7)
_SKEW = timedelta(minutes=5)


def make_authority(certificate: Path, key: Path) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    name = _name("Signet emulator")
    built = _begin(name, private).issuer_name(name)
    built = built.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    built = built.add_extension(
        x509.SubjectKeyIdentifier.from_public_key(private.public_key()), critical=False
    )
    certificate.write_bytes(built.sign(private, hashes.SHA256()).public_bytes(Encoding.PEM))
    _write_key(key, private)


def issue(authority: Path, authority_key: Path, host: str, folder: Path) -> Path:
    """Return one file with the certificate and the key of `host`, a name or an address."""
    issuer = x509.load_pem_x509_certificate(authority.read_bytes())
    signer = load_pem_private_key(authority_key.read_bytes(), None)
    if not isinstance(signer, ec.EllipticCurvePrivateKey):
        raise TypeError("the authority's key is another kind")
    private = ec.generate_private_key(ec.SECP256R1())
    built = _begin(_name(host), private).issuer_name(issuer.subject)
    built = built.add_extension(x509.SubjectAlternativeName([_alternative(host)]), critical=False)
    built = built.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    built = built.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
    )
    path = folder / f"{host}.pem"
    _write_key(path, private)
    with path.open("ab") as file:
        file.write(built.sign(signer, hashes.SHA256()).public_bytes(Encoding.PEM))
    return path


def _begin(name: x509.Name, private: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + LIFETIME)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write_key(path: Path, private: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
