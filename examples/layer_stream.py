"""A log without end in a memory of constant size, with vectors of one's own.

Each line sets one setting of one machine. The memory keeps the last value of each, however many
lines there are; nothing is trained. Takes some seconds of one core.
"""

import torch

from tpr_rnn import Associations, DenseMemory, parallel, read
from tpr_rnn.memory import OPERATIONS

MACHINES, SETTINGS, VALUES = 32, 16, 20
LINES, AT_ONCE = 20_000, 500

torch.manual_seed(0)
machine_vectors = torch.linalg.qr(torch.randn(MACHINES, MACHINES))[0]  # of length 1, orthogonal
setting_vectors = torch.linalg.qr(torch.randn(SETTINGS, SETTINGS))[0]
value_vectors = torch.nn.functional.normalize(torch.randn(VALUES, MACHINES), dim=1)

memory = DenseMemory(torch.zeros(1, MACHINES, SETTINGS, MACHINES))
last: dict[tuple[int, int], int] = {}  # what the memory should know, to check it

with torch.no_grad():
    for _ in range(0, LINES, AT_ONCE):  # or for ever
        machine = torch.randint(MACHINES, (AT_ONCE,))
        setting = torch.randint(SETTINGS, (AT_ONCE,))
        value = torch.randint(VALUES, (AT_ONCE,))
        relation = setting_vectors[setting].unsqueeze(0)
        said = Associations.of(
            e1=machine_vectors[machine].unsqueeze(0),
            e2=value_vectors[value].unsqueeze(0),
            r1=relation,
            r2=relation,  # of operations that are not in use
            r3=relation,
        )
        write = OPERATIONS[:1]
        _, memory = parallel(said, operations=write, state=memory)
        pairs = zip(machine.tolist(), setting.tolist(), strict=True)
        last.update(zip(pairs, value.tolist(), strict=True))

    right = 0
    for (machine_number, setting_number), value_number in last.items():
        found = read(
            memory,
            entity=machine_vectors[[machine_number]],
            relation=setting_vectors[[setting_number]],
        )
        right += int((value_vectors @ found[0]).argmax()) == value_number

print(f"{LINES:,} lines read; {right} of {len(last)} last values right")
print(f"the memory is {memory.tensor.numel():,} numbers, as after the first line")
