/** A session whose agent asks the person in front of the screen, and that knows which rules the person has added. */
import { openSession, type Session, type SessionQuestion } from "../session.ts"
import { type Ask, personAt } from "./person.ts"

export interface PersonSession extends Session {
  /** "Don't ask again": for the rest of the conversation, whichever model it goes on with. */
  readonly allowed: readonly string[]
}

export interface PersonSessionQuestion extends Omit<SessionQuestion, "person"> {
  readonly ask: Ask
  /** Rules that hold from the start. */
  readonly allowed?: readonly string[]
}

export async function openPersonSession({
  ask,
  allowed: before = [],
  ...question
}: PersonSessionQuestion): Promise<PersonSession> {
  const allowed = [...before]
  let session: Session | undefined
  const allow = (rule: string) => {
    allowed.push(rule)
    session?.agent.allow(rule)
  }
  session = await openSession({ ...question, person: personAt({ ask, project: question.workspace.cwd, allow }) })
  for (const rule of before) session.agent.allow(rule)
  return { ...session, allowed }
}
