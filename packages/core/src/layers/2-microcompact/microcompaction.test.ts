import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { entriesOf, openTestConversation } from "../../../test/open.ts"
import { RUNS } from "../../../test/runs.ts"
import { isWhole } from "../../../test/size.ts"
import { manualClock, seededIds } from "../../base/clock.ts"
import { type Conversation, engineOf } from "../../conversation/conversation.ts"
import type { ConversationOptions } from "../../conversation/options.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import type { Block, ToolResult } from "../../messages/blocks.ts"
import type { ModelRequest } from "../../messages/request.ts"
import type { SwitchName } from "../../settings/flag-names.ts"
import { createFlags } from "../../settings/flags.ts"
import { DEFAULT_SETTINGS } from "../../settings/settings.ts"
import { findModel } from "../../tokens/models.ts"
import { CLEARED_MARKER } from "../../views/context/render-decisions.ts"
import { serialiseRequest } from "../../views/context/request.ts"
import type { Compactor } from "../layer.ts"
import { selectOld } from "./clearing.ts"
import { MECHANISM_POLICY, mechanismsFor, microcompaction } from "./microcompaction.ts"

const FEW = Math.max(2, Math.ceil(RUNS / 8)) // each opens a conversation after every step

const MINUTE = 60_000
const open = (options: Partial<ConversationOptions> = {}) =>
  openTestConversation({ layers: [microcompaction()], ...options })

let count = 0
async function call(
  chat: Conversation,
  tool = "Bash",
  { text = "output ".repeat(200), model = "claude-opus-4-6", usage = {} } = {},
) {
  const id = `toolu_${count++}`
  await chat.record({
    id: `msg_${count++}`,
    model,
    content: [
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "tool_use", id, name: tool, input: {} },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: Math.max(10, engineOf(chat).views.context.size().tokens), output_tokens: 5, ...usage },
  })
  await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] })
  return id
}

async function calls(chat: Conversation, tools: readonly string[], options: Parameters<typeof call>[2] = {}) {
  await chat.add({ role: "user", content: "go" })
  const ids: string[] = []
  for (const tool of tools) ids.push(await call(chat, tool, options))
  return ids
}

const clearedIn = (request: ModelRequest) =>
  request.messages
    .flatMap(({ content }) => content as Block[])
    .filter((block): block is ToolResult => block.type === "tool_result")
    .filter(({ content }) => String(content).startsWith(CLEARED_MARKER))
    .map(({ tool_use_id }) => tool_use_id)

const decisions = async (chat: Conversation) =>
  (await entriesOf(chat)).flatMap((entry) =>
    entry.type === "strata" && ["tool-results-cleared", "thinking-dropped"].includes(entry.subtype) ? entry : [],
  )

describe("L2-12 which mechanism applies to which model", () => {
  const flags = (off: readonly SwitchName[] = []) =>
    createFlags({ settings: { ...DEFAULT_SETTINGS, switches: Object.fromEntries(off.map((name) => [name, false])) } })
      .current
  const { accepts } = findModel("claude-opus-5-5").facts
  const able = { accepts, isMain: true, serverHasRoom: true }
  const unable = { ...able, accepts: { ...accepts, contextManagement: false } }
  const editing = { ...able, accepts: { ...accepts, cacheEditing: true } }

  test("by time everywhere; the server where it can; by size where it cannot, or must not", async () => {
    expect(MECHANISM_POLICY.map(({ name }) => name)).toEqual(["by-time", "by-cache-edit", "by-api", "by-size"])
    expect([...mechanismsFor(able, flags())]).toEqual(["by-time", "by-api"])
    expect([...mechanismsFor(unable, flags())]).toEqual(["by-time", "by-size"])
    expect([...mechanismsFor({ ...able, serverHasRoom: false }, flags())]).toEqual(["by-time", "by-size"])
    expect([...mechanismsFor(able, flags(["clear-by-api"]))]).toEqual(["by-time", "by-size"])
    expect([...mechanismsFor(able, flags(MECHANISM_POLICY.map((row) => row.switch)))]).toEqual([])
  })

  test("L2-2 by cache edit where the model can, in the main conversation, and then not by size", async () => {
    expect([...mechanismsFor(editing, flags())]).toEqual(["by-time", "by-cache-edit", "by-api"])
    expect([...mechanismsFor(editing, flags(["clear-by-api"]))]).toEqual(["by-time", "by-cache-edit"])
    expect([...mechanismsFor({ ...editing, isMain: false }, flags())]).toEqual(["by-time", "by-api"])
  })
})

describe("L2-1 by time", () => {
  test("L2-15 nothing is cleared for a request that is compacted, and everything else is as before", async () => {
    const cleared = async (isNow: boolean) => {
      const clock = manualClock()
      const chat = await open({
        clock,
        layers: [microcompaction({ compacts: () => ({ state: "ready" as const, isNow, worth: 0 }) })],
      })
      await calls(chat, Array(8).fill("Bash"))
      clock.advance(61 * MINUTE)
      return clearedIn(await chat.prepare()).length
    }
    expect([await cleared(true), await cleared(false)]).toEqual([0, 3])
  })

  test("after an idle hour all clearable results but the newest five; other tools' results stay", async () => {
    const clock = manualClock()
    const chat = await open({ clock })
    const ids = await calls(chat, ["Read", "TodoWrite", "Bash", "mcp__x", "Edit", "Grep", "Glob", "Write", "Read"])
    clock.advance(60 * MINUTE)
    expect(clearedIn(await chat.prepare())).toEqual([])
    clock.advance(1)
    expect(clearedIn(await chat.prepare())).toEqual([ids[0], ids[2]])
  })

  test("BEY-4 with the planner as soon as the cache is gone, where that saves enough", async () => {
    for (const { planner, length, cleared } of [
      { planner: "balanced", length: 4_000, cleared: 7 },
      { planner: "off", length: 4_000, cleared: 0 },
      { planner: "balanced", length: 4, cleared: 0 },
    ] as const) {
      const clock = manualClock()
      const chat = await open({ clock, settings: { planner } })
      await calls(chat, Array(12).fill("Bash"), { text: "some words ".repeat(length) })
      clock.advance(5 * MINUTE)
      expect(clearedIn(await chat.prepare())).toEqual([])
      clock.advance(1)
      expect(clearedIn(await chat.prepare())).toHaveLength(cleared)
    }
  })

  test("the newest one stays, whatever the figure says", () => {
    const results = ["a", "b"].map((toolUseId, n) => ({ toolUseId, tokens: 100, saving: 90, before: n * 100 }))
    expect(selectOld(results, 0)).toEqual(["a"])
    expect(selectOld(results, 1)).toEqual(["a"])
  })

  test("tools of one's own are cleared where the settings name them", async () => {
    const clock = manualClock()
    const chat = await open({ clock, settings: { clearableTools: ["read_file"] } })
    const ids = await calls(chat, ["read_file", "pay_bill", ...Array(5).fill("read_file")])
    clock.advance(61 * MINUTE)
    expect(clearedIn(await chat.prepare())).toEqual([ids[0]])
  })

  test("L2-7, L2-8 once: a cleared result is neither counted nor cleared again, and listeners learn of it", async () => {
    const clock = manualClock()
    const reported: string[][] = []
    const chat = await open({ clock, layers: [microcompaction({ onCleared: (ids) => reported.push([...ids]) })] })
    const lines: unknown[] = []
    chat.on("layerActed", ({ message }) => lines.push(message))
    const ids = await calls(chat, Array(8).fill("Bash"))
    clock.advance(61 * MINUTE)
    await chat.prepare()
    await chat.prepare()
    clock.advance(61 * MINUTE)
    await chat.prepare()
    expect(reported).toEqual([ids.slice(0, 3)])
    expect(await decisions(chat)).toMatchObject([{ toolUseIds: ids.slice(0, 3), why: "idle" }])
    expect(lines).toEqual([expect.stringMatching(/^3 old tool results were cleared: [\d,]+ tokens saved\.$/)])
  })

  test("a result smaller than the marker stays, since clearing must shrink", async () => {
    const clock = manualClock()
    const chat = await open({ clock })
    await calls(chat, Array(8).fill("Bash"), { text: "ok" })
    clock.advance(61 * MINUTE)
    expect(clearedIn(await chat.prepare())).toEqual([])
  })

  test.each(["clear-by-time", "disableMicrocompact"])("FLG-1 not with %s off", async (name) => {
    const clock = manualClock()
    const settings = name === "clear-by-time" ? { switches: { [name]: false } } : { [name]: true }
    const chat = await open({ clock, settings })
    await calls(chat, Array(8).fill("Bash"))
    clock.advance(61 * MINUTE)
    expect(clearedIn(await chat.prepare())).toEqual([])
  })

  test("L2-11, CACHE-6 where thinking is bound it is cleared too, and recorded; elsewhere it stays", async () => {
    for (const [model, dropped] of [
      ["claude-opus-5-5", true],
      ["claude-opus-4-6", false],
    ] as const) {
      const clock = manualClock()
      const chat = await open({ clock, model })
      await calls(chat, Array(8).fill("Bash"), { model })
      clock.advance(61 * MINUTE)
      const request = await chat.prepare()
      const thinks = request.messages.some(({ content }) =>
        (content as Block[]).some(({ type }) => type === "thinking"),
      )
      expect(thinks).toBe(!dropped)
      expect((await decisions(chat)).map(({ subtype }) => subtype)).toEqual(
        dropped ? ["tool-results-cleared", "thinking-dropped"] : ["tool-results-cleared"],
      )
    }
  })
})

describe("L2-7 memories are cleared too", () => {
  const memory = { type: "memory" as const, path: "memory/style.md", content: "prefers tabs ".repeat(40) }
  const shown = (request: ModelRequest) => {
    const text = JSON.stringify(request.messages)
    return [text.split("prefers tabs prefers").length > 1, text.includes("[Old memory cleared]")]
  }

  test.each(["claude-opus-5-5", "claude-opus-4-6"])("by time, once, and thinking after them with %s", async (model) => {
    const clock = manualClock()
    const store = memoryStore()
    const chat = await open({ clock, model, store })
    await chat.add({ role: "user", content: "go" })
    const old = await chat.attach(memory)
    const ids = await calls(chat, Array(7).fill("Bash"), { model })
    await chat.attach({ ...memory, content: "small" })
    clock.advance(61 * MINUTE)
    await chat.attach({ ...memory, path: "memory/new.md" })
    const request = await chat.prepare()
    expect(shown(request)).toEqual([true, true])
    const cleared = (await decisions(chat))[0]
    expect(cleared).toMatchObject({ toolUseIds: ids.slice(0, 2), attachments: [old], why: "idle" })
    expect(cleared).toMatchObject({ effect: { rewrites: 0 } })
    await chat.close()
    const again = await open({ clock, model, store })
    expect(serialiseRequest(await again.prepare())).toBe(serialiseRequest(request))
  })

  test("once: what is cleared is not cleared again with the next results", async () => {
    const clock = manualClock()
    const chat = await open({ clock })
    await chat.add({ role: "user", content: "go" })
    const uuid = await chat.attach(memory)
    for (let round = 0; round < 2; round++) {
      await calls(chat, Array(8).fill("Bash"))
      clock.advance(61 * MINUTE)
      await chat.prepare()
    }
    const cleared = (await decisions(chat)).map((decision) => "attachments" in decision && decision.attachments)
    expect(cleared).toEqual([[uuid], false])
  })

  test("not by themselves: with nothing else to clear they stay", async () => {
    const clock = manualClock()
    const chat = await open({ clock })
    await chat.add({ role: "user", content: "go" })
    await chat.attach(memory)
    await calls(chat, ["Bash"])
    clock.advance(61 * MINUTE)
    expect(shown(await chat.prepare())).toEqual([true, false])
  })
})

describe("L2-9 a branch and the conversation it came from", () => {
  test("send the same up to the place they part at; clearing in one leaves the other as it was", async () => {
    const clock = manualClock()
    const store = memoryStore()
    const main = await open({ clock, store, ids: seededIds("main") })
    await calls(main, Array(8).fill("Bash"))
    clock.advance(61 * MINUTE)
    const before = serialiseRequest(await main.prepare())
    const id = await main.branch(engineOf(main).views.context.newest!.uuid, "branch")
    const branch = await open({ clock, store, id, ids: seededIds("branch") })
    expect(serialiseRequest(await branch.prepare())).toBe(before)
    for (let n = 0; n < 4; n++) await call(branch)
    clock.advance(61 * MINUTE)
    expect(clearedIn(await branch.prepare())).toHaveLength(7)
    expect(serialiseRequest(await main.prepare())).toBe(before)
    expect((await decisions(main)).filter(({ subtype }) => subtype === "tool-results-cleared")).toHaveLength(1)
  })
})

describe("reports the effect of a clearing", () => {
  const text = "many words about nothing much ".repeat(2_000)
  test("by size from a warm cache: what follows the first changed place is written again", async () => {
    const model = "claude-sonnet-4-5"
    const settings = { switches: { "clear-by-api": false }, figures: { "expected-turns": 10_000 } } as const
    const chat = await open({ model, settings })
    await calls(chat, ["Bash"], { text, model })
    while (chat.windowUsage().state === "fine") await call(chat, "Bash", { text, model })
    const tokens = engineOf(chat).views.context.size().tokens
    await chat.prepare()
    const [decision] = await decisions(chat)
    const { effect } = decision as unknown as { effect: { saves: number; rewrites: number } }
    const saved = tokens - engineOf(chat).views.context.size().tokens
    expect(effect.saves / saved).toBeCloseTo(1, 1)
    expect(effect.saves + effect.rewrites).toBeLessThan(tokens * 1.05)
    expect(effect.rewrites).toBeGreaterThan(tokens - saved - 5_000)
  })

  const compactor: Compactor = {
    name: "compaction",
    compact: async () => ({ drafts: [] }),
    plan: async () => ({ kind: "refused", why: "switched-off", message: "" }),
  }
  test.each([
    ["by size", "a compaction", { "idle-gap": 60, "idle-keep": 5 }, [compactor]],
    ["by size, where no layer compacts", "nothing", { "idle-gap": 60, "idle-keep": 5 }, []],
    ["by time, all that is there", "a compaction", { "idle-gap": 1, "idle-keep": 1 }, [compactor]],
    ["by time, too little to keep a compaction away", "nothing", { "idle-gap": 1, "idle-keep": 14 }, [compactor]],
  ])("L2-10, CACHE-5 in a full window %s: it replaces %s", async (_, spares, figures, others) => {
    const model = "claude-sonnet-4-5"
    const clock = manualClock()
    const settings = { switches: { "clear-by-api": false }, figures }
    const chat = await open({ clock, model, settings, layers: [microcompaction(), ...others] })
    await calls(chat, ["Bash"], { text, model })
    const isFull = () => chat.windowUsage().used > chat.thresholds.autoCompact + 15_000
    while (!isFull()) await call(chat, "Bash", { text, model })
    clock.advance(2 * MINUTE)
    await chat.prepare().catch(() => undefined) // what stays may be more than can be sent
    const [decision] = await decisions(chat)
    expect((decision as unknown as { effect: { spares?: string } }).effect.spares).toBe(
      spares === "nothing" ? undefined : "compaction",
    )
  })
})

describe("L2-6 by size", () => {
  const text = "many words about nothing much ".repeat(2_000) // some 12,000 tokens
  const settings = { planner: "off", switches: { "clear-by-api": false } } as const

  test("above the warning threshold, where it pays or the cache is cold; at most one mechanism acts", async () => {
    const clock = manualClock()
    const chat = await open({ clock, settings, model: "claude-sonnet-4-5" })
    const ids = await calls(chat, Array(10).fill("Bash"), { text, model: "claude-sonnet-4-5" })
    expect(clearedIn(await chat.prepare())).toEqual([])
    while (chat.windowUsage().state === "fine") ids.push(await call(chat, "Bash", { text, model: "claude-sonnet-4-5" }))
    clock.advance(6 * MINUTE)
    const cleared = clearedIn(await chat.prepare())
    expect(cleared).toEqual(ids.slice(0, cleared.length))
    expect(ids.length - cleared.length).toBe(3)
    expect(await decisions(chat)).toMatchObject([{ why: "size" }])
  })

  test("L4-38 what later work has overtaken goes before older results, and the stub says why", async () => {
    const clock = manualClock()
    const model = "claude-sonnet-4-5"
    const figures = { "size-clear-keep": 120_000, "size-clear-min": 1_000 }
    const chat = await open({ clock, settings: { ...settings, figures }, model })
    await chat.add("go")
    const ids: string[] = []
    for (let at = 0; chat.windowUsage().state === "fine"; at++)
      ids.push(await call(chat, "Bash", { text: `${at === 8 ? 6 : at} ${text}`, model }))
    clock.advance(6 * MINUTE)
    const request = await chat.prepare()
    const cleared = clearedIn(request)
    expect(cleared).toContain(ids[6])
    expect(cleared.filter((id) => id !== ids[6])).toEqual(ids.slice(0, cleared.length - 1))
    expect(cleared).not.toContain(ids[5])
    expect(await decisions(chat)).toMatchObject([{ why: "size", overtaken: { [ids[6]!]: "repeated" } }])
    expect(JSON.stringify(request.messages)).toContain("A later result has the same text.")
  })

  test.runIf(isWhole)(
    "L2-10 where the cache is written for an hour, clearing has to pay for the dearer writing",
    async () => {
      const model = "claude-sonnet-4-5"
      const clears = async (lifetime: "5m" | "1h") => {
        const chat = await open({ model, settings: { ...settings, figures: { "expected-turns": 4 } } })
        const usage = { cache_creation_input_tokens: 9, cache_creation: { [`ephemeral_${lifetime}_input_tokens`]: 9 } }
        await calls(chat, ["Bash"], { text, model, usage })
        while (chat.windowUsage().state === "fine") await call(chat, "Bash", { text, model, usage })
        return clearedIn(await chat.prepare()).length > 0
      }
      expect([await clears("5m"), await clears("1h")]).toEqual([true, false])
    },
  )

  test("L2-5 not where the server is asked instead", async () => {
    const tools = [{ name: "Bash", description: "", input_schema: { type: "object" as const } }]
    const chat = await open({ model: "claude-sonnet-4-5", tools })
    await calls(chat, ["Bash"], { text, model: "claude-sonnet-4-5" })
    while (chat.windowUsage().state === "fine") await call(chat, "Bash", { text, model: "claude-sonnet-4-5" })
    const request = await chat.prepare()
    expect(clearedIn(request)).toEqual([])
    expect(request).toMatchObject({
      betas: ["context-management-2025-06-27"],
      context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
    })
  })
})

test("L2-5 what the server reports as applied is recorded", async () => {
  const chat = await open()
  await chat.add({ role: "user", content: "go" })
  const applied = { type: "clear_tool_uses_20250919", cleared_tool_uses: 8, cleared_input_tokens: 50_000 }
  await chat.record({
    id: "msg_edited",
    model: "claude-opus-4-6",
    content: [{ type: "text", text: "done" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 10, output_tokens: 5 },
    context_management: { applied_edits: [applied] },
  })
  expect(await entriesOf(chat)).toContainEqual(expect.objectContaining({ subtype: "server-edited", edits: [applied] }))
})

test("L2-7 property: decisions never change once made, and a resume sends the same bytes", async () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ tool: fc.constantFrom("Read", "Bash", "Edit", "TodoWrite"), words: fc.nat(400) }),
      fc.record({ minutes: fc.integer({ min: 1, max: 90 }) }),
    ),
    { minLength: 5, maxLength: 25 },
  )
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom("claude-opus-5-5", "claude-opus-4-6"), async (taken, model) => {
      const store = memoryStore()
      const clock = manualClock()
      const options = { store, clock, model, ids: seededIds("property") }
      let chat = await open(options)
      await chat.add({ role: "user", content: "go" })
      let known: readonly string[] = []
      for (const step of taken) {
        if ("minutes" in step) clock.advance(step.minutes * MINUTE)
        else await call(chat, step.tool, { text: "word ".repeat(step.words) || "-", model })
        const request = await chat.prepare()
        const cleared = clearedIn(request)
        expect(cleared).toEqual(expect.arrayContaining([...known]))
        known = cleared
        await chat.close()
        chat = await open(options)
        expect(serialiseRequest(await chat.prepare())).toBe(serialiseRequest(request))
      }
      const all = (await decisions(chat)).flatMap((each) => ("toolUseIds" in each ? each.toolUseIds : []))
      expect(new Set(all).size).toBe(all.length)
    }),
    { numRuns: FEW },
  )
})
