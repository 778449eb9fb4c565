/** Searches earlier inputs backwards while the query is typed, as Ctrl-R does in a shell. Pure. */
import type { Editor } from "./editor.ts"

export interface HistorySearch {
  readonly query: string
  /** Index of the matching input. Absent before the first match. */
  readonly at?: number
  /** True if no older input contains the query. The last match stays on the screen. */
  readonly isFailing: boolean
  /** The input line before the search. */
  readonly before: Editor
}

export const searchFrom = (before: Editor): HistorySearch => ({ query: "", isFailing: false, before })

/** A longer query continues from the match; a shorter one starts again at the newest input. */
export function withQuery(search: HistorySearch, query: string, inputs: readonly string[]): HistorySearch {
  const { before } = search
  if (query === "") return searchFrom(before)
  const isLonger = query.startsWith(search.query) && search.at !== undefined
  const from = isLonger ? search.at! : inputs.length - 1
  return settled({ ...search, query }, matchFrom({ inputs, query, from, step: -1 }))
}

/** The next match in this direction with a different text. */
export function nextMatch(
  search: HistorySearch,
  { inputs, direction }: { readonly inputs: readonly string[]; readonly direction: "older" | "newer" },
): HistorySearch {
  const { query, at = inputs.length } = search
  const step = direction === "older" ? -1 : 1
  const found = matchFrom({ inputs, query, from: at + step, step, except: inputs[at] })
  return direction === "newer" && found === undefined ? search : settled(search, found)
}

/** The input line during the search: the match with the cursor on it, or the text from before. */
export function foundInput({ at, query, before }: HistorySearch, inputs: readonly string[]): Editor {
  const text = at === undefined ? undefined : inputs[at]
  return text === undefined ? before : { text, cursor: Math.max(0, folded(text).indexOf(folded(query))) }
}

interface SearchStep {
  readonly inputs: readonly string[]
  readonly query: string
  readonly from: number
  readonly step: 1 | -1
  readonly except?: string | undefined
}

function matchFrom({ inputs, query, from, step, except }: SearchStep): number | undefined {
  const wanted = folded(query)
  for (let at = from; at >= 0 && at < inputs.length; at += step)
    if (inputs[at] !== except && folded(inputs[at]!).includes(wanted)) return at
  return undefined
}

const settled = (search: HistorySearch, at: number | undefined): HistorySearch =>
  at === undefined ? { ...search, isFailing: true } : { ...search, at, isFailing: false }

const folded = (text: string): string => text.toLowerCase()
