"""The uncased BERT tokenizer: clean, lower, strip accents, split at spaces and punctuation, then greedy WordPiece.

Standard library only. Every word is cut from the left into the longest pieces that the vocabulary has; pieces inside a
word carry the prefix ##, and a word that cannot be cut that way is [UNK] as a whole. "[CLS]" and the like in a sentence
are plain text here, not tokens.
"""

import unicodedata

LONGEST_WORD = 100  # characters; longer ones are [UNK]


def read_vocabulary(path):
    """Token to id, from a vocab.txt with one token a line."""
    with open(path, encoding="utf-8") as lines:
        return {line.rstrip("\n"): index for index, line in enumerate(lines)}


def _is_cjk(code):
    return (0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x2A6DF or 0x2A700 <= code <= 0x2B73F
            or 0x2B740 <= code <= 0x2B81F or 0x2B820 <= code <= 0x2CEAF or 0xF900 <= code <= 0xFAFF or 0x2F800 <= code <= 0x2FA1F)


def _is_punctuation(character):
    code = ord(character)
    ascii_symbol = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    return ascii_symbol or unicodedata.category(character).startswith("P")


def _normalize(text):
    cleaned = []
    for character in text:
        code = ord(character)
        if character in "\t\n\r" or unicodedata.category(character) == "Zs":
            cleaned.append(" ")
        elif code in (0, 0xFFFD) or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs"):
            continue
        elif _is_cjk(code):
            cleaned.append(f" {character} ")
        else:
            cleaned.append(character)
    decomposed = unicodedata.normalize("NFD", "".join(cleaned))
    # Lowered one by one: a Greek word's last sigma stays the ordinary one, as in the vocabulary.
    return "".join(character.lower() for character in decomposed if unicodedata.category(character) != "Mn")


def split_words(text):
    """Words and single punctuation marks of the normalized text."""
    words = []
    for chunk in _normalize(text).split():
        start = 0
        for position, character in enumerate(chunk):
            if _is_punctuation(character):
                words += [chunk[start:position]] if position > start else []
                words.append(character)
                start = position + 1
        words += [chunk[start:]] if start < len(chunk) else []
    return words


def split_pieces(word, vocabulary):
    """The WordPieces of one word, or ["[UNK]"]."""
    if len(word) > LONGEST_WORD:
        return ["[UNK]"]
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        start = end
    return pieces


def encode(text, vocabulary, length):
    """Token ids of [CLS] text [SEP], cut and padded to `length`, and the mask that is 1 on what is not padding."""
    pieces = [piece for word in split_words(text) for piece in split_pieces(word, vocabulary)]
    tokens = ["[CLS]", *pieces[: length - 2], "[SEP]"]
    padding = length - len(tokens)
    ids = [vocabulary[token] for token in tokens] + [vocabulary["[PAD]"]] * padding
    return ids, [1] * len(tokens) + [0] * padding
