"""A model that nobody trained: its weights are set by hand, so that all it does is known.

"Mary went to the kitchen." says e1 = mary, e2 = kitchen and three relations that are always the
same: r1 (is at), r2 (was at) and r3 (has in it). "Where is Mary?" asks from n = mary along r1, and
"Where was Mary?" along r2.
"""

import torch

from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.models import TPRRNN, TPRRNNConfig
from tpr_rnn.models.reader import Reader

NAMES = ("mary", "john")
PLACES = ("kitchen", "garden", "office")
OTHERS = ("went", "to", "the", ".", "where", "is", "was", "?")
ENTITIES = (*NAMES, *PLACES)
GAIN = 1.5
STRONG = 30.0
"""So much that a relation has length 1."""


def handmade_reader(
    operations=("write", "move", "backlink"),
    *,
    names=NAMES,
    places=PLACES,
    others=OTHERS,
    max_words=6,
) -> Reader:
    entities = (*names, *places)
    vocabulary = Vocabulary([*entities, *others])
    size = len(vocabulary)
    config = TPRRNNConfig(
        vocabulary_size=size,
        max_words=max_words,
        hidden_size=size,
        entity_size=2 * len(entities),
        relation_size=4,
        operations=operations,
        bounded_keys=True,
    )
    model = TPRRNN(config, generator=torch.Generator().manual_seed(0)).double()
    number = vocabulary.number
    with torch.no_grad():
        model.encoder.word_vectors.copy_(torch.eye(size))
        model.encoder.position_vectors.fill_(1.0)
        for networks in (model.update, model.inference):
            networks.hidden_weight.copy_(torch.eye(size).expand_as(networks.hidden_weight))
            for weights in (networks.entity_weight, networks.relation_weight):
                weights.zero_()
        for network, kind in ((0, names), (1, places)):
            for word in kind:
                model.update.entity_weight[network, number(word), entities.index(word)] = GAIN
        for word in names:
            model.inference.entity_weight[0, number(word), entities.index(word)] = GAIN
        for relation in range(3):
            model.update.relation_bias[relation, 0, relation] = STRONG
        model.inference.relation_weight[0, number("is"), 0] = GAIN
        model.inference.relation_weight[0, number("was"), 1] = GAIN
        model.inference.relation_bias[1:, 0, 3] = STRONG  # l2, l3: a relation that nothing has
        model.output.zero_()
        for word in entities:
            model.output[entities.index(word), number(word)] = 4.0
    return Reader(model.eval(), vocabulary)


def task_1_reader() -> Reader:
    """The same for all words of task 1, whose questions it answers rightly."""
    return handmade_reader(
        names=("mary", "john", "sandra", "daniel"),
        places=("bathroom", "bedroom", "garden", "hallway", "kitchen", "office"),
        others=(*OTHERS, "back", "journeyed", "travelled", "moved"),
        max_words=8,
    )
