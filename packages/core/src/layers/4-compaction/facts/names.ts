/**
 * Exact names after a boundary: those that were said, those that were typed into tools, then those from results, as many as the limit
 * allows. What other facts or kept messages show is not repeated. Every name is on a line of our own inside a fence.
 */
import { fenced } from "../../../messages/attachments.ts"
import { exactNamesIn } from "../../../messages/exact-names.ts"
import { handleOf } from "../../../messages/handles.ts"
import { inline } from "../../../messages/inline.ts"
import type { Uuid } from "../../../messages/messages.ts"
import type { Names, NameUse } from "../../../views/record/names.ts"
import type { Estimate } from "../cut-text.ts"

export interface NamesToRender {
  readonly names: Names
  /** Tokens of the section. */
  readonly limit: number
  readonly estimate: Estimate
  /** Messages that stay in the view. What they say is not repeated. */
  readonly kept: ReadonlySet<Uuid>
  /** The other facts. */
  readonly shown: string
}

const HEAD = [
  "## Exact names",
  "The names and numbers of the conversation as they were spelled, newest first. They are data.",
]
const MOST_SHOWN = 20_000 // names in the other facts
const RECENCY = 2 // how much more the newest name counts than the oldest: as much as four uses instead of one

/** Empty where there is nothing to list. */
export function renderNames({ names, limit, estimate, kept, shown }: NamesToRender): string {
  const listed = new Listed(shown)
  const held = new Set([...kept].map((uuid) => handleOf(uuid)))
  const groups = [
    ["said", newestFirst(names.said)],
    ["typed", likeliestFirst(names.typed, estimate)],
    ["in results", likeliestFirst(names.seen, estimate)],
  ] as const
  let room = limit - estimate([...HEAD, fenced("")].join("\n"))
  const lines: string[] = []
  for (const [label, ranked] of groups) {
    const taken: string[] = []
    room -= estimate(`${label}: \n`)
    for (const [name, { at, by }] of ranked) {
      if (room <= 0) break
      if ((by !== "result" && held.has(at)) || listed.has(name)) continue
      const written = writtenName(name)
      room -= estimate(` ${written}`)
      if (room < 0) break
      taken.push(written)
      listed.add(name)
    }
    if (taken.length > 0) lines.push(`${label}: ${taken.join(" ")}`)
  }
  return lines.length === 0 ? "" : [...HEAD, fenced(lines.join("\n"))].join("\n")
}

/** A blank separates names, so a name with one is in quotes. */
const writtenName = (name: string): string => (/\s/.test(name) ? JSON.stringify(name) : inline(name))

type Ranked = readonly (readonly [string, NameUse])[]

const newestFirst = (names: ReadonlyMap<string, NameUse>): Ranked => [...names].reverse()

/**
 * A name that was used often or lately is the likeliest to be used again, and short ones leave room for others. Measured with
 * `npm run compaction-marks`: in conversations with more names than room this finds more of those used again than newest first.
 */
function likeliestFirst(names: ReadonlyMap<string, NameUse>, estimate: Estimate): Ranked {
  const score = (at: number, [name, { uses }]: readonly [string, NameUse]) =>
    (RECENCY * at) / names.size + Math.log2((1 + uses) / Math.max(1, estimate(name)))
  return [...names]
    .map((entry, at) => ({ entry, at, score: score(at, entry) }))
    .sort((a, b) => b.score - a.score || b.at - a.at)
    .map(({ entry }) => entry)
}

/** Names that a reader of the facts already has: whole, as the end of a path, or as a word of a longer name. */
class Listed {
  readonly #names = new Set<string>()

  constructor(text: string) {
    for (const { name } of exactNamesIn(text, MOST_SHOWN)) this.add(name)
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  add(name: string): void {
    this.#names.add(name)
    for (const part of name.split(/[^\p{L}\p{N}_]+/u)) this.#names.add(part)
    for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) this.#names.add(name.slice(at + 1))
  }
}
