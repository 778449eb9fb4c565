/** Rules that a user states in one conversation of the library are in the first request of the next one. */
import { describe, expect, onTestFinished, test } from "vitest"
import { manualClock } from "../../../src/base/clock.ts"
import { openConversation } from "../../../src/conversation/open.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import { project } from "../agent/agents.ts"

function user(store: ReturnType<typeof memoryStore> | undefined) {
  const where = { ...project(), ...(store ? { store } : {}) }
  /** Sends the texts one after the other without waiting for background work. Resolves with the first request. */
  return async function says(id: string, ...texts: readonly string[]): Promise<string> {
    const chat = await openConversation({
      ...{ model: "claude-opus-4-6", id, env: {}, clock: manualClock(), ...where, memory: { owner: "ada" } },
      settings: { flush: "never" },
    })
    onTestFinished(() => chat.close())
    const requests: string[] = []
    for (const [at, text] of texts.entries()) {
      await chat.add(text)
      requests.push(JSON.stringify((await chat.prepare()).messages.at(-1)))
      await chat.record({ id: `msg_${id}_${at}`, content: [{ type: "text", text: "All right." }] })
    }
    await chat.whenIdle()
    await chat.close()
    return requests[0]!
  }
}

const datedLines = (request: string): readonly string[] =>
  [...request.matchAll(/\\n\d+ \w{3}: (.*?)(?=\\n)/g)].map(([, line]) => line!).sort()

describe.each([
  ["files", undefined],
  ["memory", memoryStore()],
] as const)("L5-13 rules said in a row, in %s", (_, store) => {
  test("each is one line of the next conversation, a later one replaces an earlier one, and nothing else is there", async () => {
    const says = user(store)
    await says(
      "monday",
      "From now on, always answer in French.",
      "I prefer tabs.",
      "When I ask about SQL, include an index hint.",
      "How can I make sure my chart renders?",
      "I'm trying to fix the build.",
    )
    expect(datedLines(await says("tuesday", "thanks!"))).toEqual([
      "From now on, always answer in French.",
      "I prefer tabs.",
      "When I ask about SQL, include an index hint.",
    ])
    await says("wednesday", "From now on, always answer in German.", "I prefer spaces.")
    expect(datedLines(await says("thursday", "continue"))).toEqual([
      "From now on, always answer in German.",
      "I prefer spaces.",
      "When I ask about SQL, include an index hint.",
    ])
  })
  test("L5-14 preferences and facts are there too, each without the question after it, and one about something else casts no doubt", async () => {
    const says = user(store && memoryStore())
    await says(
      "friday",
      "I prefer tea to coffee, can you name a shop?",
      "I'm vegetarian.",
      "I'm a bit stuck.",
      "I'd rather walk than drive.",
    )
    await says(
      "saturday",
      "I prefer sqlite over postgres for small services, how do I set it up?",
      "I hate phone calls.",
    )
    expect(datedLines(await says("sunday", "hello"))).toEqual([
      "I hate phone calls.",
      "I prefer sqlite over postgres for small services",
      "I prefer tea to coffee",
      "I'd rather walk than drive.",
      "I'm vegetarian.",
    ])
  })
})
