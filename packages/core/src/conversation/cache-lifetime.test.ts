/** CACHE-8: the planner chooses a lifetime only if that makes a difference, and states the reason. Usage is given; there is no server. */
import { describe, expect, test } from "vitest"
import { entriesOf, openTestConversation } from "../../test/open.ts"
import { type Clock, manualClock } from "../base/clock.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import type { Store } from "../journal/store.ts"
import { cacheLifetimes } from "../layers/planner/lifetime.ts"
import type { Conversation } from "./conversation.ts"
import { openConversation } from "./open.ts"
import type { ConversationOptions } from "./options.ts"

const MODEL = "claude-opus-4-6"
const SYSTEM = "You are thorough. ".repeat(900)
const layers = [cacheLifetimes()]

/** Decisions after several rounds, with a pause of twenty minutes after each. */
async function decided(chat: Conversation, { clock = manualClock(), rounds = 4 } = {}) {
  for (let round = 0; round < rounds; round++) {
    await chat.add("And now?")
    await chat.prepare()
    await chat.record({
      ...{ id: `msg_${round}`, type: "message", role: "assistant", model: MODEL, stop_reason: "end_turn" },
      content: [{ type: "text", text: "Done." }],
      usage: { input_tokens: 1, output_tokens: 10, cache_creation_input_tokens: 40_000, cache_read_input_tokens: 0 },
    } as Parameters<Conversation["record"]>[0])
    clock.advance(20 * 60_000)
  }
  await chat.add("And now?")
  await chat.prepare()
  return (await entriesOf(chat)).flatMap((entry) =>
    entry.type === "strata" && entry.subtype === "cache-lifetime" ? [entry] : [],
  )
}

describe("CACHE-8 the planner chooses an hour", () => {
  const opened = (clock: Clock, more: Partial<ConversationOptions> & { readonly store?: Store } = {}) =>
    openTestConversation({ clock, layers, model: MODEL, system: SYSTEM, ...more })
  const after = async (more: Partial<ConversationOptions> = {}, rounds = 4) => {
    const clock = manualClock()
    return (await decided(await opened(clock, more), { clock, rounds })).map(({ forPrompt }) => forPrompt)
  }

  test("once pauses show that it pays, and not without a prompt to keep", async () => {
    expect(await after()).toEqual(["1h"])
    expect(await after({ system: "" }, 0)).toEqual([])
  })

  test("not where the model has one price for both lifetimes", async () => {
    const price = { input: 5, output: 25, cacheWrite5m: 5, cacheWrite1h: 5, cacheRead: 0.5 }
    expect(await after({ settings: { models: { [MODEL]: { price } } } })).toEqual([])
  })

  test("not in a loop that places its own breakpoints", async () => {
    const settings = { memory: "off", switches: { notes: false } } as const
    const chosen = async (cacheBreakpoints: boolean) => {
      const clock = manualClock()
      const where = { model: MODEL, cwd: "/nowhere", dir: "/nowhere/.strata", env: {}, store: memoryStore() }
      const chat = await openConversation({ ...where, system: SYSTEM, settings, clock, cacheBreakpoints })
      return (await decided(chat, { clock })).length
    }
    expect(await chosen(true)).toBe(1)
    expect(await chosen(false)).toBe(0)
  })

  test.each([
    [
      "the cache is kept warm in pauses",
      { layers: [cacheLifetimes({ keepsWarm: true })] },
      /keeping it warm in pauses/,
    ],
    ["the planner is off", { settings: { planner: "off" } }, /the planner is off/],
  ] as const)("five minutes again where %s, and says so", async (_, change, sentence) => {
    const [store, clock] = [memoryStore(), manualClock()]
    const chat = await opened(clock, { store })
    await decided(chat, { clock })
    await chat.close()
    const [, last] = await decided(await opened(clock, { store, ...change }), { clock, rounds: 0 })
    expect(last).toMatchObject({ forPrompt: "5m", forMessages: "5m", why: expect.stringMatching(sentence) })
  })
})
