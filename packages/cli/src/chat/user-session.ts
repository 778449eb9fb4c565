/** A session whose agent asks the user at the terminal and preserves the rules they added. */
import { openSession, type Session, type SessionAgent, type SessionInput } from "../session.ts"
import { type Ask, terminalUser } from "./terminal-user.ts"

export type UserSession = Session

export interface UserSessionInput extends Omit<SessionInput, "user"> {
  readonly ask: Ask
  /** Rules from before a change of model, which apply from the start. */
  readonly rules?: SessionAgent["shared"]["state"]["addedRules"]
}

export async function openUserSession({ ask, rules = [], ...input }: UserSessionInput): Promise<UserSession> {
  const early: string[] = []
  let session: Session | undefined
  const allow = (rule: string) => (session ? session.agent.allow(rule) : void early.push(rule))
  session = await openSession({ ...input, user: terminalUser({ ask, project: input.workspace.cwd, allow }) })
  for (const rule of early) session.agent.allow(rule)
  for (const { list, rule } of rules) session.agent.shared.state.addRule(list, rule)
  return session
}
