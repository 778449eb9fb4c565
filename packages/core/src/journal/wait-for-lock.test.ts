import { expect, test } from "vitest"
import { manualClock } from "../base/clock.ts"
import { ConversationLockedError } from "../base/errors.ts"
import { openConversation } from "../conversation/open.ts"
import { memoryStore } from "./in-memory/store.ts"

/** A clock whose timers fire at once, and a store with one open conversation. */
async function busy() {
  const clock = manualClock()
  const store = memoryStore()
  const given = { store, id: "c", project: "p", model: "claude-opus-5-5", memory: { owner: "anna" }, env: {} } as const
  const first = await openConversation(given)
  await first.add("Hello")
  return { clock, first, given }
}

test("BEY-12 a conversation that someone else has open is waited for, and opened with their messages", async () => {
  const { clock, first, given } = await busy()
  const pauses: number[] = []
  const after = (ms: number, call: () => void) => {
    pauses.push(ms)
    void (pauses.length === 3 ? first.close() : Promise.resolve()).then(call)
    return () => {}
  }
  await using second = await openConversation({ ...given, lockTimeoutMs: 1_000, clock: { now: clock.now, after } })
  expect(pauses.slice(0, 3)).toEqual([10, 20, 40])
  expect(second.userMessages().messages.map(({ text }) => text)).toEqual(["Hello"])
})

test("BEY-12 patience has an end, and without it the error comes at once", async () => {
  const { clock, first, given } = await busy()
  let waited = 0
  const after = (ms: number, call: () => void) => {
    waited += ms
    queueMicrotask(call)
    return () => {}
  }
  const opening = (patience?: number) =>
    openConversation({
      ...given,
      clock: { now: clock.now, after },
      ...(patience === undefined ? {} : { lockTimeoutMs: patience }),
    })
  await expect(opening()).rejects.toThrow(ConversationLockedError)
  expect(waited).toBe(0)
  await expect(opening(500)).rejects.toThrow(ConversationLockedError)
  expect(waited).toBeGreaterThanOrEqual(500)
  await first.close()
})
