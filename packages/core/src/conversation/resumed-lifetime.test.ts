/** CACHE-8: closing a conversation loses nothing that the planner knows about its cache. Usage is given; there is no server. */
import { describe, expect, test } from "vitest"
import { entriesOf, openTestConversation } from "../../test/open.ts"
import { manualClock, seededIds } from "../base/clock.ts"
import { localUser } from "../base/owner.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import { compaction } from "../layers/4-compaction/compaction.ts"
import { offline } from "../layers/4-compaction/summarise/route.ts"
import type { ColdPrice } from "../layers/planner/cold-price.ts"
import { cacheLifetimes } from "../layers/planner/lifetime.ts"
import type { Conversation } from "./conversation.ts"
import type { ConversationOptions } from "./options.ts"
import { storePauses } from "./pauses.ts"

const MODEL = "claude-opus-4-6"
const SYSTEM = "You are thorough. ".repeat(900)
const MINUTE = 60_000

type Kept = "5m" | "1h"

/** A conversation with a manual clock that can be closed and reopened repeatedly. */
class Talk {
  readonly clock = manualClock()
  readonly #store = memoryStore()
  readonly #ids = seededIds("talk")
  #chat: Conversation | undefined
  #turns = 0

  get chat(): Conversation {
    return this.#chat!
  }

  async open(more: Partial<ConversationOptions> = {}): Promise<void> {
    const { clock } = this
    this.#chat = await openTestConversation({
      ...{ clock, ids: this.#ids, store: this.#store, model: MODEL, system: SYSTEM, cacheBreakpoints: true },
      layers: [compaction({ offline: offline() }), cacheLifetimes()],
      settings: { memory: "off", switches: { notes: false } },
      ...more,
    })
  }

  /** Earlier conversations of the same user, in which a cache lifetime of one hour has paid off or has not. */
  async livedThrough(withinHour: number): Promise<void> {
    const sum = (count: number) => ({ count, tokens: count * 50_000 })
    const earlier = { conversations: 5, withinHour: sum(withinHour), beyondHour: sum(0), grown: 250_000 }
    const files = this.#store.memories({ shared: true })
    await storePauses({ store: this.#store, files }, localUser, () => earlier)
  }

  /** `prepares`: false if another program has sent the request. */
  async turn({ writes = 40_000, reads = 0, kept = "5m" as Kept, prepares = true, pause = 0 } = {}): Promise<void> {
    await this.chat.add("And now?")
    if (prepares) await this.chat.prepare()
    await this.chat.record({
      ...{ id: `msg_${this.#turns++}`, model: MODEL, stop_reason: "end_turn", content: "Done." },
      usage: {
        ...{ input_tokens: 1, output_tokens: 10, cache_creation_input_tokens: writes, cache_read_input_tokens: reads },
        cache_creation: { [`ephemeral_${kept}_input_tokens`]: writes },
      },
    })
    this.clock.advance(pause * MINUTE)
  }

  async reopen(): Promise<void> {
    await this.chat.close()
    await this.open()
  }
}

interface History {
  readonly what: string
  readonly asks: readonly Kept[]
  live(talk: Talk): Promise<void>
}

/** Another program whose requests used a lifetime of one hour. */
const anotherProgram = async (talk: Talk, pause: number) => {
  await talk.open()
  for (let turn = 0; turn < 3; turn++) await talk.turn({ kept: "1h", prepares: false, pause: 1 })
  talk.clock.advance(pause * MINUTE)
  await talk.reopen()
}

const takenUp = async (talk: Talk, pause: number) => {
  await anotherProgram(talk, 1)
  await talk.turn({ kept: "1h", pause })
}

const MARKED = [
  { type: "text" as const, text: SYSTEM, cache_control: { type: "ephemeral" as const, ttl: "1h" as const } },
]

const HISTORIES: readonly History[] = [
  {
    what: "another program's requests asked for an hour, and the cache is warm",
    asks: ["1h"],
    live: (talk) => takenUp(talk, 1),
  },
  {
    what: "another program's requests asked for an hour, and the cache is gone",
    asks: ["1h"],
    live: (talk) => takenUp(talk, 90),
  },
  {
    what: "another program's requests asked for an hour, and none of ours was sent",
    asks: ["1h"],
    live: (talk) => anotherProgram(talk, 90),
  },
  {
    what: "another program's requests asked for an hour, and it was compacted since",
    asks: ["1h"],
    async live(talk) {
      await takenUp(talk, 1)
      for (let turn = 0; turn < 4; turn++) await talk.turn({ kept: "1h", writes: 1_000, reads: 120_000, pause: 20 })
      await talk.chat.compact()
      await talk.turn({ kept: "5m", writes: 5_000, pause: 20 })
    },
  },
  {
    what: "pauses showed that an hour pays",
    asks: ["1h", "5m"],
    async live(talk) {
      await talk.open()
      for (let turn = 0; turn < 6; turn++) await talk.turn({ pause: 20 })
    },
  },
  {
    what: "pauses showed that an hour pays, and the cache is warm",
    asks: ["1h", "5m"],
    async live(talk) {
      await talk.open()
      for (let turn = 0; turn < 6; turn++) await talk.turn({ pause: 20 })
      await talk.turn({ kept: "1h", pause: 1 })
    },
  },
  {
    what: "the caller asked for an hour at the first opening only",
    asks: ["1h"],
    async live(talk) {
      await talk.open({ system: MARKED })
      for (let turn = 0; turn < 2; turn++) await talk.turn({ kept: "1h", pause: 90 })
    },
  },
  {
    what: "it was expected from earlier conversations, and this one has shown the opposite",
    asks: ["1h"],
    async live(talk) {
      await talk.livedThrough(4)
      await talk.open()
      for (let turn = 0; turn < 4; turn++) await talk.turn({ kept: "1h", writes: 60_000, pause: 90 })
    },
  },
  {
    what: "nothing was expected, and this one has shown what earlier ones did not",
    asks: ["5m"],
    async live(talk) {
      await talk.livedThrough(3)
      await talk.open()
      await talk.turn({ writes: 600_000, pause: 20 })
      await talk.turn({ writes: 1, reads: 600_000, pause: 1 })
    },
  },
  {
    what: "a caller marks the requests for an hour itself",
    asks: ["5m"],
    async live(talk) {
      await talk.open()
      for (let turn = 0; turn < 3; turn++) await talk.turn({ kept: "1h", pause: 1 })
    },
  },
]

/** Lifetime of each breakpoint. */
const asked = (request: string) =>
  [...request.matchAll(/"cache_control":(\{[^}]*\})/g)].map(([, mark]) => (mark!.includes("1h") ? "1h" : "5m"))

const [FOR_AN_HOUR, FOR_FIVE_MINUTES] = [10, 6.25] // dollars per million tokens

function lifetimesPaid({ next, tokens }: ColdPrice): readonly string[] {
  const each = (next / tokens) * 1_000_000
  return [...(each > FOR_FIVE_MINUTES + 0.001 ? ["1h"] : []), ...(each < FOR_AN_HOUR - 0.001 ? ["5m"] : [])]
}

async function next({ live }: History, isReopened: boolean) {
  const talk = new Talk()
  await live(talk)
  if (isReopened) await talk.reopen()
  const price = talk.chat.coldPrice()
  await talk.chat.add("Once more.")
  const request = JSON.stringify(await talk.chat.prepare())
  const decisions = (await entriesOf(talk.chat)).filter(
    (entry) => entry.type === "strata" && entry.subtype === "cache-lifetime",
  )
  await talk.chat.close()
  return { request, price, decisions: decisions.length }
}

describe("CACHE-8 the first request after reopening is the one that the open conversation would have sent", () => {
  test.each(HISTORIES)("$what", async (history) => {
    const open = await next(history, false)
    expect([...new Set(asked(open.request))]).toEqual(history.asks)
    if (open.price) expect(lifetimesPaid(open.price)).toEqual(history.asks)
    expect(await next(history, true)).toEqual(open)
  })
})
