/** What a program's developer notices of Strata: failures, the owner of a conversation, and the status. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAnthropic } from "@ai-sdk/anthropic"
import Anthropic from "@anthropic-ai/sdk"
import { frozenClock, helpfulResponder, startSimulator } from "@strata/sim"
import { generateText, wrapLanguageModel } from "ai"
import { afterEach, describe, expect, onTestFinished, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { strataMiddleware } from "../src/ai-sdk.ts"
import { closeStrata, type StrataOptions, strataStatus, withStrata } from "../src/anthropic.ts"

const MODEL = "claude-opus-5-5"
const models = { [MODEL]: { window: 60_000 } }

afterEach(closeStrata)

async function place() {
  const sim = await startSimulator({ responder: helpfulResponder(), clock: frozenClock(), models })
  const dir = mkdtempSync(join(tmpdir(), "strata-adoption-"))
  onTestFinished(async () => {
    await closeStrata()
    await sim.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const headers: string[] = []
  const sent: string[] = []
  const watched: typeof fetch = (input, init) => {
    headers.push(...new Headers(init?.headers).keys())
    sent.push(String(init?.body))
    return fetch(input, init)
  }
  const plain = new Anthropic({ baseURL: sim.url, apiKey: "none", maxRetries: 0, fetch: watched })
  const provider = createAnthropic({ baseURL: `${sim.url}/v1`, apiKey: "none" })
  return { dir, plain, provider, headers, sent }
}

type Sends = Pick<Anthropic, "messages">

/** A chat without tools, as most programs have. */
async function chat(client: Sends, questions: readonly string[], headers: Record<string, string> = {}) {
  const messages: Anthropic.MessageParam[] = []
  for (const content of questions) {
    messages.push({ role: "user", content })
    const answer = await client.messages.create({ model: MODEL, max_tokens: 1_000, messages }, { headers })
    messages.push({ role: "assistant", content: answer.content })
  }
  return messages
}

const journalsIn = (dir: string) =>
  readdirSync(join(dir, "projects"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"))

/** Warnings of the process while `act` runs. */
async function warningsOf(act: () => Promise<unknown>): Promise<readonly string[]> {
  const seen: string[] = []
  const see = ({ name, message }: Error) => seen.push(`${name}: ${message}`)
  process.on("warning", see)
  await act()
  await new Promise((resolve) => setImmediate(resolve))
  process.off("warning", see)
  return seen
}

describe("BEY-11 what the writer of a program sees", () => {
  const mistakes: [string, (dir: string) => StrataOptions, RegExp][] = [
    ["a directory that is a file", (dir) => ({ dir: join(dir, "file") }), /ENOTDIR|not a directory/],
    [
      "a setting with a wrong name",
      (dir) => ({ dir, settings: { models: { [MODEL]: { windw: 1 } } } as never }),
      /windw/,
    ],
    ["an empty owner", (dir) => ({ dir, owner: "" }), /owner/],
  ]

  test.each(mistakes)("%s: the request passes, and the log has the reason", async (_, optionsIn, reason) => {
    const { dir, plain, provider } = await place()
    writeFileSync(join(dir, "file"), "")
    const lines: string[] = []
    const options = { ...optionsIn(dir), log: (line: string) => void lines.push(line) }
    const client = withStrata(plain, options)
    await chat(client, ["Hello", "And now?"])
    expect(lines).toEqual([expect.stringMatching(reason), expect.stringMatching(reason)])
    const [row] = await client.strata.status()
    expect(row!.passedThrough).toMatchObject({ requests: 2, reason: expect.stringMatching(reason) })
    lines.length = 0
    const model = wrapLanguageModel({ model: provider(MODEL), middleware: strataMiddleware(options) })
    const { text } = await generateText({ model, prompt: "Hello" })
    expect(text).toBe("You said: Hello")
    expect(lines).toEqual([expect.stringMatching(reason)])
  })

  test("without a log, the first failure is a warning of the process", async () => {
    const { dir, plain } = await place()
    writeFileSync(join(dir, "file"), "")
    const client = withStrata(plain, { dir: join(dir, "file") })
    const warnings = await warningsOf(() => chat(client, ["Hello", "And now?"]))
    expect(warnings).toEqual([expect.stringMatching(/^StrataWarning: .*(ENOTDIR|not a directory)[\s\S]*`log`/)])
  })

  test.runIf(isWhole)("a log stays empty while nothing fails, and no warning is given", async () => {
    const { dir, plain } = await place()
    const lines: string[] = []
    const long = Array.from({ length: 12 }, (_, at) => `Question ${at}: ${"many words about a file. ".repeat(1_000)}`)
    const warnings = await warningsOf(async () => {
      const client = withStrata(plain, { dir, settings: { models }, log: (line) => void lines.push(line) })
      await chat(client, long)
      const [row] = await client.strata.status()
      expect(row!.decisions.join()).toMatch(/compaction: [1-9]/)
      await closeStrata()
      await chat(withStrata(plain, { dir: join(dir, "other"), settings: { models } }), long.slice(0, 4))
    })
    expect(lines).toEqual([])
    expect(warnings).toEqual([])
  })

  test("one client serves several people: each request names its conversation and its owner", async () => {
    const { dir, plain, headers } = await place()
    const client = withStrata(plain, { dir })
    for (const user of ["ada", "ben"])
      await chat(client, ["Hello", "Go on"], { "strata-conversation": `${user}-1`, "strata-owner": user })
    const rows = await client.strata.status()
    expect(rows.map(({ conversation, owner, requests }) => ({ conversation, owner, requests }))).toEqual([
      { conversation: "ada-1", owner: "ada", requests: 2 },
      { conversation: "ben-1", owner: "ben", requests: 2 },
    ])
    expect(await strataStatus()).toEqual(rows)
    expect(new Set(journalsIn(dir).map((name) => name.split("/")[0])).size).toBe(2)
    expect(headers.filter((name) => name.startsWith("strata-"))).toEqual([])
  })

  test("a client made of it has the status too, and one that is given twice is managed once", async () => {
    const { dir, plain } = await place()
    const first = withStrata(plain, { dir: join(dir, "first") })
    const client = withStrata(first, { dir }).withOptions({ timeout: 60_000 }).withOptions({ maxRetries: 1 })
    await chat(client, ["Hello", "Go on"])
    expect(await client.strata.status()).toMatchObject([{ requests: 2 }])
    expect(await first.strata.status()).toEqual([])
    expect(await strataStatus()).toHaveLength(1)
  })

  test.each([{ observe: true }, { settings: { off: true } }])(
    "%o: the program's own request is sent",
    async (given) => {
      const { dir, plain, sent } = await place()
      const client = withStrata(plain, { dir, ...given })
      const request = {
        model: MODEL,
        max_tokens: 1_000,
        tools: [{ name: "look", input_schema: { type: "object" as const } }],
      }
      const messages = [{ role: "user" as const, content: "Hello" }]
      for (const each of [plain, client]) await each.messages.create({ ...request, messages })
      expect(sent[1]).toBe(sent[0])
      expect(await client.strata.status()).toMatchObject([{ requests: 1, isObserved: true }])
    },
  )

  test("a program that is run again with the same questions has one conversation more", async () => {
    const { dir, plain } = await place()
    const questions = ["Hello", "And now?", "Go on", "And then?"]
    await chat(withStrata(plain, { dir }), questions)
    await closeStrata()
    const again = withStrata(plain, { dir })
    await chat(again, questions)
    await chat(again, questions)
    expect(journalsIn(dir)).toHaveLength(3)
  })

  test("where nothing was changed, the status shows what going direct would have cost", async () => {
    const { dir, plain } = await place()
    const client = withStrata(plain, { dir })
    await chat(client, ["Hello"])
    await new Promise((resolve) => setImmediate(resolve))
    const [row] = await client.strata.status()
    expect(row).toMatchObject({ direct: row!.sent, requests: 1 })
    expect(await withStrata(plain, { dir }).strata.status()).toEqual([row]) // an adapter with the same options
    expect(row!.directCost).toBeCloseTo(row!.cost!, 6)
  })
})
