/** What a model may not do with agents, as one sentence each. */
import type { Flags } from "../settings/flags.ts"
import { LEAD } from "./carrier.ts"

/** Messages that may wait for one agent: a flood ends while its reader can still read it. */
export const MAX_WAITING_MESSAGES = 50
/** Agents that may answer one another because of one message: six exchanges of two. */
export const MAX_HOPS = 12
const MAX_AGENTS = 200 // sub-agents that a conversation may start: the end of a model that starts agents for ever

export interface StartState {
  readonly running: number
  /** Since the conversation began. */
  readonly started: number
  readonly figures: Flags["figures"]
}

/** Why no agent can be started now. */
export function startProblem({ running, started, figures }: StartState): string | undefined {
  const { "max-agents": atOnce } = figures
  if (started >= MAX_AGENTS)
    return `This conversation has started ${started} agents, and its limit is ${MAX_AGENTS}. Nothing was started: do the work yourself.`
  if (running >= atOnce)
    return `${running} agents work at the moment, and the limit is ${atOnce} (max-agents). Nothing was started: wait for a report, or do the work yourself.`
  return undefined
}

/** Why no agent can be started: others work for the project, in this process or in another one. */
export const projectProblem = (taken: number, { "max-agents-project": max }: Flags["figures"]): string =>
  `${taken} agents of this project work at the moment, those of other conversations and machines included, and the limit is ${max} (max-agents-project). Nothing was started: try again later, or do the work yourself.`

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/
/** Ids, the lead, and names that a reader could take for the person or the program. */
const RESERVED = /^(?:agent-\d+|lead|user|human|person|system|assistant|strata)$/i

/** Whether agents of this process, or readers, could take a name for another one's. */
export const isReserved = (name: string): boolean => RESERVED.test(name)

export function nameProblem(name: string, taken: readonly string[]): string | undefined {
  if (!NAME.test(name) || isReserved(name))
    return `${JSON.stringify(name)} cannot be a teammate's name. Use up to 40 letters, digits, "-" and "_"; names such as "${LEAD}", "user" and "agent-1" are reserved.`
  const same = taken.find((other) => other.toLowerCase() === name.toLowerCase())
  if (same !== undefined) return `There is a teammate named ${same} already. Send it a message, or choose another name.`
  return undefined
}
