/**
 * Step 5, restore. Exact names after a boundary: those that were said or typed into tools, then those from results, as many as the limit
 * allows. What other facts or kept messages show is not repeated. Every name is on a line of our own inside a fence.
 */
import { atOnce, type Steps } from "../../../base/in-slices.ts"
import { remembering } from "../../../base/remembering.ts"
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
  /** The other facts, section by section. */
  readonly shown: readonly string[]
}

const HEAD = [
  "## Exact names",
  "The names and numbers of the conversation as they were spelled, newest first. They are data.",
]
const MOST_SHOWN = 20_000 // names in one section of the other facts
// Chosen with `npm run compaction-marks`, on a conversation that rewrites whole files: it has far more names than room.
const RECENCY = 1 // how much more the newest name counts than the oldest: as much as three uses instead of one
const SAID = 2 // how much more a name counts that was said than one that was only typed
const RARE_KIND = 2 // how much more a hash, a version, a ticket or a number of four digits counts: nothing else says what it says
const SMALL_NUMBER = 4 // how much less a number of three digits counts: line numbers and times would fill the list
const EXPRESSION = 3 // how much less `error.message` counts, typed or in a result: ordinary words, joined by code

const NAMES_PER_STEP = 200 // less than a millisecond

/** Empty where there is nothing to list. */
export const renderNames = (input: NamesToRender): string => atOnce(nameSteps(input))

/** The same in steps: a long conversation has thousands of names. */
export function* nameSteps({ names, limit, estimate, kept, shown }: NamesToRender): Steps<string> {
  const listed = new Listed()
  for (const section of shown) {
    for (const name of namesShown(section)) listed.add(name)
    yield
  }
  const held = new Set([...kept].map((uuid) => handleOf(uuid)))
  let room = limit - estimate([...HEAD, fenced("")].join("\n"))
  const take = (ranked: readonly RankedName[]): ReadonlySet<string> => {
    const taken = new Set<string>()
    for (const { name, use } of ranked) {
      if (room <= 0) break
      if ((use.by !== "result" && held.has(use.at)) || listed.has(name)) continue
      room -= estimate(` ${writtenName(name)}`)
      if (room < 0) break
      taken.add(name)
      listed.add(name)
    }
    return taken
  }
  const said = yield* ranked(names.said, { estimate, bonus: SAID })
  const typed = yield* ranked(names.typed, { estimate, penalty: EXPRESSION })
  const seen = yield* ranked(names.seen, { estimate, penalty: EXPRESSION })
  room -= estimate("said: \n") + estimate("typed: \n")
  const used = take([...said, ...typed].sort(likeliestFirst))
  yield
  room -= estimate("in results: \n")
  const found = take(seen.toSorted(likeliestFirst))
  yield
  const lines = [
    lineOf("said", [...names.said.keys()].reverse(), used),
    lineOf(
      "typed",
      typed.toSorted(likeliestFirst).map(({ name }) => name),
      used,
    ),
    lineOf("in results", [...found], found),
  ].filter((line) => line !== "")
  return lines.length === 0 ? "" : [...HEAD, fenced(lines.join("\n"))].join("\n")
}

function lineOf(label: string, ordered: readonly string[], taken: ReadonlySet<string>): string {
  const shown = ordered.filter((name) => taken.has(name))
  return shown.length === 0 ? "" : `${label}: ${shown.map(writtenName).join(" ")}`
}

/** A blank separates names, so a name with one is in quotes. */
const writtenName = (name: string): string => (/\s/.test(name) ? JSON.stringify(name) : inline(name))

interface RankedName {
  readonly name: string
  readonly use: NameUse
  readonly at: number
  readonly score: number
}

interface Ranking {
  readonly estimate: Estimate
  readonly bonus?: number
  /** For an expression. */
  readonly penalty?: number
}

/**
 * A name that was used often or lately is the likeliest to be used again, and short ones leave room for others. Measured with
 * `npm run compaction-marks`: in conversations with more names than room this finds more of those used again than newest first.
 */
function* ranked(
  names: ReadonlyMap<string, NameUse>,
  { estimate, bonus = 0, penalty = 0 }: Ranking,
): Steps<readonly RankedName[]> {
  const found: RankedName[] = []
  for (const [name, use] of [...names]) {
    const at = found.length
    if (at % NAMES_PER_STEP === 0) yield
    const score =
      bonus +
      (RECENCY * at) / names.size +
      Math.log2((1 + use.uses) / Math.max(1, estimate(name))) +
      kindBonus(name, bonus > 0) -
      (isExpression(name) ? penalty : 0)
    found.push({ name, use, at, score })
  }
  return found
}

const SMALL = /^\d{1,3}(?:\.\d+)?(?:%|[a-z]{1,2})?$/i
const RARE =
  /^(?:(?=[^a-f]*[a-f])(?=\D*\d)[0-9a-f]{7,64}|v?\d+\.\d+\.\d[\w.-]*|[A-Z]{2,}-\d+|\d{4,}|\d{1,3}(?:,\d{3})+)$/

function kindBonus(name: string, isSaid: boolean): number {
  if (SMALL.test(name)) return isSaid ? 0 : -SMALL_NUMBER
  return RARE.test(name) ? RARE_KIND : 0
}

const likeliestFirst = (a: RankedName, b: RankedName): number => b.score - a.score || b.at - a.at

/** Of a dotted word, the members that are names are listed alone. So one that is listed whole has none, unless it is a file or a host. */
const isExpression = (name: string): boolean => name.includes(".") && kindOf(name) === "expression"
const kindOf = remembering((name) =>
  exactNamesIn(name).some((found) => found.name === name && found.kind === "identifier") ? "expression" : "name",
)

const namesShown = remembering((section) => exactNamesIn(section, MOST_SHOWN).map(({ name }) => name))

/** Names that a reader of the facts already has: whole, as the end of a path, or as a word of a longer name. */
class Listed {
  readonly #names = new Set<string>()

  has(name: string): boolean {
    return this.#names.has(name)
  }

  add(name: string): void {
    this.#names.add(name)
    for (const part of name.split(/[^\p{L}\p{N}_]+/u)) this.#names.add(part)
    for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) this.#names.add(name.slice(at + 1))
  }
}
