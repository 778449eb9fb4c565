/** Renders the scores as tables. */
import type { RoundScore } from "./run.ts"

export const percent = (share: number): string => `${Number((share * 100).toFixed(1))}%`

export interface Totals {
  readonly facts: number
  readonly inView: number
  /** Number of facts whose earlier value is in view without a word that shows it is earlier. */
  readonly stale: number
  readonly inventions: number
  /** Number of views that are larger than the budget. */
  readonly over: number
  readonly views: number
  /** Mean share of the text that is in the view. */
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
    inventions: sum(({ inventions }) => inventions.length),
    over: scores.filter(({ tokens, budget }) => tokens > budget).length,
    views: scores.length,
    left: sum(({ tokens, whole }) => tokens / whole) / scores.length,
    cpuMs: sum(({ cpuMs }) => cpuMs) / scores.length,
  }
}

const distinct = <T>(list: readonly T[]): readonly T[] => [...new Set(list)]
export const sharesOf = (scores: readonly RoundScore[]) => distinct(scores.map(({ share }) => share)).toSorted()
export const contestantsOf = (scores: readonly RoundScore[]) => distinct(scores.map(({ contestant }) => contestant))
export const lastOf = (scores: readonly RoundScore[]) => {
  const last = Math.max(...scores.map(({ round }) => round))
  return scores.filter(({ round }) => round === last)
}

/** Pads cells to equal width, so that a terminal shows columns. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const cells = (row: readonly string[]) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
  return rows.map((row) => cells(row).join("  ").trimEnd()).join("\n")
}

/** For each corpus and contestant: survival after the last round at each budget, and the defects of any round. */
export const corpusTables = (scores: readonly RoundScore[]): string =>
  [...Map.groupBy(scores, ({ corpus }) => corpus)]
    .map(([corpus, own]) => `${corpus}: ${sizes(own)}\n${contestantTable(own)}`)
    .join("\n\n")

/** A star means that a view was over the budget in a round, so that its score means less. */
export function contestantTable(scores: readonly RoundScore[]): string {
  const shares = sharesOf(scores)
  const titles = [
    ...["", ...shares.map((share) => `at ${percent(share)}`), "stale", "invented", "over budget"],
    ...[...shares.map((share) => `left of ${percent(share)}`), "cpu ms"],
  ]
  return table([titles, ...contestantsOf(scores).map((name) => contestantRow(scores, name))])
}

export function contestantRow(all: readonly RoundScore[], name: string): readonly string[] {
  const scores = all.filter(({ contestant }) => contestant === name)
  const { stale, inventions, over, views, cpuMs } = totalsOf(scores)
  const at = sharesOf(all).map((share) => scores.filter((score) => score.share === share))
  return [
    name,
    ...at.map((own) => {
      const { inView, facts } = totalsOf(lastOf(own))
      return `${percent(inView / facts)}${totalsOf(own).over > 0 ? "*" : ""}`
    }),
    ...[`${stale}`, `${inventions}`, `${over} of ${views}`],
    ...at.map((own) => percent(totalsOf(own).left)),
    cpuMs.toFixed(0),
  ]
}

export function sizes(scores: readonly RoundScore[]): string {
  const sessions = [...new Map(scores.map((score) => [score.session, score])).values()]
  const sum = (figure: (score: RoundScore) => number) => sessions.reduce((total, one) => total + figure(one), 0)
  const facts = sum((score) => score.facts.length)
  return `${sessions.length} sessions, ${facts} facts, ${sum(({ whole }) => whole).toLocaleString("en")} tokens`
}

/** Survival of each kind of fact after the last round, for one contestant. */
export function kindsTable(scores: readonly RoundScore[], contestant: string): string {
  const own = scores.filter((score) => score.contestant === contestant)
  const shares = sharesOf(own)
  const ends = lastOf(own).flatMap(({ share, corpus, facts }) => facts.map((fact) => ({ ...fact, share, corpus })))
  const rows = [...Map.groupBy(ends, ({ corpus, kind }) => `${corpus}: ${kind}`)].map(([kind, facts]) => [
    kind,
    ...shares.map((share) => {
      const these = facts.filter((fact) => fact.share === share)
      return `${these.filter(({ isInView }) => isInView).length} of ${these.length}`
    }),
  ])
  return `${contestant}, by kind, after the last round\n${table([["", ...shares.map((share) => `at ${percent(share)}`)], ...rows])}`
}

/** Survival of facts after each round, over all corpora. */
export function roundsTable(scores: readonly RoundScore[]): string {
  const rounds = distinct(scores.map(({ round }) => round))
  const rows = contestantsOf(scores).flatMap((name) =>
    sharesOf(scores).map((share) => [
      `${name} at ${percent(share)}`,
      ...rounds.map((round) => {
        const own = scores.filter((one) => one.contestant === name && one.share === share && one.round === round)
        const { inView, facts } = totalsOf(own)
        return percent(inView / facts)
      }),
    ]),
  )
  return table([["", ...rounds.map((round) => `round ${round}`)], ...rows])
}

/** Goals: the share of facts that must be in view within the budget. */
const AIMS: readonly (readonly [share: number, inView: number])[] = [
  [0.1, 0.6],
  [0.2, 0.9],
  [0.3, 1],
]

/** Whether a contestant reaches the goals on the corpora for which others publish results. A view over the budget counts as empty. */
export function aimsReport(scores: readonly RoundScore[], name: string, corpora: readonly string[]): string {
  const own = scores.filter(({ contestant, corpus }) => contestant === name && corpora.includes(corpus))
  const lines = AIMS.filter(([share]) => own.some((score) => score.share === share)).map(([share, aim]) => {
    const last = lastOf(own.filter((score) => score.share === share))
    const within = totalsOf(last.filter(({ tokens, budget }) => tokens <= budget)).inView / totalsOf(last).facts
    return `  ${percent(share)}: ${percent(within)} in view within the budget, aim ${percent(aim)}: ${within >= aim ? "met" : "missed"}`
  })
  const { stale, over } = totalsOf(scores.filter(({ contestant }) => contestant === name))
  const all = `  all corpora: ${stale} stale, ${over} over budget, aim 0: ${stale + over === 0 ? "met" : "missed"}`
  return [`${name} on ${corpora.join(" and ")}`, ...lines, all].join("\n")
}

/** Lists the facts that are lost or stale after the last round. */
export const lostList = (scores: readonly RoundScore[]): string =>
  lastOf(scores)
    .flatMap(({ contestant, session, share, facts }) =>
      facts
        .filter(({ isInView, stale }) => !isInView || stale.length > 0)
        .map(({ id, kind, isInView, stale }) => {
          const what = [isInView ? "" : "lost", stale.length > 0 ? `stale ${stale.join(", ")}` : ""].filter(Boolean)
          return `${contestant}, ${session} at ${percent(share)}: ${kind} "${id}" ${what.join(", ")}`
        }),
    )
    .join("\n")

/** The tables of the documents: the chosen corpora at all budgets, and all others at the middle one. */
export function markdownTables(scores: readonly RoundScore[], chosen: readonly string[]): string {
  const main = scores.filter(({ corpus }) => chosen.includes(corpus))
  const shares = sharesOf(main)
  const middle = shares[shares.length >> 1]!
  const titles = [
    "",
    ...shares.map(percent),
    "stale",
    "invented",
    "over budget",
    ...shares.map((share) => `left at ${percent(share)}`),
  ]
  const first = contestantsOf(main).map((name) => contestantRow(main, name).slice(0, -1))
  const others = scores.filter(({ corpus, share }) => !chosen.includes(corpus) && share === middle)
  const corpora = distinct(others.map(({ corpus }) => corpus))
  const second = contestantsOf(others).map((name) => [
    name,
    ...corpora.map((corpus) => {
      const own = others.filter((score) => score.contestant === name && score.corpus === corpus)
      return own.length === 0 ? "" : contestantRow(own, name)[1]!
    }),
  ])
  return `${sizes(main)}\n\n${markdown([titles, ...first])}\n\n${markdown([["", ...corpora], ...second])}`
}

const markdown = ([titles, ...rows]: readonly (readonly string[])[]): string =>
  [titles!, titles!.map(() => "---"), ...rows]
    .map((row) => `|${row.map((cell) => (cell ? ` ${cell} ` : " ")).join("|")}|`)
    .join("\n")
    .replaceAll(" --- ", "---")
