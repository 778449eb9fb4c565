/** Reads the conversation that a client hands over, in the client's own shape. */
import type { Message } from "@strata/core/messages"
import type { Client, ClientSession } from "./clients.ts"
import { plainMessages } from "./message-shapes.ts"
import { opencodeLines, opencodeSession } from "./opencode-session.ts"
import { piLines, piSession } from "./pi-session.ts"

interface Whose {
  readonly client: Client | undefined
  readonly session: string | undefined
}

export function clientSession(messages: readonly unknown[], { client, session }: Whose): ClientSession {
  if (client === "pi") return piSession(messages, session)
  if (client === "opencode") return opencodeSession(messages)
  return { inView: plainMessages(messages, client).map((message, at) => ({ message, at })), earlier: [] }
}

/** All of it, with the boundaries of its compactions; `undefined` for a client that gives only a part. */
export function linesOf(messages: readonly unknown[], { client, session }: Whose): readonly Message[] | undefined {
  if (client === "pi") return piLines(messages, session)
  if (client === "opencode") return opencodeLines(messages)
  return undefined
}
