import { describe, expect, test } from "vitest"
import { scratchDirectory } from "../../test/tool-context.ts"
import { manualClock } from "../base/clock.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import type { Store } from "../journal/store.ts"
import {
  type CountedConversation,
  type MemoryWorkAdmission,
  type MemoryWorkRequest,
  type MemoryWorkReservation,
  memoryBudget,
} from "./memory-budget.ts"

const MINUTE = 60_000
const STORES: Readonly<Record<string, () => () => Store>> = {
  files() {
    const root = scratchDirectory()
    return () => fileStore({ root })
  },
  memory() {
    const store = memoryStore()
    return () => store
  },
}

function counted(id: string, more: Partial<CountedConversation> = {}): CountedConversation {
  const said = more.said ?? 1
  return { project: "app", id, from: 0, said, tokensFrom: (from) => 10 * (said - from), spent: 1, memory: 0, ...more }
}

function stage(open: () => Store) {
  const clock = manualClock()
  /** A new budget, as in another process: only the file is shared. */
  const budget = () => memoryBudget(open().memories({ project: "app" }))
  const take = (own: MemoryWorkRequest["own"], more: Partial<MemoryWorkRequest> = {}) =>
    budget().take({ work: "extraction", own, limit: 5, expected: () => 0.1, now: clock.now(), ...more })
  return { clock, budget, take }
}

const taken = (answer: MemoryWorkAdmission): MemoryWorkReservation => {
  if (answer.state !== "taken") throw new Error(`it was not taken: ${JSON.stringify(answer)}`)
  return answer
}
const idsIn = (answer: MemoryWorkAdmission) => taken(answer).waiting.map(({ id }) => id)

describe.each(Object.entries(STORES))("L5-9 what memory work may cost, in %s", (_, opening) => {
  test("a first extraction waits until the conversations of the memory have spent enough together, then it has all that waits", async () => {
    const { take } = stage(opening())
    expect(await take(counted("a"))).toMatchObject({ state: "wait", taken: 0, limit: 5 })
    const asked: string[] = []
    const expected: MemoryWorkRequest["expected"] = (waiting) => {
      asked.push(...waiting.map(({ id, tokens }) => `${id}: ${tokens}`))
      return 0.1
    }
    expect(idsIn(await take(counted("b"), { expected }))).toEqual(["a"])
    expect(asked).toEqual(["a: 10"])
  })

  test("what the extraction did cost is counted in place of what was expected; a refused one has cost nothing", async () => {
    const { take } = stage(opening())
    await take(counted("a"))
    await taken(await take(counted("b"))).settle(0)
    // 2 dollars were spent, none of them on memory: 5% of 2.1 is available again, and no more
    expect(await take(counted("c", { spent: 0 }), { expected: () => 0.106 })).toMatchObject({ state: "wait", taken: 0 })
    await taken(await take(counted("c", { spent: 0 }))).settle(0.2)
    expect(await take(counted("d"))).toMatchObject({ state: "wait", taken: (100 * 0.2) / 3.2 })
  })

  test("two at once: one has it, the other one waits; what was looked at is not looked at again", async () => {
    const { take } = stage(opening())
    await take(counted("a", { spent: 2, said: 3 }), { limit: 0 })
    const answers = await Promise.all([take(counted("b", { spent: 5 })), take(counted("c", { spent: 5 }))])
    expect(answers.map(({ state }) => state).sort()).toEqual(["busy", "taken"])
    const one = answers.find(({ state }) => state === "taken")!
    const by = answers.indexOf(one) === 0 ? "b" : "c"
    const other = by === "b" ? "c" : "b"
    expect(idsIn(one)[0]).toBe("a")
    await taken(one).settle(0.1, [
      { id: "a", messageCount: 3, remainingTokens: 0 },
      { id: by, messageCount: 1, remainingTokens: 0 },
    ])
    const next = taken(await take(counted(other, { spent: 5 })))
    expect(next.waiting).toEqual([])
    await next.settle(0.1, [{ id: other, messageCount: 1, remainingTokens: 0 }])
    // it continues: messages that others examined are not examined again
    expect(await take(counted("a", { spent: 4, said: 3 }))).toEqual({ state: "nothing" })
    expect(taken(await take(counted("a", { spent: 4, said: 4 }))).from).toBe(3)
  })

  test("work of a killed process ends after ten minutes: what waited waits again, and its expected cost stays counted", async () => {
    const { clock, take } = stage(opening())
    await take(counted("a"))
    expect(idsIn(await take(counted("b", { spent: 2 })))).toEqual(["a"])
    expect(await take(counted("c", { spent: 10 }))).toEqual({ state: "busy" })
    clock.advance(11 * MINUTE)
    expect(await take(counted("c", { spent: 10 }), { limit: 1 })).toMatchObject({ taken: (100 * 0.1) / 13.1 })
    const share = taken(await take(counted("c", { spent: 10 })))
    expect(share.waiting.map(({ id }) => id)).toEqual(["a", "b"])
    // a conversation that resumes immediately need not wait for itself
    expect(idsIn(await take(counted("c", { spent: 10 })))).toEqual(["a", "b"])
  })

  test("dreams and extractions take from one share, and a dream leaves what waits", async () => {
    const { take } = stage(opening())
    const dream = taken(await take({ project: "app", id: "a", spent: 2, memory: 0 }, { work: "dream" }))
    expect(await take(counted("b", { spent: 1 }))).toMatchObject({ state: "wait", taken: (100 * 0.1) / 3.1 })
    await dream.settle(0)
    expect((await take(counted("b", { spent: 1 }))).state).toBe("taken")
    expect(idsIn(await take(counted("c", { spent: 100 }), { now: new Date("2030-01-01") }))).toEqual(["b"])
  })

  test("a message that was taken back and is repeated counts as new", async () => {
    const { take } = stage(opening())
    const share = taken(await take(counted("a", { spent: 10, said: 3 })))
    await share.settle(0.1, [{ id: "a", messageCount: 3, remainingTokens: 0 }])
    expect(await take(counted("a", { spent: 10, said: 3, from: 3 }))).toEqual({ state: "nothing" })
    expect(taken(await take(counted("a", { spent: 10, said: 3, from: 2 }))).from).toBe(2)
  })

  test("the list is bounded: 300 conversations, those that wait for nothing go first; a damaged one counts as empty, and one of an earlier version is read", async () => {
    const open = opening()
    const { budget, take } = stage(open)
    const files = open().memories({ project: "app" })
    const row = (at: number) => ({ ...counted(`c${at}`), looked: 0, tokens: at === 7 ? 0 : 10 })
    const conversations = Array.from({ length: 300 }, (_, at) => row(at))
    await files.install([{ path: ".waiting.json", text: JSON.stringify({ conversations }) }])
    for (const id of ["x", "y"]) await budget().note(counted(id))
    const kept = JSON.parse((await files.read(".waiting.json"))!).conversations as { id: string }[]
    expect(kept).toHaveLength(300)
    expect(kept.map(({ id }) => id)).toEqual(expect.not.arrayContaining(["c7", "c0"]))
    expect(kept.at(-1)!.id).toBe("y")
    await files.install([{ path: ".waiting.json", text: '{"conversations": [{"id": 3}], "underWay": "x"' }])
    await budget().note(counted("z"))
    const earlier = { waiting: [{ project: "app", id: "old", from: 1, said: 3, spent: { weighed: 5 } }], looked: [] }
    await files.install([{ path: ".waiting.json", text: JSON.stringify(earlier) }])
    expect(taken(await take(counted("z", { spent: 10 }))).waiting).toMatchObject([{ id: "old", looked: 1, said: 3 }])
  })
})
