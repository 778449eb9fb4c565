/** A server for many users without ids and owners: the messages of one user never reach a request of another. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { closeStrata, withStrata } from "../src/anthropic.ts"

const MODEL = "claude-opus-5-5"
const TOOLS = [{ name: "look", input_schema: { type: "object" as const } }]

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "strata-people-"))
})
afterEach(async () => {
  await closeStrata()
  rmSync(dir, { recursive: true, force: true })
})

type Content = readonly Record<string, unknown>[]
type Sent = { readonly messages: readonly { readonly content: unknown }[] }

/** A server with scripted responses that records its requests. */
function server() {
  const sent: Sent[] = []
  const next: (Content | "lost")[] = []
  const send: typeof fetch = async (_, init) => {
    sent.push(JSON.parse(Buffer.from(init!.body as Uint8Array).toString()) as Sent)
    const content = next.shift() ?? [textBlock("Fine.")]
    if (content === "lost") throw new Error("the connection was lost")
    const stop_reason = content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn"
    const usage = { input_tokens: 10, output_tokens: 5 }
    const id = `msg_${sent.length}`
    return Response.json({ id, type: "message", role: "assistant", model: MODEL, content, stop_reason, usage })
  }
  const plain = new Anthropic({ apiKey: "k", baseURL: "http://127.0.0.1:9", maxRetries: 0, fetch: send })
  return { sent, next, client: () => withStrata(plain, { dir }) }
}

const textBlock = (text: string) => ({ type: "text", text })
const called = (id: string, input: object, name = "look") => ({ type: "tool_use", id, name, input })

class User {
  messages: Anthropic.MessageParam[] = []
  readonly #server: ReturnType<typeof server>

  constructor(at: ReturnType<typeof server>) {
    this.#server = at
  }

  /** Returns the request that the server received. */
  async says(content: Anthropic.MessageParam["content"], ...answers: readonly (Content | "lost")[]): Promise<string> {
    const { client, next, sent } = this.#server
    this.messages.push({ role: "user", content })
    next.push(...answers)
    const body = { model: MODEL, max_tokens: 100, tools: TOOLS, messages: this.messages }
    const answer = await client()
      .messages.create(body)
      .catch(() => undefined)
    if (answer) this.messages.push({ role: "assistant", content: answer.content })
    return JSON.stringify(sent.at(-1)!.messages)
  }

  gives(id: string, content: string, ...answers: readonly Content[]): Promise<string> {
    return this.says([{ type: "tool_result", tool_use_id: id, content }], ...answers)
  }

  /** Keeps only the final text of each turn, as many programs do. */
  keepsLastWords(): void {
    this.messages = this.messages.flatMap(({ role, content }): Anthropic.MessageParam[] => {
      if (typeof content === "string") return [{ role, content }]
      if (content.some(({ type }) => type === "tool_use" || type === "tool_result")) return []
      return [{ role, content: content.map((block) => (block.type === "text" ? block.text : "")).join("") }]
    })
  }
}

describe("BEY-14 two people of one server that begin alike", () => {
  test("calls with ids that only count, and other inputs", async () => {
    const at = server()
    const [anna, ben] = [new User(at), new User(at)]
    await anna.says("What do I owe?", [called("call_1", { account: "anna-4711" })])
    await ben.says("What do I owe?", [called("call_1", { account: "ben-0815" })])
    expect(await anna.gives("call_1", '["12 euro"]', [textBlock("You see it above.")])).not.toContain("ben-0815")
    expect(await ben.gives("call_1", '["70 euro"]', [textBlock("You see it above.")])).not.toMatch(/anna|12 euro/)
    const seen = await anna.says("Thanks.")
    expect(seen).toContain("12 euro")
    expect(seen).not.toMatch(/ben|70 euro/)
  })

  test("ids that are made of the name of a tool", async () => {
    const at = server()
    const [anna, ben] = [new User(at), new User(at)]
    const id = "functions.searchCustomerDatabase:0"
    await anna.says("I am Anna, of 4711 Long Street. What do I owe?", [called(id, {}, "searchCustomerDatabase")])
    await anna.gives(id, "12 euro", [textBlock("It is 12 euro.")])
    ben.messages = [
      { role: "user", content: "I am Ben." },
      { role: "assistant", content: [called(id, {}, "searchCustomerDatabase") as never] },
    ]
    expect(await ben.gives(id, "70 euro")).not.toMatch(/Anna|12 euro|Long Street/)
  })

  test("results that look like nothing, of calls with ids that only count", async () => {
    const at = server()
    const [anna, ben] = [new User(at), new User(at)]
    for (const [user, result] of [
      [anna, '["secret of Anna"]'],
      [ben, "[]"],
    ] as const) {
      await user.says("What do I owe?", [called("call_1", {})])
      await user.gives("call_1", result, [textBlock("Done.")])
    }
    expect(await ben.says("And now?")).not.toContain("Anna")
    expect(await anna.says("And now?")).toContain("Anna")
  })

  test("programs that keep the final text of each turn", async () => {
    const at = server()
    const [anna, ben] = [new User(at), new User(at)]
    for (const [user, result] of [
      [anna, "12 euro"],
      [ben, "70 euro"],
    ] as const) {
      const id = `toolu_0123456789abcdef${result.slice(0, 2)}`
      await user.says("What do I owe?", [called(id, {})])
      await user.gives(id, result, [
        textBlock("I have sent you a letter about all that you owe, with every date in it."),
      ])
      user.keepsLastWords()
    }
    expect(await anna.says("How much is it?")).not.toContain("70 euro")
    expect(await ben.says("How much is it?")).not.toContain("12 euro")
  })

  test("a short final text that the server of another process had", async () => {
    const at = server()
    const [anna, ben] = [new User(at), new User(at)]
    await anna.says("What do I owe?", [called("toolu_0123456789abcdef12", {})])
    await anna.gives("toolu_0123456789abcdef12", "12 euro", [textBlock("Done.")])
    ben.messages = [
      { role: "user", content: "What do I owe?" },
      { role: "assistant", content: "Done." },
    ]
    expect(await ben.says("How much is it?")).not.toContain("12 euro")
  })

  test("one continues in the conversation of the other, breaks off, and the other asks Recall", async () => {
    const at = server()
    const [anna, ben] = [new User(at), new User(at)]
    for (const user of [anna, ben]) await user.says("Hello", [textBlock("How can I help?")])
    await anna.says("My number is anna-4711.", "lost")
    const recall = called("toolu_0123456789abcdef01", { search: "My number is" }, "Recall")
    await ben.says("I wait.", [recall], [textBlock("Good.")])
    expect(await ben.says("What is my number?", [{ ...recall, id: "toolu_0123456789abcdef02" }])).not.toContain(
      "anna-4711",
    )
  })
})
