/** A table with the kind of every UTF-16 code unit, for the estimator's automaton. */

export const CHARACTER_KINDS = [
  ...["lineEnd", "space", "tab", "lower", "upper", "digit", "accented"],
  ...["quote", "bracket", "stop", "slash", "rule", "sign"],
  ...["alphabet", "han", "kana", "hangul", "otherScript", "symbol", "pictograph"],
] as const
export type CharacterKind = (typeof CHARACTER_KINDS)[number]

const ASCII: Partial<Record<CharacterKind, string>> = {
  lineEnd: "\n",
  space: " ",
  tab: "\t\r",
  digit: "0123456789",
  quote: "\"'`",
  bracket: "()[]{}<>",
  stop: ".,;:!?",
  slash: "/\\|",
  rule: "-_=*#~+",
}

/** First code, last code, kind. Later rows win. Everything else is `otherScript`. */
const RANGES: readonly (readonly [number, number, CharacterKind])[] = [
  [0x00, 0x7f, "sign"],
  [0x61, 0x7a, "lower"],
  [0x41, 0x5a, "upper"],
  [0x80, 0xbf, "symbol"],
  [0xc0, 0x24f, "accented"],
  [0x370, 0x52f, "alphabet"], // Greek, Cyrillic
  [0x1e00, 0x1eff, "accented"],
  [0x1f00, 0x1fff, "alphabet"],
  [0x2000, 0x2bff, "symbol"], // punctuation, arrows, mathematics, boxes
  [0x3000, 0x303f, "symbol"],
  [0x3040, 0x30ff, "kana"],
  [0x3100, 0x9fff, "han"],
  [0xac00, 0xd7af, "hangul"],
  [0xd800, 0xdfff, "pictograph"], // halves of emoji and of rare characters
  [0xe000, 0xf8ff, "pictograph"], // private use: icons of terminal fonts
  [0xf900, 0xfaff, "han"],
  [0xff00, 0xffef, "symbol"],
]

/** The index in `CHARACTER_KINDS` for each code unit. 64 KB. */
export function tabulateKinds(): Uint8Array {
  const table = new Uint8Array(0x10000).fill(CHARACTER_KINDS.indexOf("otherScript"))
  for (const [first, last, kind] of RANGES) table.fill(CHARACTER_KINDS.indexOf(kind), first, last + 1)
  CHARACTER_KINDS.forEach((kind, index) => {
    for (const character of ASCII[kind] ?? "") table[character.charCodeAt(0)] = index
  })
  return table
}
