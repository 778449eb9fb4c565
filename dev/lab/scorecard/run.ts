/** Takes a contestant through the rounds of a session at one budget. */
import { type FactScore, scoreView, sizeOf } from "./score.ts"
import { type PlainMessage, type ScoredSession, textOf } from "./session.ts"

export const BUDGETS = [0.1, 0.2, 0.3] as const
export const ROUNDS = 5

/** One conversation of a contestant. */
export interface Run {
  /** More was said. */
  add(messages: readonly PlainMessage[]): Promise<void>
  /** Compacts, and returns what a model would read next. */
  compact(): Promise<readonly PlainMessage[]>
  close?(): Promise<void>
}

export interface StartOptions {
  /** The share of the text that may stay. */
  readonly share: number
  /** The text that the share is of. */
  readonly messages: readonly PlainMessage[]
  /** The same share in tokens, as everyone is measured. */
  readonly budget: number
  /** The same share in tokens of four characters, for those who count so and cannot count otherwise. */
  readonly quarters: number
}

export interface Contestant {
  readonly name: string
  /** How it is called, for the table. */
  readonly call: string
  /** Of a peer. */
  readonly version?: string
  /** Whether there is one option for the tokens of everything it leaves. */
  readonly takesBudget: boolean
  /** Whether a stand-in for a model writes its summary. */
  readonly hasStandIn: boolean
  /** The only corpora that it gets, if it is slow. */
  readonly corpora?: readonly string[]
  /** It gets the first session of a corpus. */
  readonly firstSessionOnly?: boolean
  /** Names that it writes itself and that were never said. With the flag g. */
  readonly own?: RegExp
  start(options: StartOptions): Promise<Run>
}

/** One view, after one round. */
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
  /** Tokens of the text that the budget is a share of. */
  readonly whole: number
  /** Processor time of this process. */
  readonly cpuMs: number
}

interface RunOptions {
  readonly corpus: string
  readonly session: ScoredSession
  readonly share: number
  readonly rounds?: number
  /** What a view looks like, for a person who wants to know why. */
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

/** A contestant that makes a shorter list of messages from a list. */
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
