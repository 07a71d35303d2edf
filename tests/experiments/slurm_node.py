"""A SLURM of one node on this machine, from Debian's packages, for tests."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue")
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
START_SECONDS = 120
KILL_SECONDS = 5
"""Between the two signals that SLURM sends to a job that is cancelled."""


def missing() -> str | None:
    """What keeps a SLURM from running here, if anything."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if absent:
        return f"{', '.join(absent)} not installed: `make test-slurm` installs slurm-wlm and munge"
    return None if os.geteuid() == 0 else "slurmd needs root"


@contextmanager
def slurm_of_one_node(place: Path) -> Iterator[Path]:
    """Run the three daemons; the value is SLURM's configuration (`SLURM_CONF`)."""
    place.mkdir()
    (place / "munge.key").write_bytes(os.urandom(128))
    (place / "munge.key").chmod(0o600)
    place.chmod(0o755)
    config = place / "slurm.conf"
    config.write_text(_configuration(place))
    environment = os.environ | {"PATH": PATH, "SLURM_CONF": str(config)}
    munged = ["munged", "--foreground", "--force", f"--key-file={place}/munge.key"]
    munged += [f"--socket={place}/munge.socket", f"--pid-file={place}/munged.pid"]
    munged += [f"--log-file={place}/munged.log", f"--seed-file={place}/munged.seed"]
    daemons = []
    try:
        for command in (munged, ["slurmctld", "-D"], ["slurmd", "-D"]):
            with (place / f"{command[0]}.out").open("w") as log:
                told = {"stdout": log, "stderr": subprocess.STDOUT}
                daemons.append(subprocess.Popen(command, env=environment, **told))
        _await_node(environment)
        yield config
    finally:
        subprocess.run(["scancel", "--user=root"], env=environment, check=False)
        time.sleep(2 * KILL_SECONDS)  # else what runs is left behind
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait()


def _await_node(environment: dict[str, str]) -> None:
    deadline = time.monotonic() + START_SECONDS
    state = ""
    while state != "idle":
        assert time.monotonic() < deadline, f"the node is {state or 'not known'}"
        time.sleep(0.5)
        told = subprocess.run(
            ["sinfo", "--noheader", "--format=%T"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        state = told.stdout.strip()


def _configuration(place: Path) -> str:
    node, cores = socket.gethostname().split(".")[0], os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20 - 100
    # A job that is queued again waits for its credential to expire, 2 minutes if nothing is said.
    return f"""\
ClusterName=here
SlurmctldHost={node}(127.0.0.1)
SlurmctldPort={_free_port()}
SlurmdPort={_free_port()}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=500
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=sched_interval=5,batch_sched_delay=1
KillWait={KILL_SECONDS}
ReturnToService=2
NodeName={node} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory} State=UNKNOWN
PartitionName=short Nodes={node} Default=YES MaxTime=INFINITE State=UP
"""


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
