"""Sentences of many languages; `|` marks where the next one starts."""

import time
from itertools import pairwise

import pytest

from ingest.sentences import SentenceOptions, sentence_bounds, stored_text

OPTIONS = SentenceOptions()


def sentences(text: str, language: str | None = None, options: SentenceOptions = OPTIONS) -> list[str]:
    bounds = sentence_bounds(text, language=language, options=options)
    return [text[start:end] for start, end in pairwise(bounds)]


def check(marked: str, language: str | None = None) -> None:
    assert "|".join(sentences(marked.replace("|", ""), language)) == marked


@pytest.mark.parametrize(
    ("language", "marked"),
    [
        ("zh", "今天天气很好。|他说：“我们走吧。”|然后他走了！|真的吗？|1999年他回来了。"),
        ("ja", "こんにちは。|「はい。」と言った。|そうですか？|雨が降っています！|帰りましょう。"),
        ("ko", "안녕하세요. |오늘은 3.14에 대해 말합니다. |그래요? |네!"),
        ("hi", "राम घर गया। |श्याम आया। |क्या वह आएगा? |हाँ! |डॉ. शर्मा आए।"),
        ("ar", "ذهب الرجل إلى البيت. |ثم عاد؟ |نعم! |قال د. أحمد ذلك."),
        ("ur", "یہ ایک جملہ ہے۔ |یہ دوسرا جملہ ہے۔ |کیا یہ ٹھیک ہے؟ |ہاں!"),
        ("my", "ဤသည်မှာစာကြောင်းဖြစ်သည်။ |ဒုတိယစာကြောင်း။ |တတိယ။"),
        ("km", "នេះជាប្រយោគ។ |នេះជាប្រយោគទីពីរ។ |ចប់៕"),
        ("bo", "བོད་ཡིག། |གཉིས་པ།། |གསུམ་པ།"),
        ("hy", "Բարև։ |Ինչպե՞ս ես։ |Լավ։"),
        ("ka", "გამარჯობა. |როგორ ხარ? |კარგად."),
        ("el", "Ο κ. Παπαδόπουλος ήρθε. |Τι κάνεις; |Καλά, π.χ. σήμερα."),
        ("he", "שלום. |מה שלומך? |טוב."),
        ("ta", "வணக்கம். |எப்படி? |திரு. ராமன் வந்தார்."),
        ("bn", "আমি যাই। |তুমি কি যাবে? |হ্যাঁ!"),
        ("am", "ሰላም። |ደህና።"),
        ("ru", "А. С. Пушкин родился в 1799 г. в Москве. |Он жил на ул. Ленина, т. е. рядом. |Это рис. 5."),
        ("de", "Am 3. Oktober kam Dr. Müller. |Der 2. Weltkrieg endete 1945. |Siehe Art. 3 Abs. 2 GG, z. B. hier."),
        ("fr", "M. Dupont est là. |Mme Curie est née en 1867 av. J.-C. et l'art. 5 le dit. |« Oui ! » dit-il."),
        ("es", "El Sr. García vive en EE. UU. desde 1990. |¿Qué dice la pág. 4? |¡Hola!"),
        ("it", "Il sig. Rossi e il dott. Verdi leggono l'art. 5. |Poi vanno via."),
        ("pt", "O Sr. Silva leu o art. 5. |A Sra. Souza não."),
        ("nl", "Dhr. Jansen kent mevr. de Vries, d.w.z. van vroeger. |Zie blz. 4."),
        ("pl", "Pan prof. Nowak mieszka na ul. Długiej. |Por. art. 5 ust. 2."),
        ("cs", "Přišel Ing. Novák, např. dne 5. května. |Potom odešel."),
        ("tr", "Dr. Ahmet geldi. |Osman 19. yüzyılda yaşadı. |Sonra gitti."),
    ],
)
def test_languages_are_split_with_and_without_being_told_which(language: str, marked: str) -> None:
    check(marked, language)
    if not marked.isascii() and language not in {"de", "fr", "es", "it", "pt", "nl", "pl", "cs", "tr"}:
        check(marked)


def test_thai_has_no_marks_and_is_cut_at_spaces_when_long() -> None:
    phrase = "ผมชื่อสมชายและผมเป็นคนไทย "
    text = phrase * 20
    pieces = sentences(text)
    assert len(pieces) > 1
    assert all(piece.endswith(" ") and len(piece.rstrip()) <= OPTIONS.max_sentence_chars_dense for piece in pieces)
    assert sentences(phrase * 3) == [phrase * 3]


@pytest.mark.parametrize(
    "marked",
    [
        "Dr. Smith met Mrs. Jones, Prof. Lee and Lt. Col. Brown in St. Louis. |They talked.",
        "Acme Inc. sued Foo Corp. in the U.S. District Court. |The case is Smith v. Jones.",
        "He works for Acme Inc. |The firm is big. |She lives in the U.S. |They left at 5 p.m. |It was late.",
        "See Fig. 3, Eq. 4, No. 5, pp. 6-7, Vol. 8 and Sec. 9.1. |It was born on Jan. 5, 1990.",
        "J. R. R. Tolkien and J.K. Rowling wrote books. |Smith et al. say so, cf. Lee, e.g. here, i.e. there.",
        "It costs $3.14, or 2.5 percent. |Version 1.2.3 of v2.0 is out. |Python 3.11 too.",
        "Wait... what? |Well ... fine. |He left…and came back.",
        "See https://a.example.org/b.c?d=e.f&g=h for more. |Mail first.last@example.org now. |Visit www.example.org.",
        'He said "Stop!" and left. |"Why?" she asked. |"Go." |He went. |(See above.) |Then he slept.',
        "That is so.[1] |This is not.[2][3] |End.",
        "Is it?! |Yes! |No. |Then stop.",
        "The users' data is safe. |Nobody reads it. |The users' names are safe too. |Good.",
    ],
)
def test_dots_that_end_no_sentence_do_not_split(marked: str) -> None:
    check(marked, "en")


def test_in_text_without_capitals_a_small_letter_begins_a_sentence() -> None:
    check("the price was $56.73, i.e. the closing price. |payment of dividends is up to the board. |see item 7.", "en")
    check("It was so. then it was not. |He left.", "en")


@pytest.mark.parametrize(
    "word", ["in", "on", "me", "ok", "est", "no", "art", "may", "min", "DC", "doc", "nom", "max", "HIV"]
)
def test_words_that_are_abbreviations_elsewhere_end_an_english_sentence(word: str) -> None:
    assert len(sentences(f"They all said it was {word}. Peter went home at once.", "en")) == 2


def test_missing_space_after_a_sentence_is_seen_but_names_with_dots_are_kept() -> None:
    check("He said so.|Then he left.", "en")
    check("Use node.js and System.Out.println in a.b.c here.", "en")


@pytest.mark.parametrize(
    "marked",
    [
        "1. First thing. |2. Second thing.\n",
        "(a) Parent.\n|(b) Child.\n",
        "iv) Fourth thing.\n|v) Fifth thing.\n",
        "§ 4.2. The rule holds.\n",
        "They agree.  |5. Governing Law. This Agreement is governed by law. |It is long.\n",
        "They agree.\n\n|ARTICLE IX\n\nTERMINATION\n\n|Section 9.1. Notice. It shall be given.\n",
        "They pay monthly.   |13. PRODUCTION FUND. The Licensor shall pay.\n",
    ],
)
def test_the_number_of_an_item_or_section_joins_what_follows(marked: str) -> None:
    check(marked, "en")


def test_a_piece_without_letter_or_digit_joins_its_predecessor_or_if_first_its_successor() -> None:
    check("One. ??? |Two.\n\n***\n\n|Three.", "en")
    check("*** \n\nOne. |Two.", "en")
    assert sentences("... !!!") == ["... !!!"]


def test_page_numbers_join_what_is_before() -> None:
    check("They agree to pay.\n\n12\n\n|The other party agrees.\n\nPage 13\n", "en")


def test_white_space_belongs_to_the_sentence_before_and_at_the_start_to_the_first() -> None:
    check("\n\n  One.  \n|Two. \t\n\n|Three.\n\n", "en")


@pytest.mark.parametrize("blank", ["", " ", "\n\n\t\r\n", "\u3000\u2003"])
def test_blank_text_has_no_sentences(blank: str) -> None:
    assert sentence_bounds(blank, language="en", options=OPTIONS) == ()


@pytest.mark.parametrize("language", ["en-US", "EN", "eng", "en_GB"])
def test_the_region_of_a_language_is_ignored(language: str) -> None:
    check("I saw Mr. Smith. |He left.", language)


@pytest.mark.parametrize("language", ["", "xx", "und", "klingon", None])
def test_an_unknown_language_is_judged_by_the_script(language: str | None) -> None:
    check("今天很好。|明天也好。", language)
    check("I saw Mr. Smith. |He left.", language)


def test_in_mixed_text_each_paragraph_has_its_own_language() -> None:
    check("「はい。」と言った。|帰る。\n\n|I saw Mr. Smith. |He left.\n\n|یہ ایک ہے۔ |یہ دو ہے۔")


def test_a_long_sentence_is_cut_at_clauses_into_pieces_of_like_length() -> None:
    text = "the party shall pay the price; " * 25  # 25 * 31 = 775 characters
    pieces = sentences(text, "en")
    assert len(pieces) == 2
    assert all(piece.rstrip().endswith(";") for piece in pieces)
    assert abs(len(pieces[0]) - len(pieces[1])) <= 31


def test_a_long_sentence_without_clauses_is_cut_between_words() -> None:
    pieces = sentences("word " * 121, "en")  # 605 characters, so that a cut at 600 would leave one word
    assert [len(piece.split()) for piece in pieces] in ([60, 61], [61, 60])


@pytest.mark.parametrize("grapheme", ["e\u0301", "👩\u200d👩\u200d👧", "🇩🇪", "क्षि", "각", "👍🏽"])
def test_a_grapheme_is_never_cut(grapheme: str) -> None:
    text = grapheme * 1_000
    assert all(len(piece) % len(grapheme) == 0 for piece in sentences(text))


def test_dense_scripts_have_a_limit_of_their_own() -> None:
    assert max(map(len, sentences("汉" * 1_000))) == 200
    assert max(map(len, sentences("한" * 1_000))) == 200
    assert max(map(len, sentences("a" * 1_000))) == 500  # 2 pieces of 500, not 600 + 400
    small = SentenceOptions(max_sentence_chars=50, max_sentence_chars_dense=10)
    assert max(map(len, sentences("汉" * 100, options=small))) == 10
    assert max(map(len, sentences("a" * 100, options=small))) == 50


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a.",
        "Ok. ",
        "(",
        '"',
        "“",
        " \n",
        "```\n",
        "| a | b |\n",
        "你。",
        "a\u0301",
        "🇩🇪",
        "- a\n",
        "\ud83d",
        ". ",
        "ไ",
    ],
)
def test_100_000_characters_of_anything_take_no_time_that_grows_with_their_square(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    started = time.process_time()
    pieces = sentences(text)
    assert time.process_time() - started < 5
    assert "".join(pieces) == (text if text.strip() else "")
    assert all(len(piece.rstrip()) <= OPTIONS.max_sentence_chars for piece in pieces)


def test_stored_text_replaces_one_for_one_and_leaves_every_character_in_its_place() -> None:
    assert stored_text("\ufeffa\0b\ud800c\udfff\r\nd\re") == "\ufeffa\ufffdb\ufffdc\ufffd\r\nd\re"
    assert stored_text("😀\u2028\ufeff") == "😀\u2028\ufeff"
