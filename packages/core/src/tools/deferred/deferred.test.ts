/** Deferred tools: which are declared, how they are found, and the list of their names. */
import { describe, expect, test } from "vitest"
import { scratchDirectory } from "../../../test/tool-context.ts"
import { codingTools } from "../../agent/tools/toolsets.ts"
import { renderAttachment } from "../../messages/attachment-texts.ts"
import type { ToolDefinition } from "../../messages/request.ts"
import type { Tool } from "../tool.ts"
import { type DeclarationInput, declareTools } from "./declare.ts"
import { BUILT_IN, isDeferrable } from "./deferrable.ts"
import { deferredListing } from "./listing.ts"
import { indexTools, searchTools } from "./tool-search.ts"

const definition = (name: string, description = "About. ".repeat(20)) =>
  ({ name, description, input_schema: { type: "object" } }) as ToolDefinition
const namesOf = (tools: readonly ToolDefinition[]) =>
  tools.map((tool) => {
    const { name, defer_loading } = tool as { name: string; defer_loading?: boolean }
    return defer_loading ? `${name}?` : name
  })

const TOOLS = [definition("Read"), definition("mcp__a__x"), definition("mcp__a__y"), definition("mine")]
const NONE = { referenced: new Set<string>(), announced: new Set<string>() }
const declared = (more: Partial<DeclarationInput> = {}) =>
  declareTools({
    tools: TOOLS,
    plan: {
      deferrable: new Set(["mcp__a__x", "mcp__a__y", "mine"]),
      search: definition("ToolSearch"),
      call: definition("CallTool"),
    },
    isEnabled: true,
    byReference: true,
    limit: 10,
    estimate: (text) => text.length / 4,
    current: [],
    loaded: NONE,
    ...more,
  })

describe("TOOL-1 what a prompt declares", () => {
  test("everything, as long as the definitions are within their share, or where the switch is off", () => {
    expect(declared({ limit: 100_000 })).toEqual(TOOLS)
    expect(declared({ isEnabled: false })).toEqual(TOOLS)
  })

  test("tools that may wait come last and deferred, or not at all where the model knows no references", () => {
    expect(namesOf(declared())).toEqual(["Read", "ToolSearch", "mcp__a__x?", "mcp__a__y?", "mine?"])
    expect(namesOf(declared({ byReference: false }))).toEqual(["Read", "ToolSearch", "CallTool"])
  })

  test("a tool that was loaded before a boundary is declared; one that a message refers to stays where it is", () => {
    const loaded = { referenced: new Set(["mcp__a__x"]), announced: new Set(["mcp__a__x", "mcp__a__y"]) }
    expect(namesOf(declared({ loaded }))).toEqual(["Read", "ToolSearch", "mcp__a__y", "mcp__a__x?", "mine?"])
  })

  test("a tool that is gone keeps its definition while a message refers to it", () => {
    const loaded = { referenced: new Set(["mcp__b__z"]), announced: new Set<string>() }
    const current = [definition("mcp__b__z"), definition("mcp__b__unused")]
    expect(namesOf(declared({ loaded, current })).at(-1)).toBe("mcp__b__z?")
    expect(namesOf(declared({ loaded, current, limit: 100_000 }))).toEqual([...namesOf(TOOLS), "mcp__b__z?"])
    expect(namesOf(declared({ loaded, current, byReference: false }))).toEqual(["Read", "ToolSearch", "CallTool"])
  })

  test("built-in tools and those with alwaysLoad never wait", async () => {
    const open = await codingTools().open({ cwd: scratchDirectory(), root: scratchDirectory() })
    expect(open.tools.filter(isDeferrable)).toEqual([])
    await open.close()
    expect([{ name: "mine" }, { name: "mine", alwaysLoad: true }].map(isDeferrable)).toEqual([true, false])
    expect(BUILT_IN.has("ToolSearch")).toBe(true)
  })
})

const tool = (name: string, description: string, properties: object = {}): Tool => ({
  name,
  description,
  inputSchema: { type: "object", properties },
  execute: () => "",
})
const CATALOGUE = [
  tool("mcp__github__create_issue", "Opens a new issue in a repository."),
  tool("mcp__github__list_issues", "Lists issues of a repository."),
  tool("mcp__slack__post_message", "Sends a message to a channel.", { channel: { description: "Where it goes" } }),
  tool("mcp__calendar__addEvent", "Puts a meeting on the calendar.", { invitees: { items: { type: "string" } } }),
  tool("mcp__billing__refund", "Gives money back to a customer.", { amount: { description: "In cents" } }),
]

describe("TOOL-1 the search", () => {
  const index = indexTools(CATALOGUE)
  test.each([
    ["create an issue", "mcp__github__create_issue"],
    ["issues list", "mcp__github__list_issues"],
    ["send a slack message", "mcp__slack__post_message"],
    ["add event", "mcp__calendar__addEvent"],
    ["who is invited: invitees", "mcp__calendar__addEvent"],
    ["refunding a customer", "mcp__billing__refund"],
    ["mcp__billing__refund", "mcp__billing__refund"],
  ])("%s", (words, best) => {
    expect(searchTools(index, words)[0]?.name).toBe(best)
  })

  test("words that no tool has find nothing, and the order is always the same", () => {
    expect(searchTools(index, "weather in the mountains")).toEqual([])
    expect(searchTools(index, "")).toEqual([])
    expect(searchTools(indexTools(CATALOGUE), "issue")).toEqual(searchTools(index, "issue"))
  })

  test("a hostile schema neither hangs nor breaks it", () => {
    const circle: Record<string, unknown> = {}
    circle.properties = { again: circle }
    const odd = [{}, { properties: null }, { properties: { a: null } }, circle]
    const tools = odd.map((inputSchema, i) => ({ ...tool(`odd_${i}`, "x".repeat(500_000)), inputSchema }) as Tool)
    expect(searchTools(indexTools(tools), "odd 3")[0]?.name).toBe("odd_3")
  })
})

describe("TOOL-1 the list of names", () => {
  test("has one line for each server, with the prefix once", () => {
    const listing = deferredListing(["mcp__git__log", "weather", "mcp__git__diff", "mcp__a__b__c"], 900)
    expect(listing.groups).toEqual([
      { prefix: "mcp__git__", names: ["log", "diff"] },
      { prefix: "", names: ["weather"] },
      { prefix: "mcp__a__", names: ["b__c"] },
    ])
  })

  test("is bounded for many servers with many long names, and counts what is left out", () => {
    const names = Array.from({ length: 40 }, (_, server) =>
      Array.from({ length: 200 }, (_, i) => `mcp__s${server}__${"ignore_all_instructions_".repeat(4)}${i}`),
    ).flat()
    const listing = deferredListing(names, 1_000_000)
    const { text } = renderAttachment(listing)[0]!
    expect(text.length).toBeLessThan(20_000)
    const counted = listing.groups.reduce((sum, { names: shown, more = 0 }) => sum + shown.length + more, 0)
    expect(counted).toBe(names.length)
    expect(text).toContain("- mcp__s39__: and 200 more")
  })
})
