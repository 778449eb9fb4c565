/** Checks that the API reference and the events page name exactly the members of the declarations. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { exportedNames } from "../checks/structure/exported-names.ts"
import { membersOf, sectionOf, tableRows, unionEvents } from "./declarations.ts"

const root = join(import.meta.dirname, "../..")
const read = (path: string) => readFileSync(join(root, path), "utf8")
const source = (path: string) => read(`packages/core/src/${path}`)
const api = read("docs/api.md")
const events = read("docs/events.md")
const sorted = (names: Iterable<string>) => [...names].toSorted()

describe("the API reference", () => {
  const exportsOf = (file: string) => {
    const { values } = exportedNames(join(root, file), (path) => readFileSync(path, "utf8"))
    return values
  }
  const fileOf = (specifier: string) => {
    const [, folder = "", subpath = ""] = /^@strata\/(\w+)(\/.+)?$/.exec(specifier) ?? []
    const { exports } = JSON.parse(read(`packages/${folder}/package.json`)) as { exports: Record<string, string> }
    return join("packages", folder, exports[`.${subpath}`]!)
  }
  const elsewhere = [...sectionOf(api, "## Entries").matchAll(/^\| `(@[^`]+)` \| (.+) \|$/gm)].map(
    ([, specifier, names]) => ({ specifier: specifier!, names: names! }),
  )

  test("names every function, class and constant of the package's root, and nothing that no entry has", () => {
    const ofRoot = exportsOf("packages/core/src/index.ts")
    const named = new Set([...api.matchAll(/`(\w+)[^`]*`/g)].map(([, name]) => name!))
    expect(ofRoot.filter((name) => !named.has(name))).toEqual([])
    const sections = ["## Functions", "## Errors"].map((heading) => tableRows(sectionOf(api, heading)))
    const listed = sections.flatMap((rows) => [...rows.keys()])
    const exported = new Set([...ofRoot, ...elsewhere.flatMap(({ specifier }) => exportsOf(fileOf(specifier)))])
    expect(listed.filter((name) => !exported.has(name))).toEqual([])
  })

  test("says of each name outside the root which entry has it", () => {
    for (const { specifier, names: cell } of elsewhere) {
      const names = [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!)
      const exported = exportsOf(fileOf(specifier))
      expect(
        names.filter((name) => !exported.includes(name)),
        specifier,
      ).toEqual([])
    }
  })

  test.each([
    ["## Options of openConversation", [["conversation/options.ts", "ConversationOptions"]]],
    [
      "## Options of openAgent",
      [
        ["agent/options.ts", "SingleAgentOptions"],
        ["team/open-team.ts", "AgentOptions"],
      ],
    ],
    ["## Conversation", [["conversation/conversation.ts", "Conversation"]]],
    [
      "## Agent",
      [
        ["agent/agent.ts", "Agent"],
        ["team/open-team.ts", "TeamAgent"],
      ],
    ],
    ["## Tools", [["tools/tool.ts", "Tool"]]],
  ] as const)("%s lists the members of the declaration", (heading, declarations) => {
    const members = declarations.flatMap(([file, name]) => membersOf(source(file), name))
    expect(sorted(tableRows(sectionOf(api, heading)).keys())).toEqual(sorted(members))
  })
})

describe("the events page", () => {
  const rowsHaveFields = (section: string, declared: ReadonlyMap<string, readonly string[]>) => {
    const rows = tableRows(section)
    for (const [event, fields] of declared)
      for (const field of fields) expect(rows.get(event), `${event} has ${field}`).toContain(`\`${field}\``)
  }

  test("lists every event of a query with its fields", () => {
    const declared = unionEvents(source("agent/loop/query-events.ts"), "QueryEvent", "type")
    const section = sectionOf(events, "## Events of a query").split("\n### ")[0]!
    expect(sorted(tableRows(section).keys())).toEqual(sorted(declared.keys()))
    rowsHaveFields(section, declared)
  })

  test("lists every end of a query with its fields", () => {
    const declared = unionEvents(source("agent/loop/query-events.ts"), "QueryEnd", "reason")
    const section = sectionOf(events, "### How a query ends")
    expect(sorted(tableRows(section).keys())).toEqual(sorted(declared.keys()))
    rowsHaveFields(section, declared)
  })

  test("lists every event of a conversation", () => {
    const section = sectionOf(events, "## Events of a conversation").split("\n### ")[0]!
    expect(sorted(tableRows(section).keys())).toEqual(
      sorted([
        ...membersOf(source("conversation/events.ts"), "ConversationEvents"),
        ...membersOf(source("layers/pipeline.ts"), "LayerEvents"),
      ]),
    )
  })
})
