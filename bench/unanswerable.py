"""Questions that no document answers, of four kinds, made up for this purpose.

`letters` are no words, `words` are words without a sentence, `nonsense` is grammatical and means nothing, `elsewhere`
are real questions about invented places and people, which no corpus of public texts can answer.
"""

from collections.abc import Mapping, Sequence

from umg_search.evaluation.questions import Question

KINDS: Mapping[str, Sequence[str]] = {
    "letters": (
        "xqzt wvvk pfft",
        "asdfgh jklqwe rtyzxc vbnm",
        "lkjhg poiuy mnbvc?",
        "brzzt gnarfl kweebo tish",
        "qqqq wwww eeee rrrr",
        "zxcvb 83jd 9fkw0 ppq1",
        "hhhrrr ttkk mmnn ooxx?",
        "vlorp snidge quatzle frimbo",
        "dkfj sldkfj woeiru xmcnv",
        "ggnnf ytrewq hjkl fdsa",
        "urtb oxzeq wamfle nurgoth drizp",
        "x7 kq9 zz4 blt0 vv",
    ),
    "words": (
        "table seven cloud purple because",
        "window although kettle running marble sideways",
        "green under quickly of the lantern bread",
        "paper whistle tomorrow mountain eleven",
        "curtain between pickle slowly and",
        "river button anger sandwich perhaps nine",
        "ladder the blue of whisper into",
        "spoon elephant never carpet lightning",
        "beside mirror yellow think a trumpet",
        "pencil swim fourteen velvet if cloud",
        "garden not orbit cheese with soon",
        "lamp decide ocean stapler during wool",
    ),
    "nonsense": (
        "Why do colourless green ideas sleep furiously?",
        "How many Tuesdays fit into a sad spoon?",
        "When did the triangle apologise to the smell of arithmetic?",
        "Which staircase invented the taste of silence?",
        "How heavy is the opinion of a yellow echo?",
        "Who married the square root of breakfast?",
        "What does a retired horizon charge for its shadow?",
        "Why was the alphabet allergic to last Wednesday?",
        "How does a carpet vote against its own humidity?",
        "Which of the seven whispers repaired the moon's bicycle?",
        "Where do unused commas spend the winter with their mortgage?",
        "What colour is the temperature of a forgotten verb?",
    ),
    "elsewhere": (
        "What is the Wi-Fi password of the Hotel Seeblick in Obersulmfeld?",
        "When does the pharmacy on Kestrel Lane in Dunmorrow open on Sundays?",
        "Who won the chess club championship of Lower Tavenby in 1998?",
        "How much does a season ticket for the Brindlewick tram cost?",
        "Which bus goes from Quarnford Mill to the swimming pool?",
        "What is my sister's shoe size?",
        "How do I reset the dishwasher Glanzmeister 440 after error F3?",
        "What did Aunt Philippa serve at her birthday dinner?",
        "Who teaches ceramics at the evening school of Hallinghurst?",
        "Where did the crew of the fishing boat Marigold leave its spare anchor?",
        "What is the phone number of the dentist in Pellworth?",
        "How long is the waiting list of the kindergarten Wirbelwind?",
        "Which colour did the neighbours paint their fence last spring?",
        "What time does the rehearsal of the Tarnley brass band end?",
        "How many eggs go into Mrs. Oldacre's lemon cake?",
        "Who has the key to the bicycle cellar at 12 Fenwick Close?",
    ),
}


def questions() -> list[Question]:
    """Return the questions, their kind in their metadata."""
    return [
        Question(f"{kind}-{number}", text, metadata={"unanswerable": True, "kind": kind})
        for kind, texts in KINDS.items()
        for number, text in enumerate(texts, start=1)
    ]
