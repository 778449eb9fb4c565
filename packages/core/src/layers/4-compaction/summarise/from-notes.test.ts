import { describe, expect, test } from "vitest"
import { createFlags } from "../../../settings/flags.ts"
import { DEFAULT_SETTINGS } from "../../../settings/settings.ts"
import type { RouteInput } from "./route.ts"
import { fromNotes } from "./route.ts"

const STARTED = new Date("2026-01-01T00:00:00.000Z")

/** Starts a compaction this many seconds after an update of the notes began. Waits do not end by themselves. */
function compactingAfter(seconds: number) {
  const update = Promise.withResolvers<void>()
  const limit = Promise.withResolvers<void>()
  const waits: { readonly ms: number; readonly signal: AbortSignal }[] = []
  let isRead = false
  const route = fromNotes({
    source: {
      draft: { runningUpdate: { startedAt: STARTED, done: update.promise, stop: new AbortController() } },
      summary: async () => {
        isRead = true
        return undefined
      },
    },
    wait: (ms, signal) => {
      waits.push({ ms, signal })
      return limit.promise
    },
  })
  const context = {
    fill: { used: 0, state: "blocked" },
    flags: createFlags({ settings: DEFAULT_SETTINGS }).current,
    now: new Date(STARTED.getTime() + seconds * 1_000),
    signal: new AbortController().signal,
  }
  const outcome = route.summarise({ context, order: { trigger: "auto" } } as unknown as RouteInput)
  return { outcome, update, limit, waits, isRead: () => isRead }
}

const PASSED = { kind: "passed", message: "there are no notes" }
const untilItRests = () => new Promise((resolve) => setImmediate(resolve))

describe("L4-5 notes that are being taken", () => {
  test("are waited for, and read when they are there", async () => {
    const { outcome, update, waits, isRead } = compactingAfter(60)
    await untilItRests()
    expect(isRead()).toBe(false)
    update.resolve()
    expect(await outcome).toEqual(PASSED)
    expect(isRead()).toBe(true)
    expect(waits[0]!.signal.aborted).toBe(true) // no timer is left running
  })

  test("are waited for 15 s at most", async () => {
    const { outcome, limit, waits, isRead } = compactingAfter(1)
    await untilItRests()
    expect(waits).toMatchObject([{ ms: 15_000 }])
    expect(isRead()).toBe(false)
    limit.resolve()
    expect(await outcome).toEqual(PASSED)
  })

  test("for more than 60 s already are not waited for", async () => {
    const { outcome, waits } = compactingAfter(60.001)
    expect(await outcome).toEqual(PASSED)
    expect(waits).toEqual([])
  })
})
