import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { size } from "../../test/size.ts"
import { MemorySearch, type SearchableMemory } from "./memory-search.ts"

const NOW = new Date("2026-03-10T12:00:00Z")

function memory(file: string, body: string, more: Partial<SearchableMemory> = {}): SearchableMemory {
  const time = "2026-01-01T00:00:00.000Z"
  return {
    file,
    name: file.replace(/\.md$/, ""),
    description: "",
    type: "project",
    created: time,
    confirmed: time,
    body,
    ...more,
  }
}

function searchIn(memories: readonly SearchableMemory[]): MemorySearch<SearchableMemory> {
  const search = new MemorySearch(memories)
  onTestFinished(() => search.close())
  return search
}

const files = (search: MemorySearch<SearchableMemory>, text: string, includeRetired = false) =>
  search.search({ text, now: NOW, includeRetired }).map(({ memory: { file } }) => file)

test("L5-7 finds memories by title, description and body, each once", () => {
  const search = searchIn([
    memory("release-process.md", "Tag, then publish."),
    memory("staging.md", "Runs on port 7071.", { description: "the staging server" }),
    memory("lunch.md", "At noon. ".repeat(400)),
  ])
  expect(files(search, "how do we release?")).toEqual(["release-process.md"])
  expect(files(search, "which port does the staging server use?")).toEqual(["staging.md"])
  expect(files(search, "noon")).toEqual(["lunch.md"])
})

test("L5-7 a memory that was confirmed lately is above the same one from long ago", () => {
  const search = searchIn([
    memory("a-old.md", "We deploy with make.", { confirmed: "2024-01-01T00:00:00.000Z" }),
    memory("b-new.md", "We deploy with make.", { confirmed: "2026-03-01T00:00:00.000Z" }),
  ])
  expect(files(search, "how to deploy")).toEqual(["b-new.md", "a-old.md"])
})

test("L5-7 an update indexes what changed and forgets what is gone", () => {
  const search = searchIn([memory("a.md", "alpha"), memory("b.md", "beta")])
  search.update([memory("a.md", "gamma"), memory("c.md", "delta")])
  expect(["alpha", "beta", "gamma", "delta"].map((word) => files(search, word))).toEqual([[], [], ["a.md"], ["c.md"]])
})

test("L5-7 of many new memories the newest are found at once, the others once they are indexed in slices", async () => {
  const many = Array.from({ length: 200 }, (_, at) =>
    memory(`m${at}.md`, `word${at}x`, { confirmed: new Date(Date.UTC(2026, 0, 1) + at * 60_000).toISOString() }),
  )
  const search = searchIn([])
  search.update(many, 10)
  expect([files(search, "word199x"), files(search, "word3x")]).toEqual([["m199.md"], []])
  while (files(search, "word3x").length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(files(search, "word3x")).toEqual(["m3.md"])
})

test("L5-11 what a replaced memory matches counts for its successor", () => {
  const search = searchIn([
    memory("ci-jenkins.md", "CI runs on Jenkins.", { supersededBy: "ci-actions.md" }),
    memory("ci-actions.md", "The pipeline moved to hosted runners."),
  ])
  expect(files(search, "Jenkins")).toEqual(["ci-actions.md"])
  expect(files(search, "Jenkins", true)).toEqual(["ci-actions.md", "ci-jenkins.md"])
})

test("L5-11 either of the two memories may name the other, and a circle does no harm", () => {
  const old = memory("old.md", "port 80")
  expect(files(searchIn([old, memory("new.md", "port 81", { supersedes: ["old.md"] })]), "port 80", true)).toEqual([
    "new.md",
    "old.md",
  ])
  const circle = [
    memory("x.md", "port 80", { supersededBy: "y.md" }),
    memory("y.md", "port 81", { supersededBy: "x.md" }),
  ]
  expect(files(searchIn(circle), "port")).toHaveLength(1)
  expect(files(searchIn([memory("alone.md", "port 80", { supersededBy: "deleted.md" })]), "port")).toEqual([])
})

test("L5-11 in random chains, no replaced memory is above its successor", () => {
  const word = fc.constantFrom("port", "deploy", "staging", "token", "cache", "retry", "queue")
  const bodies = fc.array(fc.array(word, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 8 })
  fc.assert(
    fc.property(bodies, fc.array(fc.nat(20), { minLength: 8, maxLength: 8 }), word, (texts, links, asked) => {
      const memories = texts.map((text, at) =>
        memory(
          `${at}.md`,
          text.join(" "),
          links[at]! < texts.length && links[at]! > at ? { supersededBy: `${links[at]}.md` } : {},
        ),
      )
      const search = new MemorySearch(memories)
      const order = search
        .search({ text: asked, now: NOW, includeRetired: true, limit: 100 })
        .map(({ memory: { file } }) => file)
      search.close()
      for (const { file, supersededBy } of memories) {
        if (supersededBy === undefined || !order.includes(file)) continue
        const successor = order.indexOf(supersededBy)
        expect(successor === -1 || successor < order.indexOf(file)).toBe(true)
      }
    }),
    { numRuns: size(25, 100) },
  )
})
