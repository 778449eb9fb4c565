/** Runs a contestant through the rounds of a session at one budget. */
import { type FactScore, scoreView, sizeOf } from "./score.ts"
import { type PlainMessage, type ScoredSession, textOf } from "./session.ts"

export const BUDGETS = [0.1, 0.2, 0.3] as const
export const ROUNDS = 5

/** One conversation managed by a contestant. */
export interface Run {
  /** Adds new messages of the session. */
  add(messages: readonly PlainMessage[]): Promise<void>
  /** Compacts, and returns the messages that a model would read next. */
  compact(): Promise<readonly PlainMessage[]>
  close?(): Promise<void>
}

export interface StartOptions {
  /** The budget as a share of the text. */
  readonly share: number
  /** The text that the share refers to. */
  readonly messages: readonly PlainMessage[]
  /** The budget in tokens, by the measure used for all contestants. */
  readonly budget: number
  /** The budget in tokens of four characters, for contestants that can only count this way. */
  readonly quarters: number
}

export interface Contestant {
  readonly name: string
  /** The contestant's call, as the table shows it. */
  readonly call: string
  /** Version of a peer. */
  readonly version?: string
  /** Whether the contestant has a single option that limits the tokens of its entire view. */
  readonly takesBudget: boolean
  /** Whether the stand-in for a model writes its summaries. */
  readonly hasStandIn: boolean
  /** Restricts a slow contestant to these corpora. */
  readonly corpora?: readonly string[]
  /** Whether the contestant only gets the first session of each corpus. */
  readonly firstSessionOnly?: boolean
  /** Names that the contestant writes itself and that were never in the conversation. Needs the flag g. */
  readonly own?: RegExp
  start(options: StartOptions): Promise<Run>
}

/** Score of one view after one round. */
export interface RoundScore {
  readonly contestant: string
  readonly corpus: string
  readonly session: string
  readonly share: number
  readonly round: number
  readonly facts: readonly FactScore[]
  readonly inventions: readonly string[]
  readonly tokens: number
  readonly budget: number
  /** Tokens of the text that the budget refers to. */
  readonly whole: number
  /** Processor time of this process. */
  readonly cpuMs: number
}

interface RunOptions {
  readonly corpus: string
  readonly session: ScoredSession
  readonly share: number
  readonly rounds?: number
  /** Called with each view, for users who want to see the reason for a score. */
  readonly see?: (round: number, view: readonly PlainMessage[]) => void
}

export async function runSession(contestant: Contestant, options: RunOptions): Promise<readonly RoundScore[]> {
  const { corpus, session, share, rounds = ROUNDS, see } = options
  const { messages, facts } = session
  const { tokens: whole, characters } = sizeOf(messages)
  const budget = Math.floor(whole * share)
  const run = await contestant.start({ share, messages, budget, quarters: Math.floor((characters / 4) * share) })
  const scores: RoundScore[] = []
  let source = textOf(messages)
  try {
    await run.add(messages)
    for (let round = 1; round <= rounds; round++) {
      const start = process.cpuUsage()
      const view = await run.compact()
      const { user: busy, system } = process.cpuUsage(start)
      see?.(round, view)
      const { characters: _, ...score } = scoreView(view, { facts, source, own: contestant.own })
      scores.push({
        ...{ contestant: contestant.name, corpus, session: session.id, share, round, budget, whole },
        ...score,
        cpuMs: (busy + system) / 1_000,
      })
      const more = session.between(round)
      source += `\n${textOf(more)}`
      if (round < rounds && more.length > 0) await run.add(more)
    }
  } finally {
    await run.close?.()
  }
  return scores
}

/** Wraps a contestant that turns a message list into a shorter one. */
export const listRun = (compact: (messages: readonly PlainMessage[]) => Promise<readonly PlainMessage[]>): Run => {
  let messages: readonly PlainMessage[] = []
  return {
    add: async (more) => {
      messages = [...messages, ...more]
    },
    compact: async () => {
      messages = await compact(messages)
      return messages
    },
  }
}
