"""Self-signed certificates for the tests' servers, made by openssl(1). No client trusts them by default."""
import ssl
import subprocess
from waiting import PATIENCE

_CONFIGURATION = """[ca]
default_ca = made
[made]
database = {0}/index
new_certs_dir = {0}
rand_serial = yes
unique_subject = no
default_md = sha256
copy_extensions = copy
policy = any
[any]
commonName = supplied
"""


def server_context(directory, host="localhost", start="20200101000000Z", end="20450101000000Z"):
    """(a TLS server's context with a self-signed certificate, the certificate's path)."""
    key, request, made, configuration = (
        directory / name for name in ("key.pem", "request.pem", "certificate.pem", "ca.cnf"))
    (directory / "index").touch()
    configuration.write_text(_CONFIGURATION.format(directory))
    name = f"IP:{host}" if host[0].isdigit() else f"DNS:{host}"
    _openssl("req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request,
             "-subj", f"/CN={host}", "-addext", f"subjectAltName={name}")
    _openssl("ca", "-batch", "-selfsign", "-notext", "-config", configuration, "-keyfile", key,
             "-in", request, "-out", made, "-startdate", start, "-enddate", end)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, key)
    return context, made


def _openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=PATIENCE)
