/** A session whose agent asks the person at the terminal and remembers the rules they added. */
import { openSession, type Session, type SessionInput } from "../session.ts"
import { type Ask, personAt } from "./person.ts"

export interface PersonSession extends Session {
  /** Rules from "don't ask again". They outlive a change of model. */
  readonly allowed: readonly string[]
}

export interface PersonSessionInput extends Omit<SessionInput, "person"> {
  readonly ask: Ask
  /** Rules that apply from the start. */
  readonly allowed?: readonly string[]
}

export async function openPersonSession({
  ask,
  allowed: before = [],
  ...input
}: PersonSessionInput): Promise<PersonSession> {
  const allowed = [...before]
  let session: Session | undefined
  const allow = (rule: string) => {
    allowed.push(rule)
    session?.agent.allow(rule)
  }
  session = await openSession({ ...input, person: personAt({ ask, project: input.workspace.cwd, allow }) })
  for (const rule of before) session.agent.allow(rule)
  return { ...session, allowed }
}
