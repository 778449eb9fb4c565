/** The proxy's process is killed during a response, and another one continues. */
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import { startSimulator } from "@strata/sim"
import { expect, onTestFinished, test } from "vitest"
import type { Answer, Responder, ResponderMessage, ResponderTurn } from "../../../sim/src/responder.ts"
import { extractiveAnswer } from "../../../sim/src/responders/extractive.ts"
import { MODEL } from "./program/model.ts"
import { Program, SOURCE } from "./program/start.ts"

const WINDOW = 60_000
const LONG = "line of a file with words in it\n".repeat(500)
const WORDS = "I look at what is there."
const TOOLS = [{ name: "Bash", input_schema: { type: "object" as const } }]

/** Calls a tool each time, and records its requests. */
class Worker implements Responder {
  readonly name = "worker"
  readonly asked: (readonly ResponderMessage[])[] = []

  answer(turn: ResponderTurn): Answer {
    const about = extractiveAnswer(turn)
    if (about) return about
    this.asked.push(turn.request.messages)
    const call = { type: "tool_use", id: `toolu_${this.asked.length}`, name: "Bash", input: { command: "ls" } } as const
    return { content: [{ type: "text", text: `${WORDS} `.repeat(20) }, call] }
  }
}

/** Between the proxy and the server: passes everything, or holds a worker's response after its first bytes. Summaries pass. */
async function gateBefore(upstream: string) {
  const { hostname, port } = new URL(upstream)
  let onHeld: (() => void) | undefined
  const server = createServer((incoming, response) => {
    const { method, url, rawHeaders } = incoming
    const sent = request({ hostname, port, method, path: url, headers: rawHeaders }, (answer) => {
      response.writeHead(answer.statusCode!, answer.rawHeaders)
      let isHeld = false
      answer.on("data", (chunk: Buffer) => {
        const at = onHeld ? chunk.indexOf(WORDS) : -1
        if (!isHeld) response.write(at < 0 ? chunk : chunk.subarray(0, at + WORDS.length))
        if (at < 0) return
        isHeld = true
        onHeld?.()
      })
      answer.on("end", () => {
        if (!isHeld) response.end()
      })
    })
    incoming.pipe(sent)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves when the next response has begun. */
    hold: () =>
      new Promise<void>((resolve) => {
        onHeld = resolve
      }),
    open: () => {
      onHeld = undefined
    },
  }
}

test("BEY-14 killed in the middle of a stream: another process sends the same bytes, and the client continues", async () => {
  const responder = new Worker()
  const sim = await startSimulator({ responder, models: { [MODEL]: { window: WINDOW } } })
  const gate = await gateBefore(sim.url)
  const dir = mkdtempSync(join(tmpdir(), "strata-killed-"))
  onTestFinished(async () => {
    await sim.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const start = async () => {
    const program = await Program.start(SOURCE, ["managed", gate.url, dir, `${WINDOW}`], process.env.NODE_COMPILE_CACHE)
    onTestFinished(() => program.kill())
    return program
  }
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Look at the files." }]
  const ask = ({ url }: Program) =>
    new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0, openTelemetry: false }).messages
      .stream({ model: MODEL, max_tokens: 1_000, tools: TOOLS, messages })
      .finalMessage()
  const round = async (program: Program, result: string) => {
    const { content } = await ask(program)
    const results = content.flatMap((block) =>
      block.type === "tool_use" ? [{ type: "tool_result" as const, tool_use_id: block.id, content: result }] : [],
    )
    messages.push({ role: "assistant", content }, { role: "user", content: results })
  }
  const first = await start()
  while (!JSON.stringify(responder.asked.at(-1) ?? []).includes("This conversation continues")) await round(first, LONG)
  await round(first, "two files")

  const held = gate.hold()
  const lost = ask(first).then(
    () => "answered",
    () => "broken off",
  )
  await held
  await first.kill()
  expect(await lost).toBe("broken off")
  gate.open()
  const sent = responder.asked.at(-1)!

  const second = await start()
  await round(second, "three files")
  expect(responder.asked.at(-1)).toEqual(sent)
  await round(second, "four files")
  expect(responder.asked.at(-1)!.slice(0, sent.length)).toEqual(sent)
  expect(responder.asked.at(-1)).toHaveLength(sent.length + 2)
  expect(sim.stats().errors).toEqual({})
})
