"""Fetch the official bAbI archive, checked against its known checksum."""

import tarfile
from pathlib import Path

from tpr_rnn.errors import UserError
from tpr_rnn.files import make_directory

ADDRESSES = (
    "http://www.thespermwhale.com/jaseweston/babi/tasks_1-20_v1-2.tar.gz",
    "https://s3.amazonaws.com/text-datasets/babi_tasks_1-20_v1-2.tar.gz",
)
SHA256 = "0364ebde659f14d11bc21744516c5ec49d3d06cb692733f66680771244998898"
ARCHIVE = "tasks_1-20_v1-2.tar.gz"


def fetch(
    out: Path, addresses: tuple[str, ...] = ADDRESSES, sha256: str = SHA256, timeout: float = 30.0
) -> Path:
    """Download and unpack the archive below `out`; return the folder of the paper's data.

    An archive that lies there already, whole, is not downloaded again.
    """
    archive = _retrieve(out, addresses, sha256, timeout)
    try:
        with tarfile.open(archive) as file:
            file.extractall(out, filter="data")
    except (tarfile.TarError, OSError) as error:
        raise UserError(f"{archive}: cannot be unpacked ({error})") from error
    found = sorted(out.glob("*/en-valid-10k"))
    if not found:
        raise UserError(f"{archive}: there is no folder en-valid-10k in it")
    return found[0]


def _retrieve(out: Path, addresses: tuple[str, ...], sha256: str, timeout: float) -> Path:
    import pooch
    from requests.exceptions import RequestException

    make_directory(out)
    pooch.get_logger().setLevel("ERROR")
    tried = []
    for address in addresses:
        try:
            path = pooch.retrieve(
                address,
                known_hash=f"sha256:{sha256}",
                fname=ARCHIVE,
                path=out,
                downloader=pooch.HTTPDownloader(timeout=timeout),
            )
        except RequestException as error:
            tried.append(f"  {address}: cannot be reached ({type(error).__name__})")
        except ValueError:  # pooch's word for a wrong checksum
            tried.append(f"  {address}: gave something else (its checksum is wrong)")
        else:
            return Path(path)
    raise UserError(
        "the official bAbI data could not be downloaded:\n"
        + "\n".join(tried)
        + f"\nIf this machine is offline, bring {ARCHIVE} here from another one as {out / ARCHIVE} "
        "and run the same command again.\nOr do without: training uses generated stories when "
        "there is no --data, and `tpr-rnn data generate` writes them to files."
    )
