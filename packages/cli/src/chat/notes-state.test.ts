import { describe, expect, test } from "vitest"
import { describeCompactionState, describeNotes, describePlanner } from "./notes-state.ts"

const STATE = { count: 0, failures: 0, maxFailures: 3, at: 167_000, mayByHand: true }

describe("L4-3, L4-35 the state of compaction", () => {
  test.each([
    [{}, "Strata compacts automatically at 167K tokens."],
    [
      { plannedAt: 92_000 },
      "Strata compacts automatically at 167K tokens, and to save money perhaps earlier: from about 92.0K.",
    ],
    [
      { count: 2, failures: 1 },
      "Compacted 2 times. Strata compacts automatically at 167K tokens. It failed 1 time; after 3 consecutive failures it stops.",
    ],
    [
      { failures: 3 },
      "Automatic compaction has stopped after 3 consecutive failures. A successful /compact starts it again.",
    ],
    [
      { prepared: "being-written" as const },
      "Strata compacts automatically at 167K tokens. Its summary is being written while you work. Esc drops it.",
    ],
    [
      { count: 1, prepared: "ready" as const },
      "Compacted 1 time. Strata compacts automatically at 167K tokens. Its summary is ready. Esc drops it.",
    ],
    [{ at: undefined }, "Automatic compaction is off. /compact still works."],
    [{ at: undefined, mayByHand: false }, "Compaction is switched off."],
  ])("%j", (more, sentence) => {
    expect(describeCompactionState({ ...STATE, ...more })).toBe(sentence)
  })
})

describe("BEY-4 what the planner thinks", () => {
  const until = new Date(2026, 10, 15, 14, 5)
  const planner = {
    mode: "economy",
    compaction: { where: "anywhere", due: "$0.21", spent: "$0.08" },
    cache: { state: "warm", until },
    pause: { lifetime: "1h", pings: 1, minutes: 64.5 },
    keepsWarm: true,
  } as const
  const compacts = "Planner (economy): compacts when sending old messages again has cost $0.21; so far $0.08."

  test.each([
    [planner, `${compacts} Cache: warm until 14:05, kept warm in a pause for about 1 hour.`],
    [
      { ...planner, pause: { lifetime: "5m", pings: 3, minutes: 18.5 } },
      `${compacts} Cache: warm until 14:05, kept warm in a pause for about 19 minutes.`,
    ],
    [{ ...planner, pause: { lifetime: "5m", pings: 0, minutes: 5 } }, `${compacts} Cache: warm until 14:05.`],
    [{ ...planner, keepsWarm: false }, `${compacts} Cache: warm until 14:05.`],
    [{ ...planner, cache: { state: "cold" } }, `${compacts} Cache: cold.`],
    [
      { ...planner, compaction: undefined },
      "Planner (economy): does not compact. Cache: warm until 14:05, kept warm in a pause for about 1 hour.",
    ],
    [
      {
        ...planner,
        keepsWarm: false,
        lifetimes: { forPrompt: "1h", forMessages: "1h", why: "Because of your pauses." },
      },
      `${compacts} Cache: warm until 14:05. Because of your pauses.`,
    ],
    [
      { ...planner, mode: "balanced", compaction: { where: "between-requests", from: 83_500 }, keepsWarm: false },
      "Planner (balanced): compacts from 83.5K tokens on, in a pause that costs the cache or where a new request of yours begins. Cache: warm until 14:05.",
    ],
    [{ ...planner, mode: "off" }, "The planner is off."],
  ] as const)("%j", (state, sentence) => {
    expect(describePlanner(state)).toBe(sentence)
  })
})

test("L3-7 how far the notes go, and where they are", () => {
  const notes = { kind: "taken", path: "/n.md", tokens: 2_400 } as const
  expect(describeNotes({ ...notes, after: 3 })).toBe("Notes: 2.4K tokens, up to 3 messages ago, in /n.md")
  expect(describeNotes({ kind: "taken", tokens: 2_400 })).toMatch(/, shown by \/notes$/)
  expect(describeNotes({ ...notes, after: 0 })).toBe("Notes: 2.4K tokens, up to the newest message, in /n.md")
  expect(describeNotes(notes)).toBe("Notes: 2.4K tokens, covering the time before the last compaction, in /n.md")
  expect(describeNotes({ kind: "none", first: 10_000 })).toBe(
    "There are no notes yet. Strata starts taking them at 10.0K tokens.",
  )
  expect(describeNotes({ kind: "off" })).toBe("Notes are switched off.")
})
