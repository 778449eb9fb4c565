/** Limits on starting and naming agents. Each violation is described in one sentence for the model. */
import type { Flags } from "../settings/flags.ts"
import { LEAD } from "./message-transport.ts"

/** Maximum number of messages that wait for one agent, so that it can still read them all. */
export const MAX_WAITING_MESSAGES = 50
/** Maximum length of a chain of messages that answer each other: six exchanges between two agents. */
export const MAX_HOPS = 12
const MAX_AGENTS = 200 // sub-agents that a conversation may start in total, in case a model keeps starting them

export interface StartState {
  readonly running: number
  /** Agents started since the conversation began. */
  readonly started: number
  readonly figures: Flags["figures"]
}

/** The reason why no agent can be started now, or `undefined`. */
export function startProblem({ running, started, figures }: StartState): string | undefined {
  const { "max-agents": atOnce } = figures
  if (started >= MAX_AGENTS)
    return `This conversation has started ${started} agents, and its limit is ${MAX_AGENTS}. Nothing was started: do the work yourself.`
  if (running >= atOnce)
    return `${running} agents work at the moment, and the limit is ${atOnce} (max-agents). Nothing was started: wait for a report, or do the work yourself.`
  return undefined
}

/** The reason why no agent can be started: agents of any process have taken the project's permits. */
export const projectLimitProblem = (taken: number, { "max-agents-project": max }: Flags["figures"]): string =>
  `${taken} agents of this project work at the moment, those of other conversations and machines included, and the limit is ${max} (max-agents-project). Nothing was started: try again later, or do the work yourself.`

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/
/** Agent ids, the lead, and names that could be mistaken for the user or the program. */
const RESERVED = /^(?:agent-\d+|lead|user|human|person|system|assistant|strata)$/i

/** Whether a name could be mistaken for an agent id, the lead, the user or the program. */
export const isReserved = (name: string): boolean => RESERVED.test(name)

export function nameProblem(name: string, taken: readonly string[]): string | undefined {
  if (!NAME.test(name) || isReserved(name))
    return `${JSON.stringify(name)} cannot be a teammate's name. Use up to 40 letters, digits, "-" and "_"; names such as "${LEAD}", "user" and "agent-1" are reserved.`
  const same = taken.find((other) => other.toLowerCase() === name.toLowerCase())
  if (same !== undefined) return `There is a teammate named ${same} already. Send it a message, or choose another name.`
  return undefined
}
