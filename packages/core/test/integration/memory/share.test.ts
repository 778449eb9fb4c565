/**
 * The cost limit of memory in an own loop with an owner, including the first turns, and the handling of messages that were not processed.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, onTestFinished, test } from "vitest"
import type { ResponderRequest } from "../../../../sim/src/responder.ts"
import { extractiveAnswer } from "../../../../sim/src/responders/extractive.ts"
import { client, simulator } from "../../../../sim/test/simulator.ts"
import { manualClock } from "../../../src/base/clock.ts"
import { type Conversation, engineOf } from "../../../src/conversation/conversation.ts"
import { openConversation } from "../../../src/conversation/open.ts"
import { isForked } from "../../../src/forks/fork.ts"
import { memorySpending } from "../../../src/layers/budget.ts"
import { project } from "../agent/agents.ts"
import { everythingIn, textOfRequest, textsIn } from "./remembering.ts"

const FACT = "The runbook of the heron service is at https://wiki.example.com/heron."
const OTHER_FACT = "The board of the plover team is at https://wiki.example.com/plover."
const RULE = "Always use tabs, because our linter wants them."
const LONG = "A finding of the review. ".repeat(400)
const UNLIMITED = { "background-share": 100 }
const RUNNER = fileURLToPath(new URL("../../memory-share-runner.ts", import.meta.url))
const MINUTE = 60_000

async function stage({ onFork = async () => undefined }: { readonly onFork?: () => Promise<void> } = {}) {
  const where = project()
  const clock = manualClock()
  const forks: ResponderRequest[] = []
  const sim = await simulator({
    responder: {
      name: "reviewing",
      async answer(turn) {
        if (!isForked(turn.request.messages as never)) return { content: [{ type: "text", text: LONG }] }
        forks.push(turn.request)
        await onFork()
        return extractiveAnswer(turn) ?? { content: [{ type: "text", text: "Nothing to remember." }] }
      },
    },
  })
  const sdk = client(sim)
  async function open(owner = "ada", figures: Readonly<Record<string, number>> = {}): Promise<Conversation> {
    const chat = await openConversation({
      ...{ model: "claude-opus-5-5", client: sdk, system: "You review logs.", env: {}, clock, memory: { owner } },
      ...where,
      settings: { figures: figures as never },
    })
    onTestFinished(() => chat.close())
    return chat
  }
  async function answered(chat: Conversation, text: string): Promise<void> {
    await chat.add(text)
    await chat.record(await sdk.messages.stream(await chat.prepare()).finalMessage())
  }
  async function say(chat: Conversation, text: string): Promise<void> {
    await answered(chat, text)
    await chat.whenIdle()
  }
  /** Continues until memory work begins. */
  async function work(chat: Conversation, max = 40): Promise<void> {
    for (let turn = 0; turn < max && forks.length === 0; turn++) await say(chat, "Go on")
  }
  return { where, clock, sim, forks, open, answered, say, work }
}

/** The memory directories of all owners. */
const memoriesIn = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name === "memory")
    .map(({ parentPath, name }) => join(parentPath, name))

/** The messages of other conversations that a fork receives. */
const earlierMessagesIn = (fork: ResponderRequest): string => textOfRequest(fork).split("<said_earlier>")[1] ?? ""

const shareOf = (chat: Conversation): number => {
  const { spent, memory } = memorySpending(engineOf(chat).views.ledger)
  return (100 * memory) / spent
}

describe("L5-9 memory takes at most 5% in an own loop", () => {
  test.each([1, 2, 3])("of a conversation with %i turns; its rules are kept all the same", async (turns) => {
    const { where, forks, open, say } = await stage()
    const chat = await open()
    for (let turn = 0; turn < turns; turn++) await say(chat, `${FACT} ${RULE}`)
    expect(forks).toEqual([])
    expect(shareOf(chat)).toBe(0)
    const [memory] = memoriesIn(where.dir)
    expect(textsIn(memory!)).toContain("Always use tabs")
    expect(everythingIn(memory!)).not.toContain(".spent.json") // a refused extraction has cost nothing, not even against the daily budget
  })

  test("of a longer one, and its parts add up: the budget has what the ledger has", async () => {
    const { where, forks, open, say, work } = await stage()
    const chat = await open()
    await say(chat, FACT)
    await work(chat)
    expect(forks).toHaveLength(1)
    expect(shareOf(chat)).toBeGreaterThan(0)
    expect(shareOf(chat)).toBeLessThanOrEqual(5)
    await say(chat, "Thanks")
    const [memory] = memoriesIn(where.dir)
    const { conversations, underWay } = JSON.parse(readFileSync(join(memory!, ".waiting.json"), "utf8"))
    expect(underWay).toEqual([])
    expect(conversations).toMatchObject([{ tokens: 0 }])
    expect(conversations[0].memory).toBeCloseTo(memorySpending(engineOf(chat).views.ledger).memory, 10)
  })

  test("what waits is looked at in a later conversation of the same owner that only asks for work, and never in another owner's", async () => {
    const { where, forks, open, say, work } = await stage()
    const short = await open()
    await say(short, FACT)
    await short.close()
    const stranger = await open("eve")
    await say(stranger, OTHER_FACT)
    await work(stranger)
    expect(forks).toHaveLength(1)
    expect(textOfRequest(forks[0]!)).not.toContain("heron")
    forks.length = 0
    const later = await open()
    await work(later)
    expect(forks).toHaveLength(1)
    expect(textOfRequest(forks[0]!)).toContain("https://wiki.example.com/heron")
    expect(textOfRequest(forks[0]!)).not.toContain("plover")
    expect(shareOf(later)).toBeLessThanOrEqual(5)
    const texts = memoriesIn(where.dir).map(textsIn)
    expect(texts.map((text) => [text.includes("heron"), text.includes("plover")]).sort()).toEqual([
      [false, true],
      [true, false],
    ])
  })

  test("a conversation that ends with its first answer waits", async () => {
    const { forks, open, answered, say } = await stage()
    const short = await open()
    await answered(short, FACT)
    await short.close()
    const later = await open("ada", UNLIMITED)
    await say(later, "Go on")
    expect(forks).toHaveLength(1)
    expect(textOfRequest(forks[0]!)).toContain("https://wiki.example.com/heron")
  })

  test("two that end at once: one extraction looks at what waits, and the rest waits for the next", async () => {
    const { forks, open, answered, say } = await stage()
    const short = await open()
    await say(short, FACT)
    await short.close()
    const both = [await open("ada", UNLIMITED), await open("ada", UNLIMITED)]
    await Promise.all(both.map((chat) => answered(chat, OTHER_FACT)))
    await Promise.all(both.map((chat) => chat.whenIdle()))
    expect(forks.map(earlierMessagesIn)).toEqual([expect.stringContaining("heron")])
    const later = await open("ada", UNLIMITED)
    for (let turn = 0; turn < 2; turn++) await say(later, "Go on")
    expect(forks.map(earlierMessagesIn)).toEqual([
      expect.stringContaining("heron"),
      expect.stringMatching(/^(?!.*heron).*plover/s),
    ])
  })

  test("an extraction whose process is killed is made once by a later conversation, after ten minutes", async () => {
    const asked = Promise.withResolvers<void>()
    let isKilled = false
    const { where, clock, sim, forks, open, say } = await stage({
      async onFork() {
        if (isKilled) return
        asked.resolve()
        await new Promise(() => undefined)
      },
    })
    const args = [RUNNER, sim.url, where.cwd, where.dir, FACT, clock.now().toISOString()]
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] })
    const exit = once(child, "exit")
    await asked.promise
    child.kill("SIGKILL")
    await exit
    isKilled = true
    const soon = await open("ada", UNLIMITED)
    await say(soon, "Go on")
    expect(forks).toHaveLength(1)
    clock.advance(11 * MINUTE)
    await say(soon, "Go on")
    expect(forks).toHaveLength(2)
    expect(textOfRequest(forks[1]!)).toContain("https://wiki.example.com/heron")
    await say(await open("ada", UNLIMITED), "Go on")
    expect(forks).toHaveLength(2)
    expect(textsIn(memoriesIn(where.dir)[0]!).match(/wiki\.example\.com\/heron/g)?.length).toBeGreaterThan(0)
  })
})
