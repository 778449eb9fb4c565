/** Concurrent calls on a store that fails at random: acknowledged data is stored once, and a resume sends the same request. */
import { setTimeout as wait } from "node:timers/promises"
import { expect, test } from "vitest"
import { tappedStore } from "../../../store-contract/src/tapped-store.ts"
import type { Conversation } from "../../src/conversation/conversation.ts"
import type { EntryDraft } from "../../src/journal/entries.ts"
import { memoryStore } from "../../src/journal/in-memory/store.ts"
import type { Store } from "../../src/journal/store.ts"
import type { Layer } from "../../src/layers/layer.ts"
import { entriesOf, openTestConversation } from "../open.ts"
import { everyNth } from "../size.ts"

const SEEDS = 200
const ROUNDS = 12
const FAULTS = 0.15 // share of the calls of a journal

type Random = () => number

function randomFrom(seed: number): Random {
  let state = Math.imul(seed + 1, 2_654_435_761) >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** Fails while `isOn`: before a call is made, or after it. Some calls take longer than others. */
function failing(kept: Store, random: Random) {
  const faults = { isOn: false }
  const store = tappedStore(kept, async ({ name, run }) => {
    if (random() < 0.5) await wait(0)
    const fails = faults.isOn && name.startsWith("journal.") && name !== "journal.close" && random() < FAULTS
    if (!fails) return run()
    if (random() < 0.5) await run()
    throw new Error(`${name} failed`)
  })
  return { store, faults }
}

/** Queries the journal at random, decides at random, and fails at random after its decision is written. */
function restless(random: Random): Layer {
  let count = 0
  const spent = (): EntryDraft => ({
    ...{ type: "strata", subtype: "spent", purpose: "compaction", model: "claude-opus-4-6" },
    ...{ responseId: `spent-${count++}`, usage: { input_tokens: 1, output_tokens: 1 } },
  })
  return {
    name: "restless",
    async onToolResults({ journal }) {
      if (random() < 0.3) await journal.find("none")
      if (random() < 0.5) return undefined
      return {
        drafts: [spent()],
        async journaled(context) {
          if (random() < 0.5) await context.journal.find("none")
          if (random() < 0.2) throw new Error("a callback failed")
        },
      }
    },
    async beforeRequest({ request }) {
      if (random() < 0.2) await request()
      return undefined
    },
    async afterResponse() {
      await wait(0)
      return { drafts: [spent()] }
    },
  }
}

const answer = (id: string) => ({
  ...{ id: `msg_${id}`, model: "claude-opus-4-6", stop_reason: "tool_use" },
  content: [
    { type: "text", text: `<${id} a>` },
    { type: "tool_use", id, name: "Read", input: {} },
  ],
  usage: { input_tokens: 1, output_tokens: 1 },
})

/** Resolves with the acknowledged texts. */
async function play(chat: Conversation, random: Random): Promise<readonly string[]> {
  const acknowledged: string[] = []
  const done = (text: string, call: Promise<unknown>) =>
    call.then(
      () => acknowledged.push(text) > 0,
      () => false,
    )
  async function turn(id: string): Promise<void> {
    await chat.prepare().catch(() => undefined)
    const isRecorded = await done(`<${id} a>`, chat.record(answer(id)))
    const result = [{ type: "tool_result", tool_use_id: id, content: `<${id} b>` }] as const
    if (isRecorded) await done(`<${id} b>`, chat.add(result))
  }
  for (let round = 0; round < ROUNDS; round++) {
    const calls = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, at) => {
      const id = `call_${round}_${at}`
      const choice = random()
      if (choice < 0.25) return done(`<${id}>`, chat.add(`<${id}>`))
      if (choice < 0.5) return done(`<${id}>`, chat.enqueue(`<${id}>`))
      return choice < 0.6 ? chat.prepare().catch(() => undefined) : turn(id)
    })
    await Promise.all(calls)
  }
  await chat.whenIdle()
  return acknowledged
}

test("BEY-12 calls side by side on a store that fails at random lose nothing that was acknowledged, and repeat nothing", async () => {
  for (const seed of everyNth([...Array(SEEDS).keys()], 70, 1)) {
    const random = randomFrom(seed)
    const kept = memoryStore()
    const { store, faults } = failing(kept, random)
    const chat = await openTestConversation({ store, layers: [restless(random)] })
    await chat.add("Begin.")
    faults.isOn = true
    const acknowledged = await play(chat, random)
    faults.isOn = false
    const live = JSON.stringify(await chat.prepare())
    await chat.close()
    const again = await openTestConversation({ store: kept })
    const resumed = JSON.stringify(await again.prepare())
    const entries = await entriesOf(again)
    await again.close()
    const uuids = new Set(entries.map(({ uuid }) => uuid))
    const times = acknowledged.map((text) => [text, resumed.split(text).length - 1])
    const orphans = entries.filter(({ parentUuid }) => parentUuid && !uuids.has(parentUuid))
    const found = { wrong: times.filter(([, count]) => count !== 1), orphans, repeated: entries.length - uuids.size }
    expect({ seed, ...found }).toEqual({ seed, wrong: [], orphans: [], repeated: 0 })
    expect(resumed, `seed ${seed}`).toBe(live)
  }
})
