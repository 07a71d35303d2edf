"""Stories to look at: each shows one idea, and says what to look for."""

from collections.abc import Sequence
from dataclasses import dataclass

from tpr_rnn.data.simulator import tell
from tpr_rnn.data.vocabulary import answer_word
from tpr_rnn.errors import UserError
from tpr_rnn.explorer.messages import GalleryStory, KnownQuestion
from tpr_rnn.models.reader import Reader


@dataclass(frozen=True)
class Shown:
    """A story with a question at its end, and what to look for."""

    title: str
    look_for: str
    sentences: tuple[str, ...]
    question: str
    answer: str
    supports: tuple[int, ...]
    """The numbers of the sentences that support the answer, counted from 1."""


def _long_story() -> Shown:
    told = tell("3", seed=3)
    asked = told.questions[-1]
    return Shown(
        title="A long story",
        look_for="Some sixty sentences, of which the answer needs few. Press Play to see how much "
        "is written over; point at a sentence to find its arrows.",
        sentences=told.sentences[: asked.after],
        question=asked.text,
        answer=answer_word(asked.answer),
        supports=tuple(number + 1 for number in asked.supports),
    )


GALLERY = (
    Shown(
        title="Greg is a swan",
        look_for="Nobody says what color Greg is. Greg is a swan, and so is Bernhard, who is "
        "green: the path of the question leads over him.",
        sentences=(
            "Lily is a rhino.",
            "Greg is a swan.",
            "Brian is a lion.",
            "Lily is gray.",
            "Bernhard is a swan.",
            "Brian is white.",
            "Julius is a frog.",
            "Bernhard is green.",
            "Julius is yellow.",
        ),
        question="What color is Greg?",
        answer="green",
        supports=(2, 5, 8),
    ),
    Shown(
        title="Where is the milk?",
        look_for="Nobody says where the milk is: it went with Mary, and stays where she puts it "
        "down. Watch the answers beside the sentences.",
        sentences=(
            "Mary went to the kitchen.",
            "John moved to the garden.",
            "Mary picked up the milk.",
            "Daniel went to the office.",
            "Mary travelled to the bathroom.",
            "John went to the hallway.",
            "Mary put down the milk.",
            "Mary went to the bedroom.",
        ),
        question="Where is the milk?",
        answer="bathroom",
        supports=(3, 5, 7),
    ),
    Shown(
        title="Where was it before?",
        look_for="What is written over is not lost: move keeps it. See under Two models what "
        "becomes of the answer without move.",
        sentences=(
            "John took the football.",
            "Daniel went to the bathroom.",
            "John went to the hallway.",
            "John travelled to the office.",
            "Daniel moved to the garden.",
            "John went to the bedroom.",
            "John dropped the football.",
            "John went to the kitchen.",
        ),
        question="Where was the football before the bedroom?",
        answer="office",
        supports=(4, 6, 7),
    ),
    Shown(
        title="From hand to hand",
        look_for="The milk goes from hand to hand, and so does the apple. See which of the "
        "sentences the answer needs.",
        sentences=(
            "Fred took the milk there.",
            "Bill went to the kitchen.",
            "Fred gave the milk to Mary.",
            "Mary went to the office.",
            "Mary handed the milk to Jeff.",
            "Bill took the apple there.",
            "Bill gave the apple to Fred.",
        ),
        question="Who gave the milk to Jeff?",
        answer="mary",
        supports=(5,),
    ),
    Shown(
        title="Afraid of cats",
        look_for="A rule about all wolves, and a wolf: the answer needs both, and nothing else of "
        "the story.",
        sentences=(
            "Mice are afraid of wolves.",
            "Gertrude is a mouse.",
            "Cats are afraid of sheep.",
            "Winona is a sheep.",
            "Sheep are afraid of mice.",
            "Wolves are afraid of cats.",
            "Jessica is a cat.",
            "Emily is a wolf.",
        ),
        question="What is Emily afraid of?",
        answer="cat",
        supports=(6, 8),
    ),
    Shown(
        title="The way to the garden",
        look_for="Two sentences make a way of two steps. Put the same fact the other way round, "
        "and the way stays: “The kitchen is east of the bedroom.”",
        sentences=(
            "The kitchen is north of the garden.",
            "The bathroom is east of the garden.",
            "The bedroom is west of the kitchen.",
            "The office is south of the garden.",
            "The hallway is east of the kitchen.",
        ),
        question="How do you go from the bedroom to the garden?",
        answer="e,s",
        supports=(1, 3),
    ),
    Shown(
        title="Maybe",
        look_for="Who is in one place or another may be there: the answer can be maybe. Ask about "
        "Bill as well, who went on.",
        sentences=(
            "Fred is either in the school or the park.",
            "Mary went back to the office.",
            "Bill is either in the kitchen or the cinema.",
            "Mary is in the bedroom.",
            "Bill went to the park.",
            "Julie is either in the office or the school.",
        ),
        question="Is Fred in the park?",
        answer="maybe",
        supports=(1,),
    ),
    _long_story(),
)


def gallery_for(reader: Reader) -> tuple[GalleryStory, ...]:
    """The stories of which a model can read every word, and whose questions it answers right."""
    return tuple(
        GalleryStory(
            title=shown.title,
            look_for=shown.look_for,
            sentences=shown.sentences,
            questions=(
                KnownQuestion(
                    text=shown.question,
                    answer=shown.answer,
                    after=len(shown.sentences),
                    supports=tuple(number - 1 for number in shown.supports),
                ),
            ),
        )
        for shown in GALLERY
        if _answers(reader, shown.sentences, shown.question) == shown.answer
    )


def _answers(reader: Reader, story: Sequence[str], question: str) -> str | None:
    try:
        return reader.answer(story, question, top=1)[0].word
    except UserError:
        return None
