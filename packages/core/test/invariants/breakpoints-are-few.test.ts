/**
 * Public functions with default layers and breakpoints, over random conversations whose content has its own breakpoints: never more than
 * four breakpoints, request n is a prefix of request n+1 without them, and a resumed conversation prepares the same bytes.
 */
import fc from "fast-check"
import { expect, test } from "vitest"
import { seededIds } from "../../src/base/clock.ts"
import { memoryStore } from "../../src/journal/in-memory/store.ts"
import type { ModelRequest } from "../../src/messages/request.ts"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { openTestConversation } from "../open.ts"
import { fuzz, RUNS } from "../runs.ts"

const cache_control = { type: "ephemeral" }
const marked = (block: object) => fc.boolean().map((isMarked) => (isMarked ? { ...block, cache_control } : block))
const words = fc.string({ minLength: 1, maxLength: 20 }).map((text) => `w${text}`)
const text = words.chain((value) => marked({ type: "text", text: value }))
const turn = fc.record({
  user: fc.array(text, { minLength: 1, maxLength: 4 }),
  answer: words,
  results: fc.array(
    fc.oneof(
      words,
      fc.constant("line of a long result\n".repeat(4_000)),
      fc.array(text, { minLength: 1, maxLength: 3 }),
    ),
    { maxLength: 3 },
  ),
  hasResultBreakpoint: fc.boolean(),
})

const openDefault = (options: object) =>
  openTestConversation({ layers: undefined as never, cacheBreakpoints: true, ...options })
const countBreakpoints = (request: ModelRequest) => serialiseRequest(request).match(/"cache_control"/g)?.length ?? 0
const bare = (request: ModelRequest) =>
  serialiseRequest(request).replaceAll(/,?"cache_control":\{"type":"ephemeral"(?:,"ttl":"[^"]*")?\}/g, "")
/** A request up to the end of its message list. */
const head = (request: ModelRequest) => bare(request).slice(0, bare(request).lastIndexOf("]"))

test("CACHE-3 never more than four breakpoints, a stable prefix, and the same bytes after a resume", async () => {
  const tools = [
    {
      name: "Bash",
      description: "Runs.",
      input_schema: { type: "object" as const },
      cache_control: cache_control as never,
    },
    { name: "Read", description: "Reads.", input_schema: { type: "object" as const } },
  ]
  const system = [{ type: "text" as const, text: "You help.", cache_control: cache_control as never }]
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 5 }), async (turns) => {
      const store = memoryStore()
      const ids = seededIds("test") // unique although the conversation is opened again
      let chat = await openDefault({ store, ids, tools, system })
      let before: ModelRequest | undefined
      let id = 0
      const next = async () => {
        const request = await chat.prepare()
        expect(countBreakpoints(request)).toBeLessThanOrEqual(4)
        expect(countBreakpoints(request)).toBeGreaterThan(0)
        if (before) expect(bare(request).startsWith(head(before).replace(/\]\}$/, ""))).toBe(true)
        before = request
        await chat.close()
        chat = await openDefault({ store, ids, tools, system })
        expect(serialiseRequest(await chat.prepare())).toBe(serialiseRequest(request))
      }
      for (const { user, answer, results, hasResultBreakpoint } of turns) {
        await chat.add(user as never)
        await next()
        const calls = results.map((content) => ({ id: `toolu_${id++}`, content }))
        const uses = calls.map((call) => ({ type: "tool_use", id: call.id, name: "Bash", input: {} }))
        await chat.record({ content: [{ type: "text", text: answer }, ...uses] })
        if (calls.length === 0) continue
        const mark = hasResultBreakpoint ? { cache_control } : {}
        await chat.add(
          calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: call.content, ...mark })) as never,
        )
        await next()
        await chat.record({ content: [{ type: "text", text: "ok" }] })
      }
      await chat.close()
    }),
    { ...fuzz, numRuns: Math.ceil(RUNS / 5) },
  )
})
