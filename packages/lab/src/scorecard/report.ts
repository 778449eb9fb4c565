/** The scores as a table. */
import type { RoundScore } from "./run.ts"

export const percent = (share: number): string => `${(share * 100).toFixed(share === 1 || share === 0 ? 0 : 1)}%`

export interface Totals {
  readonly facts: number
  readonly inView: number
  /** Facts with an earlier value that stands unmarked. */
  readonly stale: number
  readonly changed: number
  readonly inventions: number
  readonly over: number
  readonly views: number
  /** The mean share of the text that is left. */
  readonly left: number
  readonly cpuMs: number
}

export function totalsOf(scores: readonly RoundScore[]): Totals {
  const facts = scores.flatMap((score) => score.facts)
  const sum = (figure: (score: RoundScore) => number) => scores.reduce((total, score) => total + figure(score), 0)
  return {
    facts: facts.length,
    inView: facts.filter(({ isInView }) => isInView).length,
    stale: facts.filter(({ stale }) => stale.length > 0).length,
    changed: facts.filter(({ hasEarlier, stale }) => hasEarlier || stale.length > 0).length,
    inventions: sum(({ inventions }) => inventions.length),
    over: scores.filter(({ tokens, budget }) => tokens > budget).length,
    views: scores.length,
    left: sum(({ tokens, whole }) => tokens / whole) / scores.length,
    cpuMs: sum(({ cpuMs }) => cpuMs) / scores.length,
  }
}

/** Rows of equal width, so that a terminal shows columns. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}

const groupBy = <T>(list: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, readonly T[]> =>
  Map.groupBy(list, keyOf) as ReadonlyMap<string, readonly T[]>

/** For each corpus and contestant: survival after the last round at each budget, and what else went wrong in any round. */
export function corpusTables(scores: readonly RoundScore[]): string {
  return [...groupBy(scores, ({ corpus }) => corpus)]
    .map(([corpus, own]) => {
      const { sessions, facts, whole } = sizesOf(own)
      const shares = [...new Set(own.map(({ share }) => share))].toSorted()
      const rows = [...groupBy(own, ({ contestant }) => contestant)].map(([name, mine]) => row(name, mine, shares))
      const titles = [
        ...["", ...shares.map((share) => `at ${percent(share)}`)],
        ...["stale", "invented", "over budget", ...shares.map((share) => `left of ${percent(share)}`), "cpu ms"],
      ]
      return `${corpus}: ${sessions} sessions, ${facts} facts, ${whole.toLocaleString("en")} tokens\n${table([titles, ...rows])}`
    })
    .join("\n\n")
}

function row(name: string, scores: readonly RoundScore[], shares: readonly number[]): readonly string[] {
  const all = totalsOf(scores)
  const last = Math.max(...scores.map(({ round }) => round))
  const at = (share: number) => scores.filter((score) => score.share === share)
  return [
    name,
    ...shares.map((share) => {
      const { inView, facts } = totalsOf(at(share).filter(({ round }) => round === last))
      return percent(inView / facts)
    }),
    `${all.stale}`,
    `${all.inventions}`,
    `${all.over} of ${all.views}`,
    ...shares.map((share) => percent(totalsOf(at(share)).left)),
    all.cpuMs.toFixed(0),
  ]
}

function sizesOf(scores: readonly RoundScore[]) {
  const sessions = new Map(scores.map((score) => [score.session, score]))
  const sum = (figure: (score: RoundScore) => number) =>
    [...sessions.values()].reduce((total, one) => total + figure(one), 0)
  return { sessions: sessions.size, facts: sum(({ facts }) => facts.length), whole: sum(({ whole }) => whole) }
}

/** Survival of each kind after the last round, for one contestant. */
export function kindsTable(scores: readonly RoundScore[], contestant: string): string {
  const own = scores.filter((score) => score.contestant === contestant)
  const last = Math.max(...own.map(({ round }) => round))
  const shares = [...new Set(own.map(({ share }) => share))].toSorted()
  const ends = own
    .filter(({ round }) => round === last)
    .flatMap((score) => score.facts.map((fact) => ({ ...fact, share: score.share, corpus: score.corpus })))
  const rows = [...groupBy(ends, ({ corpus, kind }) => `${corpus} ${kind}`)].map(([kind, facts]) => [
    kind,
    ...shares.map((share) => {
      const these = facts.filter((fact) => fact.share === share)
      return `${these.filter(({ isInView }) => isInView).length} of ${these.length}`
    }),
  ])
  return `${contestant}, by kind, after round ${last}\n${table([["", ...shares.map((share) => `at ${percent(share)}`)], ...rows])}`
}
