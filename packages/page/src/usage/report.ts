/** Creates the report over all conversations: reads the index once, row by row, and adds up. Transcripts are not read here. */

import type { TokenCounts } from "@strata/core"
import { inputTokens, NO_TOKENS } from "@strata/core/base"
import { type BreakCause, PURPOSE_LABELS, type RequestPurpose } from "@strata/core/views"
import { CAUSE_LABELS } from "../labels/cache-breaks.ts"
import { type AgentTotal, type CompactionTotal, type CostLine, type Digest, NO_DAY } from "./digest.ts"
import { rowFrom, rowQuery } from "./list.ts"
import { EMPTY, NO_TRANSCRIPT } from "./read-files.ts"
import type {
  AgentUsage,
  CacheMisses,
  ContextClass,
  DayCost,
  NamedCost,
  UnreadFiles,
  UsageCost,
  UsageFilter,
  UsageReport,
  UsageRow,
} from "./report-data.ts"
import { computeSavings } from "./savings.ts"
import { firstSentence, twoSentences } from "./sentences.ts"
import { type IndexScope, type ScopedIndex, scopeCondition, type UsageIndex } from "./usage-index.ts"

// Sums of costs and cache misses.

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** A mutable sum, because a report adds tens of thousands of lines to several of them. */
export type RunningCost = Mutable<Omit<UsageCost, "tokens">> & { readonly tokens: Mutable<TokenCounts> }

export const zeroCost = (): RunningCost => ({
  requests: 0,
  tokens: { ...NO_TOKENS },
  dollars: 0,
  unpriced: 0,
  estimated: 0,
})

export function addCost(sum: RunningCost, { requests, counts, dollars, unpriced, estimated }: CostLine): void {
  sum.requests += requests
  sum.tokens.input += counts.input
  sum.tokens.output += counts.output
  sum.tokens.cacheWrite5m += counts.cacheWrite5m
  sum.tokens.cacheWrite1h += counts.cacheWrite1h
  sum.tokens.cacheRead += counts.cacheRead
  sum.dollars += dollars
  sum.unpriced += unpriced
  sum.estimated += estimated
}

/** Costs by name. */
export class CostsByName {
  readonly #all = new Map<string, { readonly spent: RunningCost; conversations: number }>()

  add(name: string, line: CostLine): void {
    addCost(this.#of(name).spent, line)
  }

  countConversation(name: string): void {
    this.#of(name).conversations++
  }

  rows(total: UsageCost): readonly NamedCost[] {
    return [...this.#all]
      .map(([name, { spent, conversations }]) => ({
        ...{ name, ...spent, conversations },
        share: total.dollars === 0 ? 0 : spent.dollars / total.dollars,
      }))
      .sort((a, b) => b.dollars - a.dollars || b.conversations - a.conversations || (a.name < b.name ? -1 : 1))
  }

  #of(name: string) {
    const known = this.#all.get(name)
    if (known) return known
    const one = { spent: zeroCost(), conversations: 0 }
    this.#all.set(name, one)
    return one
  }
}

export const NO_MISSES: CacheMisses = { count: 0, tokens: 0, dollars: 0, unpriced: 0, share: 0 }

export const addMisses = (a: CacheMisses = NO_MISSES, b: Omit<CacheMisses, "share">): CacheMisses => ({
  count: a.count + b.count,
  tokens: a.tokens + b.tokens,
  dollars: a.dollars + b.dollars,
  unpriced: a.unpriced + b.unpriced,
  share: 0,
})

const MAX_WORST = 10
const MAX_CLASSES = 14
const MAX_AGENT_KINDS = 12
const MAX_NAMED = 5 // files
const NO_PROJECT = "(no directory recorded)"

export function createUsageReport({ index, scope }: ScopedIndex, filter: UsageFilter = {}): UsageReport {
  const sums = new ReportSums(filter)
  const { where, values } = rowQuery({ scope, filter })
  const rows = index.db
    .statement(
      `SELECT c.id, c.program, c.project, c.first, c.last, c.digest FROM conversation c JOIN file ON file.id = c.file WHERE ${where}`,
    )
    .iterate(...values)
  for (const row of rows) sums.add(row as unknown as ReportRow)
  const saved = computeSavings({ index, scope }, filter)
  const figures = sums.report()
  const worst = sums.worst().flatMap(({ key, examples }) => {
    const row = readRow(index, key)
    return row ? [{ ...row, examples }] : []
  })
  const report = {
    filter,
    ...figures,
    files: summarizeFiles(index, scope),
    compactions: { ...figures.compactions, worst },
    saved,
  }
  return { ...report, sentence: firstSentence(report), sentences: twoSentences(report) }
}

interface ReportRow {
  readonly id: number
  readonly program: string
  readonly project: string | null
  readonly first: string | null
  readonly last: string | null
  readonly digest: string
}

class ReportSums {
  readonly #filter: UsageFilter
  #conversations = 0
  #from: string | undefined
  #to: string | undefined
  readonly #total = zeroCost()
  #isLowerBound = false
  readonly #unpricedModels = new Set<string>()
  #repeated = { responses: 0, dollars: 0 }
  readonly #days = new Map<string, { readonly spent: RunningCost; readonly byModel: Record<string, number> }>()
  readonly #models = new CostsByName()
  readonly #purposes = new CostsByName()
  readonly #programs = new CostsByName()
  readonly #projects = new CostsByName()
  readonly #context = new Map<string, number>()
  readonly #causes = new Map<BreakCause, CacheMisses>()
  readonly #reasons = new Map<string, CacheMisses>()
  readonly #agents = new Map<string, AgentTotal>()
  #simulated = 0
  #compactions = {
    count: 0,
    unrecorded: 0,
    requests: 0,
    unpriced: 0,
    dollars: 0,
    estimated: 0,
    names: { needed: 0, inView: 0, lost: 0 },
  }
  readonly #lossesOfNames: { readonly key: number; readonly lost: number; readonly examples: readonly string[] }[] = []

  constructor(filter: UsageFilter) {
    this.#filter = filter
  }

  add(row: ReportRow): void {
    const digest = JSON.parse(row.digest) as Digest
    const spent = digest.spent.filter(({ day }) => this.#isIn(day))
    const isDated = this.#filter.from !== undefined || this.#filter.to !== undefined
    if (isDated && spent.length === 0 && !this.#isIn((row.last ?? "").slice(0, 10))) return
    this.#conversations++
    if (digest.isSimulated) {
      this.#simulated++
      this.#programs.countConversation(row.program)
      this.#projects.countConversation(row.project ?? NO_PROJECT)
      return
    }
    this.#note(row)
    for (const line of spent) this.#spend(line, row)
    for (const name of new Set(spent.map(({ model }) => model))) this.#models.countConversation(name)
    for (const name of new Set(spent.map(({ purpose }) => purpose))) this.#purposes.countConversation(name)
    this.#programs.countConversation(row.program)
    this.#projects.countConversation(row.project ?? NO_PROJECT)
    for (const [name, tokens] of Object.entries(digest.context))
      this.#context.set(name, (this.#context.get(name) ?? 0) + tokens)
    for (const { day, cause, reason, ...lost } of digest.lost) {
      if (!this.#isIn(day)) continue
      this.#causes.set(cause, addMisses(this.#causes.get(cause), lost))
      if (reason !== undefined) this.#reasons.set(reason, addMisses(this.#reasons.get(reason), lost))
    }
    for (const { name, count, dollars, unknown } of digest.agents) {
      const one = this.#agents.get(name) ?? { name, count: 0, dollars: 0, unknown: 0 }
      this.#agents.set(name, one)
      one.count += count
      one.dollars += dollars
      one.unknown += unknown
    }
    this.#compacted(
      row,
      digest.compactions.filter(({ day }) => this.#isIn(day)),
    )
    this.#isLowerBound ||= digest.isLowerBound
    this.#repeated = {
      responses: this.#repeated.responses + digest.repeated.responses,
      dollars: this.#repeated.dollars + digest.repeated.dollars,
    }
  }

  worst() {
    return this.#lossesOfNames.sort((a, b) => b.lost - a.lost).slice(0, MAX_WORST)
  }

  report() {
    const total = this.#total
    const share = (dollars: number) => (total.dollars === 0 ? 0 : dollars / total.dollars)
    const lost = [...this.#causes.values()].reduce(addMisses, NO_MISSES)
    const agents = [...this.#agents.values()]
    const spentOnAgents = sum(agents.map(({ dollars }) => dollars))
    const withShare = (one: CacheMisses): CacheMisses => ({ ...one, share: share(one.dollars) })
    const costly = <T extends CacheMisses>(all: readonly T[]) =>
      all.toSorted((a, b) => b.dollars - a.dollars || b.count - a.count)
    return {
      conversations: this.#conversations,
      simulated: this.#simulated,
      ...(this.#from === undefined || this.#to === undefined ? {} : { time: { from: this.#from, to: this.#to } }),
      total: {
        ...total,
        isLowerBound: this.#isLowerBound,
        unpricedModels: [...this.#unpricedModels].sort(),
        repeated: this.#repeated,
      },
      byDay: this.#byDay(),
      byModel: this.#models.rows(total),
      byPurpose: this.#purposes.rows(total).map((row) => ({
        ...row,
        purpose: row.name as RequestPurpose,
        name: PURPOSE_LABELS[row.name as RequestPurpose],
      })),
      byProgram: this.#programs.rows(total),
      byProject: this.#projects.rows(total),
      context: this.#contextClasses(),
      cache: {
        hitRatio: inputTokens(total.tokens) === 0 ? 0 : total.tokens.cacheRead / inputTokens(total.tokens),
        lost: withShare(lost),
        byCause: costly(
          [...this.#causes].map(([cause, one]) => ({ cause, words: CAUSE_LABELS[cause], ...withShare(one) })),
        ),
        byReason: costly([...this.#reasons].map(([reason, one]) => ({ reason, ...withShare(one) }))),
      },
      compactions: this.#compactions,
      agents: {
        count: sum(agents.map(({ count }) => count)),
        dollars: spentOnAgents,
        unknown: sum(agents.map(({ unknown }) => unknown)),
        share: share(spentOnAgents),
        byName: agents.sort((a, b) => b.dollars - a.dollars || b.count - a.count).slice(0, MAX_AGENT_KINDS),
      } satisfies AgentUsage,
    }
  }

  #isIn(day: string): boolean {
    const { from, to } = this.#filter
    if (from === undefined && to === undefined) return true
    return day !== NO_DAY && (from === undefined || day >= from) && (to === undefined || day <= to)
  }

  #note({ first, last }: ReportRow): void {
    if (first !== null && (this.#from === undefined || first < this.#from)) this.#from = first
    if (last !== null && (this.#to === undefined || last > this.#to)) this.#to = last
  }

  #spend(line: CostLine, { program, project }: ReportRow): void {
    const { day, model, purpose } = line
    addCost(this.#total, line)
    if (line.unpriced > 0) this.#unpricedModels.add(model)
    const onDay = this.#days.get(day) ?? { spent: zeroCost(), byModel: {} }
    this.#days.set(day, onDay)
    addCost(onDay.spent, line)
    onDay.byModel[model] = (onDay.byModel[model] ?? 0) + line.dollars
    this.#models.add(model, line)
    this.#purposes.add(purpose, line)
    this.#programs.add(program, line)
    this.#projects.add(project ?? NO_PROJECT, line)
    if (purpose === "compaction" || purpose === "by-hand") {
      this.#compactions.requests += line.requests
      this.#compactions.unpriced += line.unpriced
      this.#compactions.dollars += line.dollars
      this.#compactions.estimated += line.estimated
    }
  }

  #compacted({ id }: ReportRow, all: readonly CompactionTotal[]): void {
    const needed = sum(all.map((one) => one.needed))
    const inView = sum(all.map((one) => one.inView))
    const { names } = this.#compactions
    this.#compactions.count += all.length
    this.#compactions.unrecorded += all.filter(({ isUnrecorded }) => isUnrecorded).length
    this.#compactions.names = {
      needed: names.needed + needed,
      inView: names.inView + inView,
      lost: names.lost + needed - inView,
    }
    if (needed > inView)
      this.#lossesOfNames.push({
        key: id,
        lost: needed - inView,
        examples: all.flatMap(({ lost }) => lost).slice(0, 6),
      })
  }

  #byDay(): readonly DayCost[] {
    return [...this.#days]
      .map(([day, { spent, byModel }]) => ({ day, ...spent, byModel }))
      .sort((a, b) => (a.day < b.day ? -1 : 1))
  }

  #contextClasses(): readonly ContextClass[] {
    const all = [...this.#context].sort(([, a], [, b]) => b - a)
    const whole = sum(all.map(([, tokens]) => tokens))
    const rest = sum(all.slice(MAX_CLASSES).map(([, tokens]) => tokens))
    const shown = [...all.slice(0, MAX_CLASSES), ...(rest > 0 ? [["everything else", rest] as const] : [])]
    return shown.map(([name, tokens]) => ({ name, tokens, share: tokens / whole }))
  }
}

/**
 * Summarizes read and unreadable files. In a program's own directory, a file that is not a transcript counts as damaged; a directory that
 * the user named may contain other files.
 */
function summarizeFiles(index: UsageIndex, scope: IndexScope): UsageReport["files"] {
  const { where, values } = scopeCondition(scope)
  const rows = index.db
    .statement(`SELECT path, place, problem, damaged FROM file WHERE ${where} ORDER BY path`)
    .all(...values)
    .map(({ path, place, problem, damaged }) => ({
      path: String(path),
      isHome: place === "home",
      reason: problem === null ? undefined : String(problem),
      lines: Number(damaged),
    }))
  const unread = rows.filter(
    ({ reason, isHome }) => reason !== undefined && reason !== EMPTY && (isHome || reason !== NO_TRANSCRIPT),
  )
  const damaged = rows.filter(({ lines }) => lines > 0)
  const examplesOf = (files: readonly { readonly path: string }[]) => files.slice(0, MAX_NAMED).map(({ path }) => path)
  return {
    read: rows.filter(({ reason }) => reason === undefined).length,
    empty: rows.filter(({ reason }) => reason === EMPTY).length,
    unread: [...Map.groupBy(unread, ({ reason }) => reason!)].map(
      ([reason, files]): UnreadFiles => ({ reason, files: files.length, examples: examplesOf(files) }),
    ),
    damaged: { files: damaged.length, lines: sum(damaged.map(({ lines }) => lines)), examples: examplesOf(damaged) },
  }
}

function readRow(index: UsageIndex, key: number): UsageRow | undefined {
  const row = index.db
    .statement("SELECT c.*, file.path FROM conversation c JOIN file ON file.id = c.file WHERE c.id = ?")
    .get(key)
  return row && rowFrom(row)
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
