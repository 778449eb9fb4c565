import { describe, expect, test } from "vitest"
import { conversation } from "../../../../test/builders.ts"
import type { Entry } from "../../../journal/entries.ts"
import { createEstimator } from "../../../tokens/estimate.ts"
import type { FileRead } from "../../../tools/tool.ts"
import { ContextView } from "../../../views/context/context.ts"
import { CLEARED_MARKER } from "../../../views/context/render-decisions.ts"
import { type CandidateInput, callsShownInFull, candidates } from "./files.ts"

const seen = (more: Partial<FileRead> = {}): FileRead => ({
  content: "x",
  modifiedMs: 1,
  at: "2026-01-01T00:00:00.000Z",
  ...more,
})
const chosen = (reads: CandidateInput["reads"], more: Partial<CandidateInput> = {}) =>
  candidates({ reads, wholeCalls: new Set(), excluded: { files: [], directories: [] }, ...more }).map(
    ({ path }) => path,
  )

describe("L4-20 which files are worth reading again", () => {
  test("the most recently read first", () => {
    expect(
      chosen([
        ["/a", seen()],
        ["/b", seen()],
      ]),
    ).toEqual(["/b", "/a"])
  })

  test("not those whose full read is among the kept messages; a part that was read does not count", () => {
    const reads: CandidateInput["reads"] = [
      ["/whole", seen({ toolUseId: "kept" })],
      ["/part", seen({ toolUseId: "kept", range: { offset: 1, limit: 2 } })],
      ["/gone", seen({ toolUseId: "summarised" })],
      ["/written", seen()],
    ]
    expect(chosen(reads, { wholeCalls: new Set(["kept"]) })).toEqual(["/written", "/gone", "/part"])
  })

  test("not the plan, not memory or instruction files, nothing of Strata's own", () => {
    const paths = [
      ...["/p/plan.md", "/p/.strata/projects/x/c.jsonl", "/home/.strata", "/p/AGENTS.md", "/p/lib/CLAUDE.md"],
      ...["/p/CLAUDE.local.md", "/p/.claude/rules/style.md", "/q/.strata/rules/a.md"],
      ...["/p/.strata-notes.md", "/p/docs/plan.md", "/p/rules/a.md", "/p/..strata/a"],
    ]
    const excluded = { files: ["/p/plan.md"], directories: ["/p/.strata", "/home/.strata"] }
    expect(
      chosen(
        paths.map((path) => [path, seen()]),
        { excluded },
      ),
    ).toEqual(["/p/..strata/a", "/p/rules/a.md", "/p/docs/plan.md", "/p/.strata-notes.md"])
  })
})

describe("L4-20 which results are whole in the kept messages", () => {
  test("not those that were cleared or put aside, by decision and not by what they say", () => {
    const text = "     1\tline"
    const builder = conversation()
    for (const content of [text, "cleared", "put aside", "", `${CLEARED_MARKER} is what a file may say`])
      builder.call("Read", { file_path: "/a" }).result(content)
    const put = { subtype: "tool-result-persisted", toolUseId: "toolu_2", path: "/x", bytes: 9, head: 3, tail: 0 }
    const clear = { subtype: "tool-results-cleared", toolUseIds: ["toolu_1"], why: "size" }
    const view = new ContextView(createEstimator("unknown"))
    for (const entry of builder.messages) view.apply(entry)
    for (const decision of [put, clear]) {
      const entry = { type: "strata", uuid: decision.subtype, parentUuid: null, timestamp: "", ...decision }
      view.apply(entry as Entry)
    }
    const whole = callsShownInFull(view.storedMessages(), (toolUseId) => view.isWhole(toolUseId))
    expect([...whole]).toEqual(["toolu_0", "toolu_3", "toolu_4"])
  })
})
