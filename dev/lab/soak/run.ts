/** Runs one soak: assigns tasks until enough tokens have passed through the window, then collects the metrics. */

import type { Conversation, Entry, Memory } from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import type { BreakCause, CacheBreakTotal as BreakTotal, RequestPurpose as Purpose } from "@strata/core/views"
import { replay } from "@strata/transcripts/replay"
import { type LedgerSummary, summarise } from "../../../packages/core/src/views/ledger/ledger.ts"
import { layered } from "../../../packages/transcripts/src/replay/policies/layered.ts"
import { strata } from "../../../packages/transcripts/src/replay/policies/strata.ts"
import { nightMessages, RULES, taskAt } from "./tasks.ts"
import { endsOf, growthProblems, type TurnTimes } from "./turn-times.ts"
import { type CompactionSeen, SoakWatch } from "./watch.ts"
import { openSoakWorkshop, type SoakWorkshop } from "./workshop.ts"

// Cost and results of memory work in a soak, and whether it broke the cache of the main conversation.

/**
 * Limit in percent of the total cost: the default of `background-share`. Notes serve as summaries of compactions and belong to their price.
 */
const MAX_SHARES = { memory: 5 } as const
const MEMORY_WORK = ["memory"] as const satisfies readonly Purpose[]
/** Causes of cache breaks other than memory: the context was made smaller, or the user was away for longer than the cache's lifetime. */
const OTHER_CAUSES: ReadonlySet<BreakCause> = new Set(["compaction", "clearing", "hour-over", "five-minutes-over"])

export interface MemoryFigures {
  readonly conversations: number
  /** Cost of all conversations. */
  readonly dollars: number
  readonly byPurpose: readonly {
    readonly purpose: (typeof MEMORY_WORK)[number]
    readonly dollars: number
    readonly percent: number
  }[]
  readonly percent: number
  /** Number of memories at the end, without superseded ones. */
  readonly kept: number
  readonly superseded: number
  /** Number of memories and passages that the main conversation was offered. */
  readonly recalled: number
  readonly dreams: number
  /** Number of cache breaks of the main conversation by cause. */
  readonly breaks: Readonly<Partial<Record<BreakCause, number>>>
}

export interface MemorySources {
  readonly watch: Pick<SoakWatch, "recalled" | "dreams">
  readonly memories: readonly Memory[]
  readonly ledgers: readonly LedgerSummary[]
  readonly history: { readonly totals: ReadonlyMap<BreakCause, BreakTotal> }
}

export function memoryFigures({ watch, memories, ledgers, history }: MemorySources): MemoryFigures {
  const superseded = memories.filter(({ supersededBy }) => supersededBy !== undefined).length
  const dollars = ledgers.reduce((sum, ledger) => sum + ledger.dollars, 0)
  const byPurpose = MEMORY_WORK.map((purpose) => {
    const own = ledgers.flatMap((ledger) => ledger.byPurpose.filter((each) => each.purpose === purpose))
    const paid = own.reduce((sum, each) => sum + (each.dollars ?? 0), 0)
    return { purpose, dollars: paid, percent: (100 * paid) / dollars }
  })
  return {
    ...{ conversations: ledgers.length, dollars, byPurpose, superseded, dreams: watch.dreams },
    kept: memories.length - superseded,
    recalled: watch.recalled.size,
    percent: byPurpose.reduce((sum, { percent }) => sum + percent, 0),
    breaks: Object.fromEntries([...history.totals].map(([cause, { breaks }]) => [cause, breaks])),
  }
}

export function memoryProblems({ byPurpose, kept, recalled, breaks }: MemoryFigures) {
  const unexplained = Object.entries(breaks).filter(([cause]) => !OTHER_CAUSES.has(cause as BreakCause))
  return [
    ...byPurpose.flatMap(({ purpose, percent }) => {
      const max = MAX_SHARES[purpose]
      return percent > max ? [`${purpose} took ${percent.toFixed(1)}% of the spend, more than ${max}%`] : []
    }),
    ...unexplained.map(
      ([cause, count]) => `the cache broke ${count} times without a compaction, a clearing or a pause: ${cause}`,
    ),
    ...(kept === 0 || recalled === 0
      ? ["no memory was kept and recalled, so the soak shows nothing about memory"]
      : []),
  ]
}

// Compares the cost of a replay of the soak's journal with the soak's bill. The same planner decides in both.

export interface ReplayedBill {
  /** Cost of the conversation and its summaries. Notes and memories are excluded, because the text that they add is not replayed. */
  readonly billed: BillParts
  readonly replayed: BillParts & {
    /** Cost of recalling content that the replay had lost from the view, because it compacted at other positions. */
    readonly recalls: number
  }
}

interface BillParts {
  readonly dollars: number
  readonly conversation: number
  readonly summaries: number
  readonly compactions: number
}

const CLOSE = 0.03

export async function replayedBill(conversation: Conversation, window: number): Promise<ReplayedBill> {
  const { views } = internalsOf(conversation)
  const model = views.context.lastResponse?.message.model ?? "unknown"
  const entries: Entry[] = []
  for await (const entry of conversation.entries()) entries.push(entry)
  const { switches } = conversation.settings.values
  const asInTheSoak = layered({ ...strata, keepsWarm: false, settings: { switches } }) // the soak does not keep its cache warm
  const { reports } = await replay({ entries, model }, { window, policies: [asInTheSoak] })
  const { byPurpose, compactions } = reports[0]!.totals
  const { conversation: replayed, summary: summaries, recall: recalls } = byPurpose
  const dollars = replayed + summaries + recalls
  return {
    billed: billedFor(conversation),
    replayed: { dollars, conversation: replayed, summaries, recalls, compactions },
  }
}

function billedFor(conversation: Conversation): BillParts {
  const { views } = internalsOf(conversation)
  const { byPurpose } = summarise(views.ledger)
  const spentFor = (wanted: string) => byPurpose.find(({ purpose }) => purpose === wanted)?.dollars ?? 0
  const [main, summaries] = [spentFor("main"), spentFor("compaction")]
  return { dollars: main + summaries, conversation: main, summaries, compactions: views.compactions.count }
}

/** Problems of the replay. Empty if it agrees with the bill. */
export function replayProblems({ billed, replayed }: ReplayedBill): readonly string[] {
  const off = replayed.dollars / billed.dollars - 1
  if (Math.abs(off) <= CLOSE) return []
  return [`the replay costs ${(100 * Math.abs(off)).toFixed(1)}% ${off > 0 ? "more" : "less"} than was billed`]
}

export interface SoakOptions {
  readonly tokens: number
  readonly window: number
  readonly seed: number
  /** Compares the bill with the cost in a replay of the journal. */
  readonly replay?: boolean
  /** Simulated seconds that a summary takes. Default: 30. */
  readonly summarySeconds?: number
  readonly onProgress?: (takenIn: number) => void
}

export interface SoakReport {
  readonly options: Omit<SoakOptions, "onProgress">
  readonly takenIn: number
  readonly tasks: number
  readonly spent: LedgerSummary
  readonly compactions: readonly CompactionSeen[]
  readonly putAside: number
  readonly cleared: number
  readonly clearedByServer: number
  readonly notes: number
  /** Memory work of all conversations together. */
  readonly memoryWork: MemoryFigures
  /** Waiting time in milliseconds. */
  readonly blocked: { readonly real: number; readonly simulated: number; readonly times: number }
  readonly peak: number
  readonly turn: TurnTimes
  /** The library's part of the turn, between the tool results and the request. */
  readonly own: TurnTimes
  readonly seconds: number
  /** Cost of the conversation and its compactions, and the cost in a replay of the journal with the same policy. */
  readonly replayed?: ReplayedBill
  /** Memory of the process at the end, in bytes. */
  readonly memory: { readonly heap: number; readonly resident: number }
  /** Empty if nothing went wrong. */
  readonly problems: readonly string[]
}

export const RESULT_SHARE = 0.3 // characters of a result per token of the window: each result takes about a twelfth of the window
export const MAX_RESULT_CHARACTERS = 60_000 // some results are larger than offloading leaves in the context
const MIN_TASKS = 3 // so that a night is included, because one task in a small window may use all tokens

export async function soak({ onProgress, ...options }: SoakOptions): Promise<SoakReport> {
  const { tokens, window, seed } = options
  const started = performance.now()
  const resultSize = Math.min(MAX_RESULT_CHARACTERS, Math.round(window * RESULT_SHARE))
  const { summarySeconds } = options
  const workshop = await openSoakWorkshop({
    ...{ window, seed, resultSize },
    ...(summarySeconds === undefined ? {} : { summarySeconds }),
  })
  try {
    const watch = new SoakWatch(workshop.agent, workshop.simulator.clock)
    const others: LedgerSummary[] = []
    let tasks = 0
    const isOver = () => watch.problems.length > 0 || (watch.takenIn >= tokens && tasks >= MIN_TASKS)
    for (; !isOver(); tasks++) {
      others.push(...(await work(tasks, workshop, watch)))
      onProgress?.(watch.takenIn)
    }
    await workshop.pause(0)
    return await reportOf({ options, watch, workshop, tasks, others, seconds: (performance.now() - started) / 1_000 })
  } finally {
    await workshop.close()
  }
}

/** Works on a task. Returns the cost of other conversations meanwhile. */
async function work(index: number, workshop: SoakWorkshop, watch: SoakWatch): Promise<readonly LedgerSummary[]> {
  const { text, pauseMinutes, isNextDay } = taskAt(index)
  await workshop.pause(pauseMinutes)
  const others: LedgerSummary[] = []
  if (isNextDay) for (const message of nightMessages(index)) others.push(await workshop.converse(message))
  for await (const event of workshop.agent.query(text)) watch.event(event)
  return others
}

interface Ended {
  readonly options: SoakReport["options"]
  readonly watch: SoakWatch
  readonly workshop: SoakWorkshop
  readonly tasks: number
  /** Costs of the other conversations. */
  readonly others: readonly LedgerSummary[]
  readonly seconds: number
}

async function reportOf({ options, watch, workshop, tasks, others, seconds }: Ended): Promise<SoakReport> {
  const { compactions, putAside, cleared, clearedByServer, notes, blocked, peak, takenIn } = watch
  const turn = endsOf(watch.turns.map(({ whole }) => whole))
  const { heapUsed, rss } = process.memoryUsage()
  const { views } = internalsOf(workshop.agent.conversation)
  const spent = summarise(views.ledger)
  const memoryWork = memoryFigures({
    ...{ watch, ledgers: [spent, ...others], history: views.cacheHistory },
    memories: await workshop.bank.all(),
  })
  const replayed = options.replay ? await replayedBill(workshop.agent.conversation, options.window) : undefined
  return {
    options,
    takenIn: Math.round(takenIn),
    tasks,
    spent,
    compactions,
    ...{ putAside, cleared, clearedByServer, notes, memoryWork, blocked, peak, turn },
    own: endsOf(watch.turns.map(({ own }) => own)),
    seconds,
    ...(replayed ? { replayed } : {}),
    memory: { heap: heapUsed, resident: rss },
    problems: [
      ...watch.problems,
      ...(await problemsOf({ watch, workshop, tasks, window: options.window, turn })),
      ...memoryProblems(memoryWork),
      ...(replayed ? replayProblems(replayed) : []),
    ],
  }
}

interface ToJudge extends Pick<Ended, "watch" | "workshop" | "tasks"> {
  readonly window: number
  readonly turn: TurnTimes
}

async function problemsOf({ watch, workshop, tasks, window, turn }: ToJudge): Promise<readonly string[]> {
  const { errors } = workshop.simulator.stats()
  const sent = JSON.stringify(await workshop.agent.conversation.prepare())
  const tasksText = Array.from({ length: tasks }, (_, index) => taskAt(index).text).join("\n")
  const lost = RULES.filter((rule) => tasksText.includes(rule) && !sent.includes(rule))
  return [
    ...Object.entries(errors).map(([type, count]) => `the server rejected ${count} requests: ${type}`),
    ...workshop.simulator.log.flatMap(({ error }) => (error === undefined ? [] : [`the server said: ${error}`])),
    ...lost.map((rule) => `the request no longer contains a rule of the user: ${rule}`),
    ...(watch.peak > window ? [`a request had ${watch.peak} tokens, which is more than the window`] : []),
    ...(watch.compactions.length === 0 ? ["nothing was compacted, so the soak shows nothing"] : []),
    ...growthProblems(watch.turns.length, turn),
  ]
}
