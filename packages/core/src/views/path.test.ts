import { expect, test } from "vitest"
import { conversation } from "../../test/builders.ts"
import type { DecisionEntry } from "../journal/entries.ts"
import { ParentLinks } from "./path.ts"

const decided = (parentUuid: string, decision: object): DecisionEntry =>
  ({
    type: "strata",
    uuid: `d-${parentUuid}`,
    parentUuid,
    timestamp: "2026-01-01T00:00:00Z",
    ...decision,
  }) as DecisionEntry

test("JRN-2 a compaction that was cut after it shortened results does not count; its last entry makes it count", () => {
  const { messages } = conversation()
    .user("go")
    .say("done")
    .boundary({ toolsDiscovered: [] })
    .user("Summary.", { isCompactSummary: true })
  const [, answer, boundary, summary] = messages
  const links = new ParentLinks()
  for (const message of messages) links.add(message)
  links.add(decided(summary!.uuid, { subtype: "tool-results-shortened", results: [] }))
  expect(links.head).toBe(answer!.uuid)
  links.add(decided(summary!.uuid, { subtype: "compacted", boundary: boundary!.uuid, kept: [] }))
  expect(links.head).toBe(summary!.uuid)
})
