/**
 * Random clients that keep their own message list: they add, branch, strip, clear, summarise, repeat requests and disconnect. Each request
 * that `follow` and `prepare` make of the list is sent to the simulator, which checks bound thinking.
 *
 * `FUZZ_RUNS` sets how many clients, `FUZZ_SEED` which ones.
 */
import Anthropic from "@anthropic-ai/sdk"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { Answer, AnswerBlock, Responder, ResponderTurn } from "../../../sim/src/responder.ts"
import { KEY, simulator } from "../../../sim/test/simulator.ts"
import { compaction } from "../../src/layers/4-compaction/compaction.ts"
import type { ClientMessage } from "../../src/messages/message-identity.ts"
import type { ModelRequest } from "../../src/messages/request.ts"
import { FileReads } from "../../src/tools/files/read-state.ts"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { AT_ONCE, toolState } from "../compacting.ts"
import { openTestConversation } from "../open.ts"
import { size } from "../size.ts"
import { summariser } from "../summariser.ts"

const RUNS = {
  numRuns: Number(process.env.FUZZ_RUNS ?? size(2, 300)),
  seed: Number(process.env.FUZZ_SEED ?? 1),
  endOnFailure: process.env.FUZZ_QUICK !== undefined,
}
const MODEL = "claude-opus-5-5"
const WINDOW = 30_000
/** The end of the last message and the list. Everything before it must be repeated. */
const CLOSING = "]}]}"

type Step =
  | {
      readonly kind: "say"
      readonly words: number
      readonly more: "nothing" | "system" | "twice" | "setting" | "reminder"
    }
  | { readonly kind: "results"; readonly words: number }
  | { readonly kind: "back"; readonly by: number }
  | { readonly kind: "edit"; readonly at: number }
  | { readonly kind: "strip" | "clear" | "summarise" | "again" | "go-away" | "compact" | "respell" | "drop-reminders" }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("say" as const),
      words: fc.integer({ min: 1, max: 1_500 }),
      more: fc.constantFrom(
        "nothing" as const,
        "nothing" as const,
        "system" as const,
        "twice" as const,
        "setting" as const,
        "reminder" as const,
      ),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("results" as const), words: fc.integer({ min: 1, max: 8_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("back" as const), by: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("edit" as const), at: fc.nat(20) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "strip" as const,
        "clear" as const,
        "summarise" as const,
        "again" as const,
        "go-away" as const,
        "compact" as const,
        "respell" as const,
        "drop-reminders" as const,
      ),
    }),
  },
)

/** Thinks, answers, and calls as many tools as requested. */
class Talker implements Responder {
  readonly name = "talker"
  #answers = 0

  startOver(): void {
    this.#answers = 0
  }

  answer({ nextToolUseId }: ResponderTurn): Answer {
    const index = this.#answers++
    const content: AnswerBlock[] = [{ type: "text", text: `Answer ${index}.` }]
    if (index % 3 !== 0) content.unshift({ type: "thinking", thinking: `Thought ${index}.` })
    if (index % 4 !== 3)
      content.push({ type: "tool_use", id: nextToolUseId(), name: "Bash", input: { command: `ls ${index}` } })
    if (index % 8 === 5)
      content.push({ type: "tool_use", id: nextToolUseId(), name: "Bash", input: { command: "pwd" } })
    return { content }
  }
}

/** A program with a list of messages. */
class Caller {
  list: ClientMessage[] = []
  #count = 0

  words(count: number): string {
    return `${++this.#count}: ${"word ".repeat(count)}`
  }

  get calls(): readonly string[] {
    const last = this.list.at(-1)
    if (last?.role !== "assistant") return []
    return (last.content as { type: string; id: string }[]).flatMap(({ type, id }) => (type === "tool_use" ? id : []))
  }

  say(words: string, more: (Step & { kind: "say" })["more"]): void {
    const results = this.calls.map((id) => ({ type: "tool_result", tool_use_id: id, content: "done" }))
    const reminder =
      more === "reminder" ? [{ type: "text", text: `<system-reminder>\n${words}\n</system-reminder>` }] : []
    const spoken = [{ type: "text", text: words }]
    const previous = this.list.at(-1)
    if (previous?.role === "system") this.list.pop() // nothing of the user's may follow it
    this.list.push({ role: "user", content: [...results, ...reminder, ...spoken] })
    if (more === "twice") this.list.push({ role: "user", content: words })
    if (more === "system") this.list.push({ role: "system", content: `<total_tokens>${this.#count}</total_tokens>` })
    if (more === "setting") this.list.push({ role: "system", content: [], output_config: { effort: "medium" } })
  }

  results(words: string): void {
    const { calls } = this
    if (calls.length === 0) {
      this.say(words, "nothing")
      return
    }
    this.list.push({
      role: "user",
      content: calls.map((id, at) => ({
        type: "tool_result",
        tool_use_id: id,
        content: at === 0 ? words : "ok",
        is_error: false,
      })),
    })
  }

  /** Goes back to before an answer. */
  back(by: number): void {
    const answers = this.list.flatMap(({ role }, at) => (role === "assistant" ? at : []))
    const at = answers.at(-by)
    if (at !== undefined && at > 0) this.list = this.list.slice(0, at)
  }

  edit(at: number): void {
    const spoken = this.list.flatMap(({ role, content }, index) =>
      role === "user" && !JSON.stringify(content).includes("tool_result") ? index : [],
    )
    const index = spoken[at % Math.max(1, spoken.length)]
    if (index === undefined) return
    this.list = [...this.list.slice(0, index), { role: "user", content: this.words(3) }]
  }

  map(change: (block: Record<string, unknown>) => readonly Record<string, unknown>[]): void {
    this.list = this.list.map((message) => {
      if (!Array.isArray(message.content)) return message
      const content = (message.content as Record<string, unknown>[]).flatMap(change)
      return content.length === 0 && message.role !== "system" ? message : { ...message, content }
    })
  }

  /** The client's own compaction: a summary, and the newest exchange unchanged. */
  summarise(): void {
    const answer = this.list.findLastIndex(({ role }) => role === "assistant")
    if (answer < 1) return
    const summary =
      "This session is being continued from a previous conversation that ran out of context. The summary: words."
    const from =
      this.calls.length > 0
        ? answer
        : this.list.findLastIndex(({ content }, at) => at <= answer && !JSON.stringify(content).includes("tool_"))
    const tail = this.list.slice(from).filter(({ role }, at) => at > 0 || role === "assistant")
    this.list = [
      { role: "user", content: [{ type: "text", text: summary }] },
      { role: "system", content: "Dir: /srv." },
      ...tail,
    ]
    if (tail[0]?.role !== "assistant") this.list.splice(1, 1)
  }
}

/** Found once: the client summarises its list after the conversation was read again, so that the past was not read yet. */
const SUMMARISED_AFTER_GOING_BACK: readonly Step[] = [
  { kind: "results", words: 1 },
  { kind: "results", words: 3_003 },
  { kind: "results", words: 4_192 },
  { kind: "say", words: 1_417, more: "nothing" },
  { kind: "back", by: 1 },
  { kind: "say", words: 885, more: "nothing" },
  { kind: "results", words: 1 },
  { kind: "say", words: 1, more: "nothing" },
  { kind: "back", by: 1 },
  { kind: "say", words: 1_066, more: "nothing" },
  { kind: "back", by: 2 },
  { kind: "results", words: 1 },
  { kind: "summarise" },
  { kind: "say", words: 1, more: "nothing" },
]

const bytesOf = (request: ModelRequest): string => serialiseRequest({ messages: request.messages } as ModelRequest)

test("BEY-14, invariant 11: whatever a caller does to its list, requests are valid, fit, and go on from the one before unless a decision says otherwise", async () => {
  const responder = new Talker()
  const client = new Anthropic({
    baseURL: (await simulator({ responder, bindThinking: "error" })).url,
    apiKey: KEY,
    maxRetries: 0,
    openTelemetry: false,
  })
  let [compared, sent, compacted] = [0, 0, 0]
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 60 }), async (steps) => {
      responder.startOver()
      const settings = { models: { [MODEL]: { window: WINDOW, maxOutput: 2_000 } }, switches: AT_ONCE }
      const reads = new FileReads()
      const parent = { model: summariser({ window: WINDOW }), tools: [], reads, toolContext: toolState }
      const layers = [
        compaction({ parent, reads, timing: { every: () => () => undefined, wait: async () => undefined } }),
      ]
      const chat = await openTestConversation({ model: MODEL, settings, layers })
      const caller = new Caller()
      caller.say(caller.words(50), "system")
      let last: string | undefined
      let isDecided = false
      chat.on("entry", ({ entry }) => {
        if (entry.type === "system") compacted++
        if (entry.type === "strata" && !["tool-results-sent", "session"].includes(entry.subtype)) isDecided = true
      })
      const ask = async (answers: boolean) => {
        const { how } = await chat.syncMessages(caller.list, {
          tools: [{ name: "Bash", input_schema: { type: "object" } }],
        })
        const request = await chat.prepare()
        sent++
        const bytes = bytesOf(request)
        if (last !== undefined && how === "added" && !isDecided) {
          compared++
          if (!bytes.startsWith(last.slice(0, -CLOSING.length)))
            throw new Error(`${last}\n is not continued by\n${bytes}`)
        }
        last = bytes
        isDecided = false
        expect(chat.windowUsage().state).not.toBe("blocked")
        const response = await client.beta.messages
          .create({
            ...request,
            max_tokens: 500,
            betas: ["mid-conversation-system-2026-04-07", "per-turn-control-2026-07-01"],
          } as never)
          .catch((error: unknown) => {
            throw new Error(`${error}\n${bytes}`)
          })
        if (!answers) return
        await chat.record(response as never)
        caller.list.push({ role: "assistant", content: (response as { content: unknown }).content })
      }
      await ask(true)
      for (const each of steps) {
        if (each.kind === "say") caller.say(caller.words(each.words), each.more)
        else if (each.kind === "results") caller.results(caller.words(each.words))
        else if (each.kind === "back") caller.back(each.by)
        else if (each.kind === "edit") caller.edit(each.at)
        else if (each.kind === "strip") caller.map((block) => (block.type === "thinking" ? [] : [block]))
        else if (each.kind === "clear")
          caller.map((block) => [
            block.type === "tool_result" ? { ...block, content: "[Old tool result content cleared]" } : block,
          ])
        else if (each.kind === "respell")
          caller.map(({ type, ...block }) => [
            type === "text" ? { ...block, type, citations: null } : { ...block, type },
          ])
        else if (each.kind === "drop-reminders")
          caller.map((block) => (String(block.text).startsWith("<system-reminder>") ? [] : [block]))
        else if (each.kind === "summarise") caller.summarise()
        else if (each.kind === "compact") await chat.compact().catch(() => undefined)
        if (each.kind === "again" || each.kind === "go-away") {
          if (caller.list.at(-1)?.role === "assistant") caller.say(caller.words(3), "nothing")
          await ask(each.kind === "again")
        } else if (["say", "results", "back", "edit"].includes(each.kind)) {
          if (caller.list.at(-1)?.role === "assistant") caller.say(caller.words(3), "nothing")
          await ask(true)
        }
      }
      await chat.close()
    }),
    { ...RUNS, examples: [[SUMMARISED_AFTER_GOING_BACK]] },
  )
  expect(compared).toBeGreaterThan(RUNS.numRuns)
  expect(compacted).toBeGreaterThan(RUNS.numRuns / 2)
  expect(sent).toBeGreaterThan(compared)
})
