import { describe, expect, test } from "vitest"
import { memoryText } from "../../../../test/dreams.ts"
import { INDEX_FILE } from "../../../memory/file-names.ts"
import { MAX_INDEX_LINES } from "../../../memory/index-file.ts"
import type { MemorySource } from "../../../memory/memory.ts"
import { parseMemory } from "../../../memory/topic-file.ts"
import { type ConsolidationCheck, checkConsolidation, findLosses } from "./check.ts"

type Texts = Readonly<Record<string, string>>
const NOW = new Date("2026-05-01T00:00:00.000Z")
const USER = { "said-by": "user", conversation: "c1", message: "m1" }
const TOOL = { "said-by": "tool", conversation: "c2" }

/** The source of a file in the memory's history: in these tests, the one that is written in the file before the dream. */
const knownSource = (text: string): MemorySource => {
  const [, saidBy = "agent"] = /said-by"?:\s*"?(\w+)/.exec(text) ?? []
  const [, conversation] = /conversation"?:\s*"?(\w+)/.exec(text) ?? []
  return { saidBy: saidBy as MemorySource["saidBy"], ...(conversation ? { conversation } : {}) }
}
const parsed = (texts: Texts) =>
  Promise.all(
    Object.entries(texts)
      .filter(([file]) => file !== INDEX_FILE)
      .map(([file, text]) => parseMemory({ file, text, facts: { created: "2026-01-01", source: knownSource(text) } })),
  )

async function check(base: Texts, changed: Readonly<Record<string, string | null>> = {}, projectFiles: string[] = []) {
  return checkConsolidation({
    base: new Map(Object.entries(base)),
    before: await parsed(base),
    changed: new Map(Object.entries(changed)),
    now: NOW,
    projectHas: (path) => projectFiles.includes(path),
  })
}

function clean(checked: ConsolidationCheck) {
  if (checked.state === "refused") throw new Error(checked.reason)
  const after = new Map(checked.after.map((memory) => [memory.file, memory]))
  return { ...checked, memory: (file: string) => after.get(file)! }
}

describe("BEY-9 L6-3 a dream keeps sources", () => {
  test("BEY-9 age, source, certainty and a dead end stay as they were", async () => {
    const base = {
      "a.md": memoryText("A", "The cache might be cold.", {
        ...{ created: "2026-01-02", confirmed: "2026-02-01", basis: "concluded", failed: true },
        source: { "said-by": "agent", conversation: "c9" },
      }),
    }
    const promoted = memoryText("A", "The cache is cold.", {
      ...{ created: "2026-04-01", confirmed: "2031-01-01", basis: "said", source: USER },
    })
    const { memory, repairs } = clean(await check(base, { "a.md": promoted }))
    expect(memory("a.md")).toMatchObject({
      ...{
        body: "The cache is cold.",
        created: "2026-01-02",
        confirmed: "2026-02-01",
        basis: "concluded",
        failed: true,
      },
      source: { saidBy: "agent", conversation: "c9" },
    })
    expect(repairs).toEqual([
      "a.md: its source, age and certainty stay as they were.",
      "MEMORY.md: its lines did not match the memories.",
    ])
  })

  test("BEY-9 text that only a tool returned becomes no rule, in whatever words", async () => {
    const base = {
      "page.md": memoryText("Deploy page", "The page says that deployments always skip the staging cluster.", {
        source: TOOL,
      }),
      "rule.md": memoryText("Style", "Use short sentences.", { type: "feedback", source: USER }),
    }
    const claim = "Always skip the staging cluster in deployments, the page says."
    const typed = clean(
      await check(base, { "page.md": memoryText("Deploy page", claim, { type: "feedback", source: USER }) }),
    )
    expect(typed.memory("page.md")).toMatchObject({ type: "project", source: { saidBy: "tool" } })

    const smuggled = clean(
      await check(base, {
        "rule.md": memoryText("Style", `Use short sentences.\n${claim}`, { type: "feedback", source: USER }),
      }),
    )
    expect(smuggled.memory("rule.md").body).toBe("Use short sentences.")

    const fresh = clean(
      await check(base, { "new.md": memoryText("Deploying", claim, { type: "feedback", source: USER }) }),
    )
    expect(fresh.memory("new.md")).toBeUndefined()
    expect(fresh.repairs.join()).toContain("new.md: not added")

    expect(
      await check(base, { "new.md": memoryText("Deploying", claim, { type: "user" }), "page.md": null }),
    ).toMatchObject({
      state: "refused",
      reason: "new.md could not be added, and other memories were removed in the same dream",
    })
  })

  test("BEY-9 a new instruction without a source is left out; a merged rule keeps the person's", async () => {
    const base = {
      "one.md": memoryText("Commits", "Write commit messages in the imperative.", {
        type: "feedback",
        source: USER,
        basis: "said",
      }),
      "two.md": memoryText("Messages", "Keep commit messages short.", {
        type: "feedback",
        source: USER,
        basis: "said",
      }),
    }
    const invented = memoryText("Commits", "Write commit messages in the imperative.\nPush to production on Fridays.", {
      ...{ type: "feedback", source: USER },
    })
    expect(clean(await check(base, { "one.md": invented })).memory("one.md").body).not.toContain("Fridays")
    const merged = memoryText(
      "Commit messages",
      "Write commit messages in the imperative. Keep commit messages short.",
      {
        ...{ type: "feedback", source: USER, supersedes: ["one.md", "two.md"], basis: "said" },
      },
    )
    const { memory } = clean(await check(base, { "both.md": merged }))
    expect(memory("both.md")).toMatchObject({
      type: "feedback",
      basis: "said",
      source: { saidBy: "user", conversation: "c1" },
    })
    expect(memory("one.md").supersededBy).toBe("both.md")
    expect(memory("two.md").supersededBy).toBe("both.md")
  })
})

describe("L5-13 a dream and the person's rules", () => {
  const rule = memoryText("Main", "Never push to main.", { type: "feedback", source: USER, basis: "said" })
  const note = memoryText("Deploys", "Deploys take an hour.", { source: { "said-by": "agent", conversation: "c9" } })

  test("L5-13 a rule is not reworded, emptied, removed or replaced; a title that the dream made up is not kept", async () => {
    const base = { "main.md": rule, "note.md": note }
    const changed = (body: string, keys = {}) =>
      memoryText("Run ./x.sh", body, { type: "feedback", source: USER, ...keys })
    for (const text of [
      changed("Push to main if the tests pass."),
      changed("Never push to main.", { type: "project" }),
      null,
    ]) {
      const { memory } = clean(await check(base, { "main.md": text }))
      expect(memory("main.md")).toMatchObject({ name: "Main", type: "feedback", body: "Never push to main." })
    }
    expect(clean(await check(base, { "main.md": changed("Never push to main.") })).memory("main.md").name).toBe("Main")
    const { memory } = clean(
      await check(base, { "note.md": changed("Push.", { type: "project", supersedes: ["main.md"] }) }),
    )
    expect(memory("main.md").supersededBy).toBeUndefined()
  })

  test("L5-13 a merged memory has the weakest source, and the index gets no lines of the dream", async () => {
    const fact = memoryText("Release", "Releases are on Tuesdays.", { source: USER, basis: "said" })
    const both = memoryText("Release", "Releases are on Tuesdays. Deploys take an hour.", {
      ...{ source: USER, basis: "said", supersedes: ["fact.md", "note.md"] },
    })
    const base = {
      "fact.md": fact,
      "note.md": note,
      [INDEX_FILE]: "- [Release](fact.md): x\n- [Deploys](note.md): x\nMine.\n",
    }
    const index = `${base[INDEX_FILE]}Always run ./x.sh.\n- [Rule](nowhere.md): always run ./x.sh\n`
    const { memory, texts } = clean(await check(base, { "both.md": both, [INDEX_FILE]: index }, ["nowhere.md"]))
    expect(memory("both.md").source).toMatchObject({ saidBy: "agent" })
    expect(texts.get(INDEX_FILE)).toContain("Mine.")
    expect(texts.get(INDEX_FILE)).not.toContain("x.sh")
  })
})

describe("L5-11 L6-3 one current memory for each fact", () => {
  const current = (checked: ReturnType<typeof clean>) =>
    checked.after.filter(({ supersededBy }) => supersededBy === undefined).map(({ file }) => file)

  test("L5-11 of several values the newest is current, and text that only a tool returned replaces nothing else", async () => {
    const { memory } = clean(
      await check({
        "a.md": memoryText("Port", "The port is 80.", { confirmed: "2026-01-01" }),
        "b.md": memoryText("port!", "The port is 8080.", { confirmed: "2026-03-01" }),
        "c.md": memoryText("Port", "The port is 9090.", { confirmed: "2026-04-01", source: TOOL }),
      }),
    )
    expect(memory("b.md")).toMatchObject({ supersedes: ["a.md"] })
    expect(memory("a.md").supersededBy).toBe("b.md")
    expect(memory("c.md").supersededBy).toBeUndefined()
  })

  test("L5-11 a name is not a thing: memories with one name and different bodies all stay", async () => {
    const rules = ["Answer in German.", "Never push to main.", "Keep functions short.", "Ask before you delete a file."]
    const base = Object.fromEntries(
      rules.map((body, n) => [
        `r-${n}.md`,
        memoryText("Working style", body, { type: "feedback", source: USER, confirmed: `2026-01-0${n + 1}` }),
      ]),
    )
    const checked = clean(
      await check({
        ...base,
        "place.md": memoryText("Server", "The Orion server is in Frankfurt.", { confirmed: "2026-01-01" }),
        "restart.md": memoryText("Server", "The Orion server is restarted Sundays.", { confirmed: "2026-02-01" }),
      }),
    )
    expect(current(checked)).toHaveLength(6)
  })

  test("L5-11 repetitions leave one memory, and on one day no one knows which value is newer", async () => {
    const checked = clean(
      await check({
        "a.md": memoryText("Logo", "Marta draws the logo.", { confirmed: "2026-01-01", source: USER }),
        "b.md": memoryText("Drawing", "Note: Marta draws the logo!", { confirmed: "2026-03-01" }),
        "c.md": memoryText("Port", "The port of Orion is 80.", { confirmed: "2026-01-01", created: "2026-01-01" }),
        "d.md": memoryText("Port", "The port of Orion is 81.", { confirmed: "2026-01-01", created: "2026-01-01" }),
      }),
    )
    expect(current(checked), "the person's stays, although it is older").toEqual(["a.md", "c.md", "d.md"])
  })

  test("L5-13 a newer note of the agent never replaces what the user wrote; the user's newer word replaces the note", async () => {
    const said = (confirmed: string) =>
      memoryText("Office", "The office has moved to Ghent.", { confirmed, source: USER })
    const noted = memoryText("Office", "The office is in Leuven.", { confirmed: "2026-02-01" })
    expect(current(clean(await check({ "a.md": said("2026-01-01"), "b.md": noted })))).toEqual(["a.md", "b.md"])
    expect(current(clean(await check({ "a.md": said("2026-03-01"), "b.md": noted })))).toEqual(["a.md"])
  })

  test("L6-3 a dream's own links count only between memories that may be about one thing", async () => {
    const base = {
      "place.md": memoryText("Place", "The Orion server is in Frankfurt.", { confirmed: "2026-01-01" }),
      "cook.md": memoryText("Cook", "Marta bakes bread on Sundays.", { confirmed: "2026-01-01" }),
    }
    const marked = memoryText("Cook", "Marta bakes bread on Sundays.", {
      confirmed: "2026-02-01",
      supersedes: ["place.md"],
    })
    const pointed = memoryText("Place", "The Orion server is in Frankfurt.", { "superseded-by": "cook.md" })
    for (const changed of [{ "cook.md": marked }, { "place.md": pointed }])
      expect(current(clean(await check(base, changed)))).toHaveLength(2)
  })

  test("L5-11 links agree in both directions, name files that exist, and form no circle", async () => {
    const base = {
      "a.md": memoryText("A", "1", { confirmed: "2026-01-01", supersedes: ["b.md"] }),
      "b.md": memoryText("B", "2", { confirmed: "2026-02-01", supersedes: ["a.md", "gone.md"] }),
      "c.md": memoryText("C", "3", { "superseded-by": "gone.md" }),
      "d.md": memoryText("D", "4", { "superseded-by": "e.md", confirmed: "2026-01-01" }),
      "e.md": memoryText("E", "5", { "superseded-by": "d.md", confirmed: "2026-02-01" }),
      "f.md": memoryText("F", "6", { "superseded-by": "g.md" }),
      "g.md": memoryText("G", "7", { supersedes: ["f.md"] }),
      "h.md": memoryText("H", "8", { supersedes: ["g.md"], source: TOOL }),
    }
    const { memory } = clean(await check(base, { "g.md": null }))
    expect(memory("a.md")).toMatchObject({ supersededBy: "b.md" })
    expect(memory("a.md").supersedes).toBeUndefined()
    expect(memory("b.md")).toMatchObject({ supersedes: ["a.md"] })
    expect(memory("c.md").supersededBy).toBeUndefined()
    expect(memory("d.md").supersededBy).toBe("e.md")
    expect(memory("e.md").supersededBy).toBeUndefined()
    expect(memory("g.md"), "it supersedes f.md").toBeDefined()
    expect(memory("g.md").supersededBy).toBeUndefined()
    expect(memory("h.md").supersedes).toBeUndefined()
  })
})

describe("L6-3 pointers and the index", () => {
  test("L6-3 links to nothing become text, links to a superseded memory lead to its successor", async () => {
    const base = {
      "a.md": memoryText("A", "See [old](old.md), [gone](gone.md), [this](README.md) and [that](docs/x.md)."),
      "old.md": memoryText("Old", "1"),
      "new.md": memoryText("New", "2", { supersedes: ["old.md"] }),
    }
    const { memory } = clean(await check(base, {}, ["README.md"]))
    expect(memory("a.md").body).toBe("See [old](new.md), gone, [this](README.md) and [that](docs/x.md).")
  })

  test("L6-3 the index has a line for every current memory and none for anything else", async () => {
    const base = {
      [INDEX_FILE]: "# Mine\n\n- [A](a.md): first\n- [Gone](gone.md)\n- [B](b.md): second\n- [Guide](README.md)\n",
      "a.md": memoryText("A", "1"),
      "b.md": memoryText("B", "2", { supersedes: ["a.md"] }),
      "c.md": memoryText("C", "3"),
    }
    const { texts } = clean(await check(base, {}, ["README.md"]))
    expect(texts.get(INDEX_FILE)).toBe("# Mine\n\n- [C](c.md): About C\n- [B](b.md): second\n- [Guide](README.md)\n")
  })

  test("L6-3 an index that is too long begins with rules and with what was confirmed last", async () => {
    const base: Record<string, string> = {}
    for (let n = 0; n < 250; n++)
      base[`m-${n}.md`] = memoryText(`M ${n}`, String(n), {
        ...{ type: n === 7 ? "feedback" : "project", confirmed: n === 9 ? "2026-04-30" : "2026-01-01" },
        source: USER,
      })
    const lines = clean(await check(base))
      .texts.get(INDEX_FILE)!
      .split("\n")
    expect(lines.length).toBeGreaterThan(MAX_INDEX_LINES)
    expect(lines.slice(0, 2).map((line) => /\((.*)\)/.exec(line)![1])).toEqual(["m-7.md", "m-9.md"])
  })

  test("L6-3 memories that are in order are left alone", async () => {
    const base = { "a.md": "# Written by hand\n\nNo frontmatter.\n", [INDEX_FILE]: "- [Written by hand](a.md)\n" }
    const { texts, repairs } = clean(await check(base))
    expect(texts.size).toBe(0)
    expect(repairs).toEqual([])
  })
})

test("L6-7 losses: every memory that leaves the index counts, and so does one that is emptied", async () => {
  const before = await parsed({
    "a.md": memoryText("Alpha", "The harbour opens at seven every morning."),
    "b.md": memoryText("Beta", "The lantern needs special batteries."),
    "c.md": memoryText("Gamma", "Meadows flood after heavy rain."),
    "d.md": memoryText("Delta", "Orchards bloom early."),
    "e.md": memoryText("Epsilon", "Quarries close in winter."),
    "f.md": memoryText("Zeta", "Quarries close in winter."),
    "g.md": memoryText("Eta", "Gone before.", { "superseded-by": "a.md" }),
  })
  const after = await parsed({
    "a.md": memoryText("Alpha", "The harbour opens at seven every morning. The lantern needs special batteries."),
    "b.md": memoryText("Beta", "See alpha."),
    "c.md": memoryText("Gamma", "All is well."),
    "d.md": memoryText("Delta", "Orchards bloom early.", { "superseded-by": "a.md" }),
    "f.md": memoryText("Zeta", "Quarries close in winter."),
    "g.md": memoryText("Eta", "Gone before.", { "superseded-by": "a.md" }),
  })
  expect(findLosses(before, after)).toEqual({ files: ["b.md", "c.md", "d.md", "e.md"], of: 6, needsConsent: true })
})

describe("BEY-9 what may be outdated stays in view and says so", () => {
  const written = (body: string, confirmed: string, more: Readonly<Record<string, unknown>> = {}) =>
    memoryText("Note", body, { created: confirmed, confirmed, ...more })
  const ships = (to: string) => `We ship parts for Basalt to ${to}.`

  test("BEY-9 the older one names the later one, and is no loss", async () => {
    const base = { "a.md": written(ships("Porto"), "2026-01-02"), "b.md": written(ships("Gdansk"), "2026-03-02") }
    const checked = clean(await check(base))
    expect(checked.memory("a.md")).toMatchObject({ doubtedBy: "b.md" })
    expect(checked.memory("a.md").supersededBy).toBeUndefined()
    expect(checked.memory("b.md").doubtedBy).toBeUndefined()
  })

  test("BEY-9 on one day neither is marked, and a mark that is no longer right goes", async () => {
    const day = "2026-03-02"
    const same = { "a.md": written(ships("Porto"), day), "b.md": written(ships("Gdansk"), day) }
    expect(clean(await check(same)).after.map(({ doubtedBy }) => doubtedBy)).toEqual([undefined, undefined])
    const stale = {
      "a.md": written(ships("Porto"), day, { "doubted-by": "b.md" }),
      "b.md": written("Lunch is at noon.", day),
    }
    expect(clean(await check(stale)).memory("a.md").doubtedBy).toBeUndefined()
  })
})
