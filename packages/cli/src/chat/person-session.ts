/** A session whose agent asks the person at the terminal and keeps the rules they added. */
import type { AddedRule } from "@strata/core/internal/agent/loop/agent-state"
import { openSession, type Session, type SessionInput } from "../session.ts"
import { type Ask, personAt } from "./person.ts"

export type PersonSession = Session

export interface PersonSessionInput extends Omit<SessionInput, "person"> {
  readonly ask: Ask
  /** Rules that apply from the start: those added before a change of model. */
  readonly rules?: readonly AddedRule[]
}

export async function openPersonSession({ ask, rules = [], ...input }: PersonSessionInput): Promise<PersonSession> {
  const early: string[] = []
  let session: Session | undefined
  const allow = (rule: string) => (session ? session.agent.allow(rule) : void early.push(rule))
  session = await openSession({ ...input, person: personAt({ ask, project: input.workspace.cwd, allow }) })
  for (const rule of early) session.agent.allow(rule)
  for (const { list, rule } of rules) session.agent.shared.state.addRule(list, rule)
  return session
}
