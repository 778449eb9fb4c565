/**
 * LOOP-9: a local server with one slot. It processes one request at a time and caches one prefix, as llama.cpp and Ollama do. Input that
 * does not extend that prefix byte for byte is processed again, which takes minutes.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, onTestFinished, test } from "vitest"
import type { ResponderTurn } from "../../../../sim/src/responder.ts"
import { type ScriptedTurn, scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import { KEY, simulator } from "../../../../sim/test/simulator.ts"
import { anthropicModel } from "../../../src/model/anthropic/anthropic.ts"
import { isWhole } from "../../size.ts"
import { agentFor, ask, project } from "./agents.ts"

const LOCAL = "qwen-coder-local"

interface Served {
  readonly kind: "work" | "notes" | "memory"
  /** Characters of the prompt that were not in the slot. */
  readonly read: number
  /** Whether the client left before the answer came. */
  isLeft: boolean
}

/** The directive of a fork identifies it. */
const kindOf = (prompt: string): Served["kind"] =>
  !prompt.includes("<strata-fork>") ? "work" : prompt.includes("Update the notes") ? "notes" : "memory"

interface Body {
  readonly tools?: readonly object[]
  readonly system?: unknown
  readonly messages: readonly { readonly role: string; readonly content: string | readonly object[] }[]
}

/** The prompt that such a server builds from a request: one text, in the order tools, system prompt, messages. */
function promptOf({ tools = [], system, messages }: Body): string {
  const bare = (value: unknown) =>
    JSON.stringify(value, (key, each: unknown) => (key === "cache_control" ? undefined : each))
  const blocks = messages.flatMap(({ role, content }) =>
    (typeof content === "string" ? [{ type: "text", text: content }] : content).map((block) => role + bare(block)),
  )
  return [...tools.map(bare), bare(system ?? ""), ...blocks].join("\n")
}

/** A proxy in front of the simulator. `halts` delays an answer until the test releases it or the client leaves. */
async function oneSlotServer(target: string, halts: (served: Served) => Promise<void> | undefined = () => undefined) {
  const served: Served[] = []
  let slot = ""
  let last: Promise<unknown> = Promise.resolve()
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse, bytes: Buffer) => {
    const body = JSON.parse(bytes.toString()) as Body
    const prompt = promptOf(body)
    let same = 0
    while (same < Math.min(slot.length, prompt.length) && slot[same] === prompt[same]) same++
    const one: Served = { kind: kindOf(prompt), read: prompt.length - same, isLeft: false }
    slot = prompt
    served.push(one)
    const left = new Promise<void>((resolve) =>
      outgoing.once("close", () => {
        one.isLeft = !outgoing.writableEnded
        resolve()
      }),
    )
    await Promise.race([halts(one), left])
    if (one.isLeft) return
    const { method, headers, url = "/" } = incoming
    const forwarded = request(new URL(url, target), { method, headers: { ...headers, host: new URL(target).host } })
    forwarded.on("response", (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.end(bytes)
    await left
  }
  const server = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = []
    incoming.on("data", (piece: Buffer) => pieces.push(piece))
    incoming.on("end", () => {
      if (incoming.method !== "POST") return outgoing.writeHead(404).end("{}")
      last = last.then(() => serve(incoming, outgoing, Buffer.concat(pieces)))
      return undefined
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { served, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const WORDS = "a line of the file\n".repeat(1_500)

/** Works in rounds of one command each; requests for notes and memories get a short answer. */
const worker: ScriptedTurn = (turn: ResponderTurn) => {
  const text = JSON.stringify(turn.request.messages)
  if (kindOf(text) !== "work") return "Nothing to note."
  if (text.lastIndexOf("tool_result") > text.lastIndexOf("Task ")) return "Done."
  return { content: [{ type: "tool_use", id: turn.nextToolUseId(), name: "Bash", input: { command: "cat big.txt" } }] }
}

async function localAgent(halts?: (served: Served) => Promise<void> | undefined) {
  const sim = await simulator({
    responder: scriptedResponder(Array.from({ length: 60 }, () => worker)),
    models: { [LOCAL]: { window: 200_000 } },
  })
  const server = await oneSlotServer(sim.url, halts)
  const model = anthropicModel({ model: LOCAL, apiKey: KEY, baseURL: server.url })
  const agent = await agentFor(sim, project({ "big.txt": WORDS }), {
    model,
    mode: "bypass",
    settings: { figures: { "background-share": 100, "notes-growth": 1_000 } },
  })
  return { agent, ...server }
}

test.runIf(isWhole)(
  "LOOP-9 on a server with one slot every turn reads only what is new, though notes and memories are written",
  async () => {
    const { agent, served } = await localAgent()
    for (const n of [1, 2, 3, 4]) {
      await ask(agent, `Task ${n}: from now on always look into big.txt first.`)
      await agent.conversation.whenIdle()
    }
    const work = served.filter(({ kind }) => kind === "work")
    expect(served.some(({ kind }) => kind === "notes")).toBe(true)
    expect(served.some(({ kind }) => kind === "memory")).toBe(true)
    const [, ...later] = work
    for (const { read } of later) expect(read).toBeLessThan(2 * WORDS.length)
  },
)

test("LOOP-9 a limit that a server with one slot shows holds for that server, not for others of its kind", async () => {
  const { agent, url } = await localAgent()
  expect(agent.model.address).toBe(url)
})

test("LOOP-9 work in the background waits for the end of the query, gives way to the next one, and is sent again", async () => {
  const held: PromiseWithResolvers<void>[] = []
  let isWorking = false
  const during: string[] = []
  const { agent, served } = await localAgent((one) => {
    if (one.kind === "work") return undefined
    if (isWorking) during.push(one.kind)
    if (held.length > 0) return undefined
    held.push(Promise.withResolvers<void>()) // the first one never ends
    return held[0]!.promise
  })
  const query = async (text: string) => {
    isWorking = true
    const { end } = await ask(agent, text)
    isWorking = false
    return end
  }
  expect(await query("Task 1: look into big.txt.")).toMatchObject({ reason: "answer" })
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(await query("Task 2: look again.")).toMatchObject({ reason: "answer" })
  await agent.conversation.whenIdle()
  expect(during).toEqual([])
  const [first, ...later] = served.filter(({ kind }) => kind !== "work")
  expect(first!.isLeft).toBe(true)
  expect(later.some(({ kind, isLeft }) => kind === first!.kind && !isLeft)).toBe(true)
})
