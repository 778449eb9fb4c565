/** Reads the conversation that a client hands over, in the client's own shape. */
import type { Client, ClientSession } from "./clients.ts"
import { plainMessages } from "./message-shapes.ts"
import { opencodeSession } from "./opencode-session.ts"
import { piSession } from "./pi-session.ts"

interface Whose {
  readonly client: Client | undefined
  readonly session: string | undefined
}

export function clientSession(messages: readonly unknown[], { client, session }: Whose): ClientSession {
  if (client === "pi") return piSession(messages, session)
  if (client === "opencode") return opencodeSession(messages)
  return { inView: plainMessages(messages, client).map((message, at) => ({ message, at })), earlier: [] }
}
