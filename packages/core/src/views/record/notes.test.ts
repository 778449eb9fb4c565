import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import type { DecisionEntry } from "../../journal/entries.ts"
import { project } from "../projection.ts"
import { notes } from "./decisions.ts"

const updated = {
  type: "strata",
  subtype: "notes-updated",
  uuid: "d",
  parentUuid: "m",
  timestamp: "2026-01-01T00:00:00.000Z",
  throughUuid: "m",
  path: "/n.md",
  tokens: 700,
  contextTokens: 20_000,
} satisfies DecisionEntry

const response = (size: number) =>
  conversation().say("ok", { usage: { input_tokens: size - 5, output_tokens: 5 } }).messages[0]!

describe("the notes view", () => {
  test("L3-6 holds what the last update recorded", () => {
    expect(project(notes, [])).toEqual({})
    expect(project(notes, [response(9_000)])).toEqual({})
    expect(project(notes, [updated, response(26_000)])).toEqual({
      throughUuid: "m",
      path: "/n.md",
      tokens: 700,
      contextTokens: 20_000,
      at: "2026-01-01T00:00:00.000Z",
    })
  })

  test("L4-5, JRN-5 notes of a branch that was left move no position; what they left in the file is known", () => {
    const state = project(notes, [{ ...updated, kept: "notes-a.md" }])
    expect(notes.apply(state, { ...updated, uuid: "e", throughUuid: "n", kept: "notes-b.md" }, false)).toMatchObject({
      throughUuid: "m",
      kept: "notes-a.md",
      inFile: { kept: "notes-b.md" },
    })
    expect(notes.apply(state, { ...updated, throughUuid: "o" }, true)).not.toHaveProperty("inFile")
  })

  test("L3-3 growth is measured from the smallest size since: a compaction or a clearing restarts it", () => {
    expect(project(notes, [updated, response(26_000), response(12_000), response(14_000)]).contextTokens).toBe(12_000)
    const compacted = {
      ...{ type: "strata", subtype: "compacted", uuid: "e", parentUuid: "m", timestamp: "", boundary: "b", kept: [] },
      ...{ trigger: "auto", route: "notes", tokensBefore: 30_000, tokensAfter: 8_000, threshold: 30_000 },
    } as unknown as DecisionEntry
    expect(project(notes, [updated, compacted]).contextTokens).toBe(8_000)
  })
})
