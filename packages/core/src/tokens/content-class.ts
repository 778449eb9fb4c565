/**
 * Cuts text into segments and classifies each one, in one pass.
 *
 * A segment is a line, or 256 characters of a longer one. The pass is a small automaton: every character leads from one state
 * to the next ("the fifth letter of a word", "a digit after a letter", "a second space"). The number of visits to each state
 * decides the class, and `token-weights.ts` has the token weights of the states. The pass never looks back, so the time is
 * linear for any text.
 */

/** A table with the kind of every UTF-16 code unit, for the estimator's automaton. */

const CHARACTER_KINDS = [
  ...["lineEnd", "space", "tab", "lower", "upper", "digit", "accented"],
  ...["quote", "bracket", "stop", "slash", "rule", "sign"],
  ...["alphabet", "han", "kana", "hangul", "otherScript", "symbol", "pictograph"],
] as const
type CharacterKind = (typeof CHARACTER_KINDS)[number]

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
function tabulateKinds(): Uint8Array {
  const table = new Uint8Array(0x10000).fill(CHARACTER_KINDS.indexOf("otherScript"))
  for (const [first, last, kind] of RANGES) table.fill(CHARACTER_KINDS.indexOf(kind), first, last + 1)
  CHARACTER_KINDS.forEach((kind, index) => {
    for (const character of ASCII[kind] ?? "") table[character.charCodeAt(0)] = index
  })
  return table
}

export const CONTENT_CLASSES = ["prose", "code", "json", "script", "dense", "listing"] as const

/**
 * `script` is text in non-Latin letters. `dense` is hashes, base64 and other random runs. `listing` is file lists, paths,
 * tables, logs and numbers.
 */
export type ContentClass = (typeof CONTENT_CLASSES)[number]

/** Called for each segment. `visits` is reused for the next segment, so do not keep it. */
export type SegmentVisitor = (contentClass: ContentClass, visits: Readonly<Float64Array>) => void

const SEGMENT_CHARACTERS = 256

/** The state after a character. A number is the place within a run of one kind; the last place of a run repeats. */
export const STATES = [
  ...["lineEnd", "lineEnd2", "space", "space2", "space3", "tab", "tab2"],
  ...["word", "gluedWord", "capital", "gluedCapital", "hump", "capitals", "accented"],
  ...["letter2", "letter3", "letter4", "letter5", "letter6", "letter7", "letter8", "letter9", "letter10"],
  ...["lineNumber", "number", "gluedNumber", "digit2", "digit3", "digit4", "digitAfterLetter", "letterAfterDigit"],
  ...["quote", "gluedQuote", "quote2", "bracket", "gluedBracket", "bracket2", "stop", "gluedStop", "stop2"],
  ...["slash", "gluedSlash", "slash2", "rule", "gluedRule", "rule2", "rule3", "sign", "gluedSign", "sign2"],
  ...["alphabet", "alphabet2", "alphabet3", "alphabet4", "han", "kana", "hangul", "otherScript"],
  ...["symbol", "symbol2", "pictograph"],
] as const
export type State = (typeof STATES)[number]

const START = "lineEnd" // text begins as if a line had just ended, so a line measures the same at the start of a text as later
const WORD_RUNS = [
  "word",
  "gluedWord",
  "capital",
  "gluedCapital",
  "hump",
  "capitals",
  "accented",
  "letter",
  "letterAfterDigit",
]
const NUMBER_RUNS = ["lineNumber", "number", "gluedNumber", "digit", "digitAfterLetter"]
const BLANK_RUNS = ["lineEnd", "space", "tab"]

/** The grammar of the automaton: the state that a character of this kind leads to. */
function stateAfter({ run, place }: Place, kind: CharacterKind): string {
  const afterBlank = BLANK_RUNS.includes(run)
  const inWord = WORD_RUNS.includes(run)
  const inNumber = NUMBER_RUNS.includes(run)
  switch (kind) {
    case "lower":
      if (inNumber) return "letterAfterDigit"
      if (!inWord) return afterBlank ? "word" : "gluedWord"
      return furtherIn("letter", run === "letter" ? place : 1)
    case "upper":
      if (inNumber) return "letterAfterDigit"
      if (!inWord) return afterBlank ? "capital" : "gluedCapital"
      return run === "letter" || run === "word" || run === "gluedWord" ? "hump" : "capitals"
    case "digit":
      if (run === "lineEnd") return "lineNumber"
      if (inWord) return "digitAfterLetter"
      if (!inNumber) return afterBlank ? "number" : "gluedNumber"
      if (run !== "digit") return "digit2"
      return place === 4 ? "digit2" : furtherIn("digit", place) // a token has three digits: the fourth begins a new one
    case "quote":
    case "bracket":
    case "stop":
    case "slash":
    case "rule":
    case "sign":
      if (run === kind || run === glued(kind)) return furtherIn(kind, place)
      return afterBlank ? kind : glued(kind)
    default:
      return run === kind ? furtherIn(kind, place) : kind
  }
}

interface Place {
  readonly run: string
  readonly place: number
}

function parseState(state: string): Place {
  const [, run = "", place = ""] = /^(\D+)(\d*)$/.exec(state) ?? []
  return { run, place: place === "" ? 1 : Number(place) }
}

function furtherIn(run: string, place: number): string {
  const next = `${run}${place + 1}`
  if (indexOf(next) >= 0) return next
  return place === 1 ? run : `${run}${place}`
}

const glued = (kind: string) => `glued${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
const PLACES: ReadonlyMap<string, number> = new Map(STATES.map((state, at) => [state, at]))
const indexOf = (state: string) => PLACES.get(state) ?? -1

const KINDS = CHARACTER_KINDS.length
const LINE_END = CHARACTER_KINDS.indexOf("lineEnd")
const kindOf = tabulateKinds()
const nextState = Uint8Array.from(
  STATES.map(parseState).flatMap((place) => CHARACTER_KINDS.map((kind) => indexOf(stateAfter(place, kind)))),
)

export function forEachSegment(text: string, visit: SegmentVisitor): void {
  const visits = new Float64Array(STATES.length)
  let state = indexOf(START)
  let at = 0
  while (at < text.length) {
    const longest = Math.min(at + SEGMENT_CHARACTERS, text.length)
    let kind = -1
    while (at < longest && kind !== LINE_END) {
      kind = kindOf[text.charCodeAt(at++)] as number
      state = nextState[state * KINDS + kind] as number
      visits[state] = (visits[state] as number) + 1
    }
    visit(classify(visits), visits)
    visits.fill(0)
  }
}

/** What a state says about the class of its segment. `mixed` is a change between letters, digits and cases within a run. */
const GROUPS = [
  "blank",
  "letter",
  "digit",
  "mixed",
  "quote",
  "bracket",
  "slash",
  "stop",
  "sign",
  "otherScript",
] as const
type Group = (typeof GROUPS)[number]
type CountEach<T extends readonly unknown[]> = { -readonly [K in keyof T]: number }

function groupOf(state: State): Group {
  const { run } = parseState(state)
  if (BLANK_RUNS.includes(run)) return "blank"
  if (run === "hump" || run === "letterAfterDigit" || run === "digitAfterLetter") return "mixed"
  if (WORD_RUNS.includes(run)) return "letter"
  if (NUMBER_RUNS.includes(run)) return "digit"
  if (["alphabet", "han", "kana", "hangul"].includes(run)) return "otherScript"
  return GROUPS.find((group) => run === group || run === glued(group)) ?? "sign"
}

const groupOfState = Uint8Array.from(STATES.map((state) => GROUPS.indexOf(groupOf(state))))
const COLUMN_GAP = indexOf("space2")

/** The thresholds were chosen by eye on recorded tool results. The weights were then fitted to the resulting classes. */
function classify(visits: Readonly<Float64Array>): ContentClass {
  const counts: CountEach<typeof GROUPS> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  for (let state = 0; state < visits.length; state++) {
    const group = groupOfState[state] as number
    counts[group] = (counts[group] as number) + (visits[state] as number)
  }
  const [, letters, digits, mixed, quotes, brackets, slashes, stops, signs, otherScripts] = counts
  const alphanumeric = letters + digits + mixed
  const inked = alphanumeric + quotes + brackets + slashes + stops + signs + otherScripts
  if (inked === 0) return "prose"
  if (otherScripts > 0.25 * inked) return "script"
  if (alphanumeric >= 16 && mixed > 0.22 * alphanumeric) return "dense"
  if (quotes > 0.08 * inked && quotes + brackets > 0.14 * inked) return "json"
  if (digits + mixed > 0.2 * inked || slashes > 0.07 * inked) return "listing"
  if (brackets + signs + quotes > 0.1 * inked) return "code"
  return (visits[COLUMN_GAP] as number) >= 2 ? "listing" : "prose"
}
