/** A client's message list that grows by a call and its result, and a server that answers after a fixed time. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as wait } from "node:timers/promises"
import { MODEL } from "../../../packages/adapters/test/proxy/program/model.ts"

const CHARACTERS_PER_TOKEN = 3.2
const LONG = 24_000 // characters of the results that the list begins with
const SHORT = 3_000 // characters of the results added during the measurement
export const ANSWER_MS = 150 // no model answers faster, and work done meanwhile adds no time

const SYSTEM = [{ type: "text", text: "You help with code. ".repeat(400), cache_control: { type: "ephemeral" } }]
const TOOLS = Array.from({ length: 12 }, (_, at) => ({
  name: at === 0 ? "Bash" : `Tool${at}`,
  description: "Runs a command and says what it printed. ".repeat(60),
  input_schema: { type: "object", properties: { command: { type: "string" } } },
}))

const linesOf = (seed: number, length: number): string => {
  const lines: string[] = []
  let state = seed * 7_919 + 1
  for (let characters = 0; characters < length; characters += lines.at(-1)!.length + 1) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    lines.push(`export const item_${state % 100_000} = (value: number) => value * ${state % 97} + ${state % 13}`)
  }
  return lines.join("\n")
}

const callOf = (number: number) => [
  { type: "text", text: `Step ${number}.` },
  { type: "tool_use", id: `toolu_${number}`, name: "Bash", input: { command: `cat src/file-${number}.ts` } },
]

type Message = { readonly role: string; readonly content: readonly object[] }

export class GrowingList {
  readonly #messages: Message[] = [
    {
      role: "user",
      content: [
        { type: "text", text: "<system-reminder>The project is small.</system-reminder>" },
        { type: "text", text: "Look at all files." },
      ],
    },
  ]
  #steps = 0

  constructor(tokens: number) {
    while (this.#steps * LONG < tokens * CHARACTERS_PER_TOKEN) this.grow(LONG)
  }

  grow(length = SHORT): void {
    const number = ++this.#steps
    const result = { type: "tool_result", tool_use_id: `toolu_${number}`, content: linesOf(number, length) }
    this.#messages.push({ role: "assistant", content: callOf(number) }, { role: "user", content: [result] })
  }

  /** The request body as clients send it, with a cache breakpoint at the end of the last message. */
  body(): Buffer {
    return Buffer.from(JSON.stringify(this.params()))
  }

  /** What a program passes to the SDK for that body. Earlier messages are the same objects each time. */
  params() {
    const last = this.#messages.at(-1)!
    const marked = last.content.map((block) => ({ ...block, cache_control: { type: "ephemeral" } }))
    const messages = [...this.#messages.slice(0, -1), { ...last, content: marked }]
    return { model: MODEL, max_tokens: 1_000, system: SYSTEM, tools: TOOLS, messages }
  }
}

export interface StepServer {
  readonly url: string
  close(): void
}

/** Starts a server that answers with the next call of the list. */
export async function startStepServer(): Promise<StepServer> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const sent = Buffer.concat(chunks)
    const number = 1 + Number(/.*"toolu_(\d+)"/s.exec(sent.subarray(-2 * LONG).toString("latin1"))?.[1] ?? 0)
    await wait(ANSWER_MS)
    const tokens = Math.round(sent.length / CHARACTERS_PER_TOKEN)
    const written = Math.min(tokens, SHORT)
    const usage = {
      ...{ input_tokens: 3, output_tokens: 30 },
      cache_creation_input_tokens: written,
      cache_read_input_tokens: tokens - written,
    }
    const answer = { id: `msg_${number}`, type: "message", role: "assistant", model: MODEL, content: callOf(number) }
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ ...answer, stop_reason: "tool_use", stop_sequence: null, usage }))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
