/** The proxy's estimate of the cost without Strata, compared with the bill of a server that received the same conversation directly. */
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text as readText } from "node:stream/consumers"
import Anthropic from "@anthropic-ai/sdk"
import { frozenClock, startSimulator } from "@strata/sim"
import { describe, expect, onTestFinished, test } from "vitest"
import { isWhole } from "../../../core/test/size.ts"
import type { Answer, Responder, ResponderTurn } from "../../../sim/src/responder.ts"
import { extractiveAnswer } from "../../../sim/src/responders/extractive.ts"
import { Conversations } from "../../src/proxy/index.ts"
import { proxy } from "./raw-upstream.ts"

const MODEL = "claude-opus-5-5"
const WINDOW = 60_000
const TOOLS = [{ name: "Bash", description: "Runs a command. ".repeat(80), input_schema: { type: "object" as const } }]
const LONG = "line of a file with words in it\n".repeat(500)
const MARK = { cache_control: { type: "ephemeral" as const } }

class Worker implements Responder {
  readonly name = "worker"
  #answers = 0

  answer(turn: ResponderTurn): Answer | Promise<Answer> {
    const about = extractiveAnswer(turn)
    if (about) return about
    const number = ++this.#answers
    return {
      content: [
        { type: "text", text: `Answer ${number}.` },
        { type: "tool_use", id: `toolu_${number}`, name: "Bash", input: { command: `ls ${number}` } },
      ],
    }
  }
}

const newSimulator = () =>
  startSimulator({ responder: new Worker(), clock: frozenClock(), models: { [MODEL]: { window: WINDOW } } })

/** A server without a cache, in front of a simulator. */
async function withoutCache(url: string): Promise<string> {
  const server = createServer(async (incoming, response) => {
    const { messages, system, ...body } = JSON.parse(await readText(incoming))
    const bare = JSON.parse(
      JSON.stringify({ ...body, system, messages }, (key, value) => (key === "cache_control" ? undefined : value)),
    )
    const { host: _, "content-length": __, ...headers } = incoming.headers
    const answer = await fetch(url + incoming.url, {
      method: "POST",
      headers: headers as never,
      body: JSON.stringify(bare),
    })
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type")! })
    response.end(await answer.text())
  }).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Case {
  readonly rounds: number
  /** Where the client sets cache breakpoints. */
  readonly breakpoints: "messages" | "prompt" | "nothing"
  readonly hasCache: boolean
}

async function program(url: string, { rounds, breakpoints }: Case): Promise<void> {
  const client = new Anthropic({ baseURL: url, apiKey: "k", maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Count the files. ".repeat(60) }]
  for (let round = 0; round < rounds; round++) {
    const last = messages.at(-1)!
    const blocks = typeof last.content === "string" ? [{ type: "text" as const, text: last.content }] : last.content
    const end = blocks.map((block, at) => (at === blocks.length - 1 ? { ...block, ...MARK } : block)) as never
    const { content } = await client.messages.create({
      model: MODEL,
      max_tokens: 1_000,
      tools: TOOLS,
      system: [{ type: "text", text: "You help. ".repeat(200), ...(breakpoints === "nothing" ? {} : MARK) }],
      messages: breakpoints === "messages" ? [...messages.slice(0, -1), { ...last, content: end }] : messages,
    })
    const calls = content.filter((block) => block.type === "tool_use")
    messages.push({ role: "assistant", content })
    messages.push({
      role: "user",
      content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: `${round} ${LONG}` })),
    })
  }
}

async function bills(given: Case) {
  const [direct, through] = [await newSimulator(), await newSimulator()]
  const dir = mkdtempSync(join(tmpdir(), "strata-direct-"))
  const address = async (url: string) => (given.hasCache ? url : withoutCache(url))
  const upstream = await address(through.url)
  const clock = { now: () => new Date(through.clock.now()) } as never
  const settings = { models: { [MODEL]: { window: WINDOW } } }
  const plans = new Conversations({ upstream, cwd: "/nowhere", env: {}, dir, clock, settings })
  const { url } = await proxy({ upstream, plans })
  onTestFinished(async () => {
    await plans.close()
    await direct.close()
    await through.close()
    rmSync(dir, { recursive: true, force: true })
  })
  await program(await address(direct.url), given)
  await program(url, given)
  await new Promise(setImmediate) // the cost is added after the response
  const [row] = await plans.status()
  return {
    reported: row!.directCost!,
    really: direct.stats().total.dollars,
    paid: row!.cost!,
    decisions: row!.decisions,
  }
}

describe("BEY-11 what going direct would have cost", () => {
  test.each([
    { rounds: 3, breakpoints: "messages", hasCache: true },
    { rounds: 3, breakpoints: "messages", hasCache: false },
    { rounds: 12, breakpoints: "messages", hasCache: true },
    ...(isWhole
      ? ([
          { rounds: 3, breakpoints: "nothing", hasCache: true },
          { rounds: 12, breakpoints: "prompt", hasCache: true },
          { rounds: 12, breakpoints: "nothing", hasCache: true },
          { rounds: 12, breakpoints: "messages", hasCache: false },
        ] as const)
      : []),
  ] as const)("$rounds rounds, the client marks $marks, a server with a cache: $hasCache", async (given) => {
    const { reported, really, paid, decisions } = await bills(given)
    expect(Math.abs(reported / really - 1)).toBeLessThan(0.02)
    expect(decisions.length > 0).toBe(given.rounds > 3)
    // a short conversation contains no changes by Strata
    if (given.rounds === 3 && given.breakpoints === "messages") expect(paid).toBeCloseTo(really, 8)
  })
})
