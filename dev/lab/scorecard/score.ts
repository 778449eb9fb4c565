/** Scores one view: which facts and outdated values it contains, which names were never in the text, and how large it is. */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { type Fact, type PlainMessage, textOf } from "./session.ts"

/** Tokens that a message costs in addition to its text, as in OpenAI's chat format. */
const MESSAGE_TOKENS = 4

export interface FactScore {
  readonly id: string
  readonly kind: string
  readonly isInView: boolean
  /** Earlier values that are in view without a word that shows they are earlier. */
  readonly stale: readonly string[]
  /** Whether an earlier value is in view at all, marked or not. */
  readonly hasEarlier: boolean
}

export interface ViewScore {
  readonly facts: readonly FactScore[]
  readonly inventions: readonly string[]
  readonly tokens: number
  readonly characters: number
}

interface ScoreOptions {
  readonly facts: readonly Fact[]
  /** The complete text of the conversation so far. */
  readonly source: string
  /** Names that the contestant writes itself, such as the paths of offloaded results. Needs the flag g. */
  readonly own?: RegExp | undefined
}

export function scoreView(view: readonly PlainMessage[], { facts, source, own }: ScoreOptions): ViewScore {
  const text = textOf(view)
  const lower = text.toLowerCase()
  return {
    facts: facts.map(({ id, kind, needs, stale = [] }) => ({
      ...{ id, kind },
      isInView: needs.every((need) => lower.includes(need.toLowerCase())),
      stale: stale.filter((value) => unmarked(text, value)),
      hasEarlier: stale.some((value) => positions(text, value).length > 0),
    })),
    inventions: inventionsIn(text, source, own),
    ...sizeOf(view),
  }
}

/** Size of a view, counted the same way for all contestants by a tokenizer that none of them uses. */
export const sizeOf = (view: readonly PlainMessage[]): { readonly tokens: number; readonly characters: number } => {
  const text = textOf(view)
  return { tokens: countTokens(text) + view.length * MESSAGE_TOKENS, characters: text.length }
}

/** Matches a word just before an earlier value that identifies it as one: "was $201", "instead of npm". */
const MARK =
  /\b(?:was|were|formerly|previously|before|earlier|until|old|replace[sd]?|superseded|outdated|no longer|not|instead of|rather than|from)\b[^\n]{0,8}$/i
/** Matches the rest of a line after such a word and a colon, which is marked completely: "Replaced: The cap is $201". */
const MARKED_LINE = /\b(?:was|before|earlier|previously|replaced|superseded|outdated|no longer (?:true|valid)):[^\n]*$/i

/** Whether the value occurs in the text without such a word. */
const unmarked = (text: string, value: string): boolean =>
  positions(text, value).some((at) => {
    const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at)
    return !MARK.test(line) && !MARKED_LINE.test(line)
  })

/** Positions where the value is a separate word. */
const positions = (text: string, value: string): readonly number[] =>
  [...text.matchAll(new RegExp(`(?<![\\w$])${value.replaceAll(/[^\w\s]/g, "\\$&")}(?!\\w)`, "gi"))].map(
    ({ index }) => index,
  )

/**
 * Patterns of names that cannot be guessed: a word with a digit, an address, a path, an amount, an error code, a name in camel or snake
 * case.
 */
const NAMES = [
  /\bhttps?:\/\/[^\s<>"'`)\]]*[\w/]/g,
  /(?<![\w/.])(?:\/?[\w.-]+\/)+[\w.-]*\w/g,
  /[$€£]\d[\d.,]*\d|[$€£]\d/g,
  /\b(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{4,}\w\b/gi,
  /\b\d[\d.]{2,}\d\b(?! (?:more |estimated )?(?:characters|chars|tokens|lines|messages|bytes|names)\b)/g, // not a size that the contestant counted
  /\b[a-z]+[A-Z]\w+\b/g,
  /\b[a-z]+_[a-z_]+\b/gi,
]

function inventionsIn(text: string, source: string, own: RegExp | undefined): readonly string[] {
  const known = source.toLowerCase()
  const external = own ? text.replaceAll(own, " ") : text
  const found = new Set(NAMES.flatMap((pattern) => external.match(pattern) ?? []))
  return [...found].filter((name) => !known.includes(name.toLowerCase()))
}
