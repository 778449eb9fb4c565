/** MCP over standard input and output: one message per line. It ends with the input. */
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { clientIn, type Methods, respond, unreadable } from "./protocol.ts"

export interface Streams {
  readonly input: Readable
  readonly send: (answer: unknown) => void
}

export async function serveStdio(methods: Methods, { input, send }: Streams): Promise<void> {
  let client: string | undefined
  const open = new Set<Promise<void>>()
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === "") continue
    const message = parseLine(line)
    if (message === undefined) {
      send(unreadable())
      continue
    }
    client = clientIn(message) ?? client
    const answered = respond(message, methods, client).then((answer) => {
      if (answer !== undefined) send(answer)
    })
    open.add(answered)
    void answered.finally(() => open.delete(answered))
  }
  await Promise.all(open)
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
