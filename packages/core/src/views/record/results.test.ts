import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { isWhole } from "../../../test/size.ts"
import type { Entry } from "../../journal/entries.ts"
import { handleOf } from "../../messages/media.ts"
import { project } from "../projection.ts"
import { renderResultLine, results } from "./names.ts"

const LOG = `${"nothing of note here\n".repeat(30)}the drain failed with ERR_DRAIN_7 at OPS-4711\n`
const decided = (decision: object) =>
  ({ type: "strata", uuid: "d", parentUuid: null, timestamp: "", ...decision }) as unknown as Entry

const read = () =>
  conversation().call("Bash", { command: "./drain.sh" }).result(LOG).call("Read", { file_path: "/a" }).result("short")
const idOf = (nth: number) => `toolu_${nth}`

describe("L4-30 the results view: what tools returned, one line each", () => {
  test("a line has the handle, the tool, what it was about and what is exact in it; a short result has none", () => {
    const { messages } = read()
    const { lines } = project(results, messages)
    expect([...lines.keys()]).toEqual([idOf(0)])
    const line = renderResultLine(lines.get(idOf(0))!)
    expect(line).toContain(handleOf(messages[1]!.uuid))
    expect(line).toMatch(/Bash \.\/drain\.sh \(\d+ characters\): .*ERR_DRAIN_7.*OPS-4711/)
  })

  test.each([
    [
      "this program, with a residue",
      { subtype: "tool-results-cleared", toolUseIds: [idOf(0)], why: "size", residues: { [idOf(0)]: "OPS-4711" } },
    ],
    ["the server's cache", { subtype: "tool-results-cleared", toolUseIds: [idOf(0)], why: "cache-edit" }],
  ])("whoever clears a result, its line stays: %s", (_, decision) => {
    const { lines } = project(results, [...read().messages, decided(decision)])
    expect(lines.get(idOf(0))).toMatchObject({ shown: "residue", telling: expect.stringContaining("OPS-4711") })
  })

  test("the server says from where on it kept results: those before it were cleared", () => {
    const { messages } = conversation()
      .call("Bash", { command: "a" })
      .result(LOG)
      .call("Bash", { command: "b" })
      .result(LOG)
    const { lines } = project(results, [
      ...messages,
      decided({ subtype: "server-edited", edits: [], keptFrom: idOf(1) }),
    ])
    expect([...lines.values()].map(({ shown }) => shown)).toEqual(["residue", "whole"])
  })

  test.runIf(isWhole)("it is bounded: what the model saw whole is forgotten first", () => {
    const long = conversation()
    for (let nth = 0; nth < 420; nth++) long.call("Bash", { command: `run ${nth}` }).result(`${LOG} ${nth}`)
    const [call, result, ...rest] = long.messages
    const persisted = decided({
      subtype: "tool-result-persisted",
      toolUseId: idOf(0),
      path: "/p",
      bytes: 9,
      head: 1,
      tail: 1,
    })
    const { lines } = project(results, [call!, result!, persisted, ...rest])
    expect(lines.size).toBe(400)
    expect(lines.get(idOf(0))).toMatchObject({ shown: "preview" })
    expect(lines.has(idOf(1))).toBe(false)
  })
})
