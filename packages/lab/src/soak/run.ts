/** Runs one soak: gives tasks until enough tokens have passed through the window, then collects the figures. */

import { type LedgerSummary, summarise } from "../../../core/src/views/ledger/ledger.ts"
import { type Ends, endsOf, growthProblems } from "./ends.ts"
import { type MemoryFigures, memoryFigures, memoryProblems } from "./memory-figures.ts"
import { type ReplayedBill, replayedBill, replayProblems } from "./replayed-bill.ts"
import { nightMessages, RULES, taskAt } from "./tasks.ts"
import { type CompactionSeen, SoakWatch } from "./watch.ts"
import { openSoakWorkshop, type SoakWorkshop } from "./workshop.ts"

export interface SoakOptions {
  readonly tokens: number
  readonly window: number
  readonly seed: number
  /** Compares the bill with what a replay of the journal says. */
  readonly replay?: boolean
  /** Simulated time that a summary takes. Default 30. */
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
  /** Of all conversations together. */
  readonly memoryWork: MemoryFigures
  /** In milliseconds. */
  readonly blocked: { readonly real: number; readonly simulated: number; readonly times: number }
  readonly peak: number
  readonly turn: Ends
  /** The part of it that the library takes between the tool results and the request. */
  readonly own: Ends
  readonly seconds: number
  /** What the conversation and its compactions cost, and what a replay of the journal with the same policy says. */
  readonly replayed?: ReplayedBill
  /** Bytes at the end. */
  readonly memory: { readonly heap: number; readonly resident: number }
  /** Empty if nothing went wrong. */
  readonly problems: readonly string[]
}

export const RESULT_SHARE = 0.3 // of the window in characters: about a twelfth of it in tokens for each result
export const MOST_RESULT_CHARACTERS = 60_000 // some are larger than layer 1 leaves in the context
const LEAST_TASKS = 3 // a night is among them, and a task in a small window may take all tokens

export async function soak({ onProgress, ...options }: SoakOptions): Promise<SoakReport> {
  const { tokens, window, seed } = options
  const started = performance.now()
  const resultSize = Math.min(MOST_RESULT_CHARACTERS, Math.round(window * RESULT_SHARE))
  const { summarySeconds } = options
  const workshop = await openSoakWorkshop({
    ...{ window, seed, resultSize },
    ...(summarySeconds === undefined ? {} : { summarySeconds }),
  })
  try {
    const watch = new SoakWatch(workshop.agent, workshop.simulator.clock)
    const others: LedgerSummary[] = []
    let tasks = 0
    const isOver = () => watch.problems.length > 0 || (watch.takenIn >= tokens && tasks >= LEAST_TASKS)
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

/** Returns what other conversations cost meanwhile. */
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
  /** What the other conversations cost. */
  readonly others: readonly LedgerSummary[]
  readonly seconds: number
}

async function reportOf({ options, watch, workshop, tasks, others, seconds }: Ended): Promise<SoakReport> {
  const { compactions, putAside, cleared, clearedByServer, notes, blocked, peak, takenIn } = watch
  const turn = endsOf(watch.turns.map(({ whole }) => whole))
  const { heapUsed, rss } = process.memoryUsage()
  const { views } = workshop.agent.conversation
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
  readonly turn: Ends
}

async function problemsOf({ watch, workshop, tasks, window, turn }: ToJudge): Promise<readonly string[]> {
  const { errors } = workshop.simulator.stats()
  const sent = JSON.stringify(await workshop.agent.conversation.prepare())
  const said = Array.from({ length: tasks }, (_, index) => taskAt(index).text).join("\n")
  const lost = RULES.filter((rule) => said.includes(rule) && !sent.includes(rule))
  return [
    ...Object.entries(errors).map(([type, count]) => `the server rejected ${count} requests: ${type}`),
    ...workshop.simulator.log.flatMap(({ error }) => (error === undefined ? [] : [`the server said: ${error}`])),
    ...lost.map((rule) => `the request no longer contains a rule of the user: ${rule}`),
    ...(watch.peak > window ? [`a request had ${watch.peak} tokens, which is more than the window`] : []),
    ...(watch.compactions.length === 0 ? ["nothing was compacted, so the soak shows nothing"] : []),
    ...growthProblems(watch.turns.length, turn),
  ]
}
