/** L2-5 for complete conversations: the clearing edits of each request, applied by a server that evaluates every request again. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { openTestConversation } from "../../../test/open.ts"
import { RUNS } from "../../../test/runs.ts"
import { isWhole } from "../../../test/size.ts"
import { testContext } from "../../../test/tool-context.ts"
import { manualClock, seededIds } from "../../base/clock.ts"
import { type Conversation, engineOf } from "../../conversation/conversation.ts"
import type { ConversationOptions } from "../../conversation/options.ts"
import { runFork } from "../../forks/fork.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import type { Block } from "../../messages/blocks.ts"
import type { ModelRequest, RequestExtras } from "../../messages/request.ts"
import type { Model } from "../../model/model.ts"
import { findModel } from "../../tokens/models.ts"
import { FileReads } from "../../tools/files/read-state.ts"
import { serialiseRequest } from "../../views/context/request.ts"
import type { Layer, LayerContext } from "../layer.ts"
import { microcompaction } from "./microcompaction.ts"

const FEW = Math.max(5, Math.ceil(RUNS / 8)) // each opens a conversation after every step

const MINUTE = 60_000
const SMALL = { "api-clear-trigger": 4_000, "api-clear-keep": 3_000, "size-clear-min": 500 }
const TOOLS = ["Bash", "Edit", "TodoWrite"].map((name) => ({ name, input_schema: { type: "object" as const } }))

const open = (options: Partial<ConversationOptions> = {}) =>
  openTestConversation({
    model: "claude-opus-5-5",
    tools: TOOLS,
    layers: [microcompaction()],
    settings: { figures: SMALL },
    ...options,
  })

interface ToolEdit {
  readonly type: string
  readonly keep?: { readonly value: number }
  readonly trigger: { readonly value: number }
  readonly clear_at_least: { readonly value: number }
  readonly exclude_tools?: readonly string[]
}

const editsOf = (request: ModelRequest & RequestExtras) => (request.context_management?.edits ?? []) as ToolEdit[]
const toolEdit = (request: ModelRequest) => editsOf(request).find(({ type }) => type.startsWith("clear_tool_uses"))
const blocksOf = ({ messages }: ModelRequest) => messages.flatMap(({ content }) => content as Block[])
const tokensOf = (value: unknown) => Math.ceil(JSON.stringify(value).length / 4)

/** The results that a server would clear from a request, and the remaining size. */
function served(request: ModelRequest) {
  const edit = toolEdit(request)
  const blocks = blocksOf(request)
  const whole = tokensOf(blocks)
  const uses = blocks.filter((block) => block.type === "tool_use")
  const old = edit ? uses.slice(0, Math.max(0, uses.length - (edit.keep?.value ?? 3))) : []
  const ids = old.filter(({ name }) => !edit?.exclude_tools?.includes(name)).map(({ id }) => id)
  const results = blocks.filter((block) => block.type === "tool_result" && ids.includes(block.tool_use_id))
  const cleared = tokensOf(results)
  const applies = edit && whole > edit.trigger.value && ids.length > 0 && cleared >= edit.clear_at_least.value
  return applies ? { ids, cleared, input: whole - cleared } : { ids: [], cleared: 0, input: whole }
}

const CLEARED_THINKING = { type: "clear_thinking_20251015", cleared_thinking_turns: 1, cleared_input_tokens: 50 }
const THINKING = { type: "thinking", thinking: "hm", signature: "s" }

let count = 0
/** Sends one request and adds its answer: calls that have no results yet. */
async function step(chat: Conversation, names: readonly string[], more: { thinking?: boolean; edits?: object[] } = {}) {
  const request = await chat.prepare()
  const { ids, cleared, input } = served(request)
  const edit = { type: "clear_tool_uses_20250919", cleared_tool_uses: ids.length, cleared_input_tokens: cleared }
  const calls = names.map((name) => ({ type: "tool_use", id: `toolu_${count++}`, name, input: {} }))
  await chat.record({
    id: `msg_${count++}`,
    model: "claude-opus-5-5",
    content: [...(more.thinking ? [THINKING] : []), ...calls, ...(calls.length === 0 ? [TEXT] : [])],
    stop_reason: calls.length === 0 ? "end_turn" : "tool_use",
    usage: { input_tokens: input, output_tokens: 10 },
    context_management: { applied_edits: [...(more.edits ?? []), ...(ids.length > 0 ? [edit] : [])] as never },
  })
  return { request, cleared: ids, calls: calls.map(({ id }) => id) }
}
const TEXT = { type: "text", text: "Done." }

/** A layer that records the context of the last response, from which forks start. */
function watching(): { readonly layer: Layer; request(): Promise<ModelRequest> } {
  let last: LayerContext | undefined
  const layer: Layer = {
    name: "watching",
    async afterResponse(context) {
      last = context
      return undefined
    },
  }
  return { layer, request: () => last!.request() }
}

/** The results that the server would clear from each request of a fork that makes these calls. */
async function clearedForFork(request: ModelRequest, names: readonly string[]) {
  const cleared: (readonly string[])[] = []
  const model: Model = {
    name: "claude-opus-5-5",
    provider: "test",
    facts: findModel("claude-opus-5-5").facts,
    async *stream(sent) {
      const name = names[cleared.length]
      cleared.push(served(sent).ids)
      const content =
        name === undefined ? [TEXT] : [{ type: "tool_use", id: `toolu_fork_${cleared.length}`, name, input: {} }]
      const usage = { input_tokens: 1, output_tokens: 1 }
      yield {
        type: "response",
        response: { id: "msg_fork", model: "claude-opus-5-5", content, stop_reason: null, usage },
      }
    },
  }
  await runFork(
    { model, request, tools: [], reads: new FileReads(), toolContext: testContext() },
    {
      directive: "a word ".repeat(100),
      allows: () => true,
      maxTurns: names.length + 1,
      signal: new AbortController().signal,
    },
  )
  return cleared
}

const answer = (chat: Conversation, calls: readonly string[], characters = 2_000) =>
  chat.add({
    role: "user",
    content: calls.map((id) => ({ type: "tool_result", tool_use_id: id, content: "a word ".repeat(characters / 7) })),
  })

async function rounds(chat: Conversation, names: readonly (readonly string[])[]) {
  const all = []
  for (const each of names) {
    const taken = await step(chat, each)
    await answer(chat, taken.calls)
    all.push(taken)
  }
  return all
}

const times = (n: number, names: readonly string[]) => Array.from({ length: n }, () => names)

describe("L2-5 what the server has cleared stays cleared", () => {
  test("also where the model makes calls that cannot be sent back", async () => {
    const chat = await open()
    await chat.add({ role: "user", content: "go" })
    await rounds(chat, times(10, ["Bash"]))
    const before = served(await chat.prepare()).ids
    expect(before.length).toBeGreaterThan(3)
    await rounds(chat, [["not a name", "Bash"]])
    expect(served(await chat.prepare()).ids).toEqual(before)
  })

  test("thinking that it cleared says nothing about calls: those are left to it as before", async () => {
    const chat = await open()
    await chat.add({ role: "user", content: "go" })
    await rounds(chat, times(3, ["Bash"]))
    await step(chat, [], { edits: [CLEARED_THINKING] })
    await chat.add({ role: "user", content: "on" })
    expect(toolEdit(await chat.prepare())).not.toHaveProperty("keep")
  })

  test("thinking stays cleared after a pause in which no one spoke: the process had ended before its results were sent", async () => {
    const clock = manualClock()
    const chat = await open({ clock })
    const keep = async () => (editsOf(await chat.prepare())[0] as { keep: unknown }).keep
    await chat.add({ role: "user", content: "go" })
    await answer(chat, (await step(chat, ["Bash"], { thinking: true })).calls)
    await answer(chat, (await step(chat, ["Bash"], { thinking: true })).calls)
    clock.advance(90 * MINUTE)
    expect(await keep()).toEqual({ type: "thinking_turns", value: 1 })
    await answer(chat, (await step(chat, ["Bash"], { thinking: true })).calls)
    expect(await keep()).toEqual({ type: "thinking_turns", value: 2 })
  })

  test.each([0.5, 999.9])(
    "FLG-2 a figure of %s more still gives whole numbers, as the API takes no others",
    async (more) => {
      const figures = { "api-clear-trigger": 4_000 + more, "api-clear-keep": 3_000.3 }
      const chat = await open({ settings: { figures } })
      await chat.add({ role: "user", content: "go" })
      const { trigger, clear_at_least } = toolEdit(await chat.prepare())!
      expect([trigger.value, clear_at_least.value].every(Number.isInteger)).toBe(true)
    },
  )

  test.runIf(isWhole)(
    "property: as long as nothing is rewound; and asks are positive, and a resume sends the same bytes",
    async () => {
      const taken = fc.oneof(
        { weight: 8, arbitrary: fc.array(fc.constantFrom("Bash", "Edit", "TodoWrite", "no name"), { maxLength: 3 }) },
        { weight: 1, arbitrary: fc.record({ rewindTo: fc.nat(30) }) },
        { weight: 1, arbitrary: fc.record({ minutes: fc.integer({ min: 1, max: 100 }) }) },
      )
      let clearings = 0
      await fc.assert(
        fc.asyncProperty(fc.array(taken, { minLength: 8, maxLength: 25, size: "max" }), async (steps) => {
          const clock = manualClock()
          const options = { store: memoryStore(), clock, ids: seededIds("server") }
          let chat = await open(options)
          const messages = [await chat.add({ role: "user", content: "go" })]
          let known: readonly string[] = []
          for (const each of steps) {
            if ("minutes" in each) {
              clock.advance(each.minutes * MINUTE)
              known = [] // clearing by time leaves the server less than its trigger
            } else if ("rewindTo" in each) {
              await chat.rewind(messages[each.rewindTo % messages.length]!)
              known = []
            } else {
              const { request, cleared, calls } = await step(chat, each)
              const asked = toolEdit(request)?.keep?.value ?? 3
              expect(Number.isInteger(asked) && asked > 0).toBe(true)
              expect(cleared).toEqual(expect.arrayContaining([...known]))
              known = cleared
              clearings += cleared.length
              messages.push(
                calls.length === 0 ? await chat.add({ role: "user", content: "on" }) : await answer(chat, calls),
              )
            }
            const request = serialiseRequest(await chat.prepare())
            await chat.close()
            chat = await open(options)
            expect(serialiseRequest(await chat.prepare())).toBe(request)
          }
        }),
        { numRuns: FEW },
      )
      expect(clearings).toBeGreaterThan(FEW)
    },
  )
})

test("L7-1, L2-5 property: for every request of a fork the server clears exactly what it cleared for the conversation's last one", async () => {
  const names = fc.array(fc.constantFrom("Bash", "Edit", "TodoWrite"), { maxLength: 3 })
  const taken = fc.oneof(
    { weight: 8, arbitrary: fc.record({ names, characters: fc.integer({ min: 100, max: 4_000 }) }) },
    { weight: 3, arbitrary: fc.record({ minutes: fc.integer({ min: 1, max: 100 }) }) },
  )
  let afterClearing = 0
  await fc.assert(
    fc.asyncProperty(fc.array(taken, { minLength: 8, maxLength: 40, size: "max" }), names, async (steps, forked) => {
      const clock = manualClock()
      const { layer, request } = watching()
      const chat = await open({ clock, layers: [microcompaction(), layer] })
      await chat.add({ role: "user", content: "go" })
      for (const each of steps) {
        if ("minutes" in each) {
          clock.advance(each.minutes * MINUTE)
          continue
        }
        const { cleared, calls } = await step(chat, each.names, { thinking: true })
        const expected = Array.from({ length: forked.length + 1 }, () => cleared)
        expect(await clearedForFork(await request(), forked)).toEqual(expected)
        afterClearing += Math.sign(cleared.length)
        if (calls.length === 0) await chat.add({ role: "user", content: "on" })
        else await answer(chat, calls, each.characters)
      }
    }),
    { numRuns: FEW },
  )
  expect(afterClearing).toBeGreaterThan(FEW * 0.8)
})

test("TOK-1, L2-1 results cleared here after a pause are taken off once, though the server had cleared them before", async () => {
  const clock = manualClock()
  const chat = await open({ clock })
  await chat.add({ role: "user", content: "go" })
  const all = await rounds(chat, times(14, ["Bash"]))
  expect(all.at(-1)!.cleared.length).toBeGreaterThan(3)
  clock.advance(61 * MINUTE)
  const { input } = served(await chat.prepare())
  const size = engineOf(chat).views.context.size().tokens
  expect(size / input).toBeGreaterThan(0.8)
  expect(size / input).toBeLessThan(1.4) // estimates of new content, on top of what was counted
})

describe("TOK-1, WIN-7 the size where the next request goes to a model whose server clears nothing", () => {
  const UNHELPED = { figures: SMALL, models: { "claude-opus-5-5": { accepts: { contextManagement: false } } } }

  test("what was cleared for the last request is sent whole again, and counts", async () => {
    const store = memoryStore()
    const chat = await open({ store })
    await chat.add({ role: "user", content: "go" })
    const last = (await rounds(chat, times(12, ["Bash"]))).at(-1)!
    expect(last.cleared.length).toBeGreaterThan(3)
    const helped = engineOf(chat).views.context.size().tokens
    await chat.close()
    const other = await open({ store, settings: UNHELPED })
    const { cleared } = served(last.request)
    expect(engineOf(other).views.context.size().tokens).toBe(helped + cleared)
    await other.close()
    expect(engineOf(await open({ store })).views.context.size().tokens).toBe(helped)
  })
})
