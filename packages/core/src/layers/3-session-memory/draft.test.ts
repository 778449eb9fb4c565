import { describe, expect, test } from "vitest"
import { type NotesDraft, type NotesDraftEvent, nextDraft, type ReadyNotes, type RunningUpdate } from "./draft.ts"

const work = { startedAt: new Date(0), done: Promise.resolve(), stop: new AbortController() } satisfies RunningUpdate
const MAX = 5

/** Events whose texts differ from step to step. */
const events = (step: number): readonly NotesDraftEvent[] => [
  { is: "begun", reason: "near", work },
  { is: "written", text: { through: `m${step}`, boundary: undefined, unfit: 0 } },
  { is: "stopped" },
  { is: "refused", reason: "failed", size: 100 },
  { is: "unfit", size: 100 },
  { is: "moved" },
]

interface Walk {
  readonly before: NotesDraft
  readonly event: NotesDraftEvent
  readonly after: NotesDraft
}

/** Every step of every sequence of up to five events. */
function* steps(draft: NotesDraft = { state: "none" }, depth = 0): Generator<Walk> {
  if (depth === MAX) return
  for (const event of events(depth)) {
    if (draft.state === "writing" && event.is === "begun") continue // only one update runs at a time
    const after = nextDraft(draft, event)
    yield { before: draft, event, after }
    yield* steps(after, depth + 1)
  }
}

const textOf = (draft: NotesDraft): ReadyNotes | undefined => (draft.state === "none" ? undefined : draft.text)

describe("L3-3 the summary in the making, over all sequences of up to five events", () => {
  const walked = [...steps()]

  test("a text is lost only where the conversation has moved, and replaced only by what was written", () => {
    expect(walked.length).toBeGreaterThan(5_000)
    for (const { before, event, after } of walked) {
      const [had, has] = [textOf(before), textOf(after)]
      if (had && !has) expect(event.is).toBe("moved")
      if (has && has.through !== had?.through) expect(event.is).toBe("written")
    }
  })

  test("what is ready has a text, and nothing is writing but what has begun", () => {
    for (const { before, event, after } of walked) {
      if (after.state === "ready") expect(after.text).toBeDefined()
      if (after.state === "writing") expect(event.is === "begun" || before === after).toBe(true)
    }
  })

  test("a text that could not be installed twice rests, and a new one begins without that", () => {
    for (const { event, after } of walked) {
      if (after.state === "ready") expect(after.text.unfit).toBeLessThan(2)
      if (event.is === "written") expect(textOf(after)!.unfit).toBe(0)
    }
    const twice = (["unfit", "unfit"] as const).reduce<NotesDraft>(
      (draft, is) => nextDraft(draft, { is, size: 7 }),
      nextDraft({ state: "none" }, events(0)[1]!),
    )
    expect(twice).toMatchObject({ state: "resting", reason: "unfit-twice", since: 7 })
  })

  test("where it was refused or stopped, the text before it is still there", () => {
    const ready = nextDraft({ state: "none" }, events(0)[1]!)
    const writing = nextDraft(ready, { is: "begun", reason: "grown", work })
    expect(nextDraft(writing, { is: "stopped" })).toEqual(ready)
    expect(nextDraft(writing, { is: "refused", reason: "failed", size: 9 })).toMatchObject({
      state: "resting",
      text: { through: "m0" },
    })
    expect(nextDraft(writing, { is: "moved" })).toEqual({ state: "none" })
  })
})
