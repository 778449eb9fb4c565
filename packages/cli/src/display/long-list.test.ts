/** Lists with 500 entries: on a screen the first entries and the command for the rest, in a pipe all of them. */

import type { Memory } from "@strata/core"
import type { AgentView } from "@strata/core/agent"
import type { MemoryChange } from "@strata/core/memory"
import { describe, expect, test } from "vitest"
import { listPage as agentsPage } from "../agents/page.ts"
import { attachmentsPage } from "../memory/command.ts"
import { historyPage, listPage as memoriesPage } from "../memory/page.ts"
import { shortenList } from "./long-list.ts"
import { plainStyle as style } from "./terminal.ts"

const LOOK = { style, columns: 100, now: new Date("2026-01-02T00:00:00Z") }
const many = <T>(make: (i: number) => object): readonly T[] =>
  Array.from({ length: 500 }, (_, i) => make(i) as unknown as T)

const memories = many<Memory>((i) => ({
  ...{ file: `m${i}.md`, name: `m${i}`, description: `about ${i}`, type: "project", body: "" },
  ...{ created: "2026-01-01", confirmed: "2026-01-01", source: { by: "user" }, basis: "said" },
}))
const changes = many<MemoryChange>((i) => ({
  ...{ id: `${i + 1}`, at: "2026-01-01T00:00:00Z", by: "person", why: "because", files: [] },
}))
const agents = many<AgentView>((i) => ({
  ...{ id: `agent-${i + 1}`, name: `n${i}`, kind: "fork", status: "completed", description: "task", model: "m" },
  ...{ turns: 1, toolUses: 0, started: "2026-01-01T00:00:00Z", journal: "/j" },
}))
const recalled = Array.from({ length: 500 }, (_, i) => ({ path: `m${i}.md`, from: "memory" as const, words: [] }))

const pages = {
  memories: (isShort: boolean) => memoriesPage({ memories, location: "/m", all: false }, { ...LOOK, isShort }),
  history: (isShort: boolean) => historyPage(changes, { ...LOOK, isShort }),
  agents: (isShort: boolean) => agentsPage(agents, { ...LOOK, isShort }),
  why: (isShort: boolean) =>
    attachmentsPage({ conversation: "c", standing: [], recalled: recalled as never }, { ...LOOK, isShort }),
}

describe.each(Object.entries(pages))("a list of 500: %s", (_, page) => {
  test("on a screen", () => {
    const lines = page(true)
    expect(lines.length).toBeLessThan(120)
    expect(lines.filter((line) => /… and 45\d more\. To see all: strata \w+/.test(line))).toHaveLength(1)
  })

  test("in a pipe", () => {
    const lines = page(false)
    expect(lines.length).toBeGreaterThanOrEqual(500)
    expect(lines.join("\n")).not.toContain("To see all")
  })
})

test("of many agents the newest are shown", () => {
  expect(pages.agents(true).join("\n")).toContain("agent-500 ")
})

test("a list that fits is whole", () => {
  expect(shortenList([1, 2], { isShort: true, max: 2, seeAll: "x" })).toEqual({ shown: [1, 2], rest: [] })
})
