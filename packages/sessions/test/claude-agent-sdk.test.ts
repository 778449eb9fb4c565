/** The `SessionStore` for the Claude Agent SDK: each rule of its interface, on files and in memory. */
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { InvalidOptionError, memoryStore, type Store } from "@strata/core"
import { countedStore, faultyStore, StoreFaultError } from "@strata/store-contract"
import { describe, expect, onTestFinished, test } from "vitest"
import { manualClock } from "../../core/src/base/clock.ts"
import { namespaceFor } from "../../core/src/base/owner.ts"
import { externalProjectName } from "../../core/src/base/project.ts"
import { fileStore } from "../../core/src/journal/file/file-store.ts"
import { isWhole } from "../../core/test/size.ts"
import { type FoldSessionSummary, type SessionStoreEntry, sessionStore } from "../src/claude-agent-sdk.ts"

const KEY = { projectKey: "-srv-shop", sessionId: "4b1c7a52-0d6e-4a4e-9a43-0a6f1b6f6f10" }
const AGENT = { ...KEY, subpath: "subagents/agent-a1" }

const line = (uuid: string, fields: object = {}): SessionStoreEntry => ({ type: "user", uuid, ...fields })
const title = (text: string): SessionStoreEntry => ({ type: "custom-title", customTitle: text })

function directory(): string {
  const root = mkdtempSync(join(tmpdir(), "strata-session-store-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

const STORES: readonly (readonly [string, () => Store])[] = [
  ["files", () => fileStore({ root: directory() })],
  ["memory", () => memoryStore()],
]

describe.each(STORES)("BEY-12 sessions of the Claude Agent SDK in %s", (_, makeStore) => {
  test("lines come back as they were given, in their order", async () => {
    const sessions = sessionStore({ store: makeStore() })
    const first = [line("b", { message: { content: [{ type: "text", text: "Hi" }] } }), title("Shop"), line("a")]
    await sessions.append(KEY, first)
    await sessions.append(KEY, [line("c")])
    expect(await sessions.load(KEY)).toEqual([...first, line("c")])
  })

  test("lines that look like strata, or like nothing of Strata, come back too", async () => {
    const sessions = sessionStore({ store: makeStore() })
    let deep: unknown = "bottom"
    for (let level = 0; level < 300; level++) deep = [deep]
    const odd: SessionStoreEntry[] = [
      { type: "strata", uuid: "1", subtype: "foreign-change", removed: "all" },
      { type: "system", uuid: "2", subtype: "compact_boundary", parentUuid: null },
      { type: "user", uuid: "3", sum: "00000000", exact: true, message: 7 },
      { type: "user", uuid: "4", text: "half \ud83d, bidi \u202e, zero \0, line\u2028ends\n\r" },
      JSON.parse('{"type":"user","uuid":"5","__proto__":{"polluted":true}}'),
      { type: "user", uuid: "6", deep },
      { type: "user", uuid: "7", empty: {}, none: null, list: [], float: 0.1, large: 1e300 },
    ]
    await sessions.append(KEY, odd)
    expect(JSON.stringify(await sessions.load(KEY))).toBe(JSON.stringify(odd))
  })

  test("what was never written is null, and nothing is kept of no lines", async () => {
    const store = makeStore()
    const sessions = sessionStore({ store })
    await sessions.append(KEY, [])
    expect([await sessions.load(KEY), await sessions.load(AGENT)]).toEqual([null, null])
    expect([await sessions.listSessions(KEY.projectKey), await sessions.listSubkeys(KEY)]).toEqual([[], []])
  })

  test("a uuid is kept once: in one batch, sent again, and from another process", async () => {
    const store = makeStore()
    const sessions = sessionStore({ store })
    await sessions.append(KEY, [line("a"), line("a"), line("b")])
    await sessions.append(KEY, [line("c")])
    const replay = sessionStore({ store })
    await replay.append(KEY, [line("a"), line("b")])
    await replay.append(KEY, [line("c"), line("d")])
    const before = await bytesKept(store)
    await sessionStore({ store }).append(KEY, [line("a"), line("d")])
    expect(await sessions.load(KEY)).toEqual(["a", "b", "c", "d"].map((uuid) => line(uuid)))
    expect(await bytesKept(store)).toBe(before)
  })

  test("lines without a uuid are kept as often as they come", async () => {
    const sessions = sessionStore({ store: makeStore() })
    await sessions.append(KEY, [title("one"), title("one")])
    await sessions.append(KEY, [title("one")])
    expect(await sessions.load(KEY)).toEqual([title("one"), title("one"), title("one")])
  })

  test("batches of one process are kept in the order of the calls, and as they were then", async () => {
    const store = makeStore()
    const [one, other] = [sessionStore({ store }), sessionStore({ store })]
    const given = Array.from({ length: 20 }, (_, number) => [line(`u${number}`, { number })])
    const calls = given.map((batch, at) => (at % 2 === 0 ? one : other).append(KEY, batch))
    for (const [first] of given) first!.number = "changed later"
    await Promise.all(calls)
    expect((await one.load(KEY))!.map(({ number }) => number)).toEqual(given.map((_, number) => number))
  })

  test("projects, sessions, agents and owners share nothing", async () => {
    const store = makeStore()
    const sessions = sessionStore({ store })
    const keys = [
      KEY,
      AGENT,
      { ...KEY, subpath: "subagents/agent-A1" },
      { ...KEY, subpath: "subagents_2fagent-a1" },
      { ...KEY, sessionId: KEY.sessionId.toUpperCase() },
      { ...KEY, sessionId: "../../../outside" },
      { ...KEY, sessionId: "zwölf \ud83d" },
      { ...KEY, sessionId: "zwölf \ud83c" },
      { ...KEY, projectKey: "-SRV-SHOP" },
      { ...KEY, projectKey: "../-srv-shop" },
    ]
    for (const [at, key] of keys.entries()) await sessions.append(key, [line("same", { at })])
    const owned = sessionStore({ store, owner: "ada" })
    expect(await owned.load(KEY)).toBeNull()
    await owned.append(KEY, [line("hers")])
    for (const [at, key] of keys.entries()) expect(await sessions.load(key)).toEqual([line("same", { at })])
    expect((await owned.listSessions(KEY.projectKey)).map(({ sessionId }) => sessionId)).toEqual([KEY.sessionId])
    const named = (await sessions.listSessions(KEY.projectKey)).map(({ sessionId }) => sessionId)
    expect(named.sort()).toEqual(
      [KEY.sessionId, KEY.sessionId.toUpperCase(), "../../../outside", "zwölf \ud83d", "zwölf \ud83c"].sort(),
    )
  })

  test("a list has the sessions with the time of the last write, and none that has only agents", async () => {
    const sessions = sessionStore({ store: makeStore() })
    const begun = Date.now()
    await sessions.append(KEY, [line("a")])
    await sessions.append({ ...AGENT, sessionId: "only-agents" }, [line("b")])
    const [session, ...others] = await sessions.listSessions(KEY.projectKey)
    expect(others).toEqual([])
    expect(session!.sessionId).toBe(KEY.sessionId)
    expect(Number.isInteger(session!.mtime)).toBe(true)
    expect(session!.mtime).toBeGreaterThan(begun - 60_000)
    expect(await sessions.listSessions("never")).toEqual([])
  })

  test("agents of a session are listed by their subpaths, of any depth", async () => {
    const sessions = sessionStore({ store: makeStore() })
    const subpaths = ["subagents/agent-a1", "subagents/workflows/Run 7/agent-b2", "x"]
    await sessions.append(KEY, [line("main")])
    for (const subpath of subpaths) await sessions.append({ ...KEY, subpath }, [line("sub")])
    await sessions.append({ ...AGENT, sessionId: "other" }, [line("sub")])
    expect((await sessions.listSubkeys(KEY)).sort()).toEqual(subpaths.sort())
    expect(await sessions.listSubkeys({ ...KEY, sessionId: "never" })).toEqual([])
    expect(await sessions.load(KEY)).toEqual([line("main")])
  })

  test("a deleted session takes its agents along, and nothing else", async () => {
    const store = makeStore()
    const sessions = sessionStore({ store })
    const other = { ...KEY, sessionId: "other" }
    for (const key of [KEY, AGENT, { ...KEY, subpath: "subagents/agent-b2" }, other])
      await sessions.append(key, [line("a")])
    await sessions.delete(KEY)
    await sessions.delete({ ...KEY, sessionId: "never" })
    expect([await sessions.load(KEY), await sessions.load(AGENT)]).toEqual([null, null])
    expect(await sessions.listSubkeys(KEY)).toEqual([])
    expect((await sessionStore({ store }).listSessions(KEY.projectKey)).map(({ sessionId }) => sessionId)).toEqual([
      "other",
    ])
    expect(await sessions.load(other)).toEqual([line("a")])
  })

  test("one agent can be deleted", async () => {
    const sessions = sessionStore({ store: makeStore() })
    const other = { ...KEY, subpath: "subagents/agent-b2" }
    for (const key of [KEY, AGENT, other]) await sessions.append(key, [line("a")])
    await sessions.delete(AGENT)
    expect([await sessions.load(KEY), await sessions.load(AGENT), await sessions.load(other)]).toEqual([
      ...[[line("a")], null, [line("a")]],
    ])
    expect(await sessions.listSubkeys(KEY)).toEqual([other.subpath])
  })

  test("what is written after a deletion counts, also the same lines", async () => {
    const store = makeStore()
    const sessions = sessionStore({ store })
    await sessions.append(KEY, [line("a"), line("b")])
    await sessions.delete(KEY)
    const imported = sessionStore({ store })
    await imported.append(KEY, [line("a")])
    await sessionStore({ store }).append(KEY, [line("a"), line("c")])
    expect(await sessions.load(KEY)).toEqual([line("a"), line("c")])
    expect(await sessions.listSessions(KEY.projectKey)).toHaveLength(1)
    await sessions.delete(KEY)
    expect(await sessions.load(KEY)).toBeNull()
    await sessions.append(KEY, [line("b"), line("c")])
    expect(await sessions.load(KEY)).toEqual([line("b"), line("c")])
  })

  test("one name for all directories: a session is found from another one", async () => {
    const store = makeStore()
    const named = { store, project: "shop" }
    await sessionStore(named).append(KEY, [line("a")])
    const elsewhere = { ...KEY, projectKey: "-home-ada-shop" }
    expect(await sessionStore(named).load(elsewhere)).toEqual([line("a")])
    expect(await sessionStore({ store }).load(elsewhere)).toBeNull()
  })

  test("summaries are made from what is new since the last list", async () => {
    const sessions = sessionStore({ store: makeStore(), foldSessionSummary: counting })
    await sessions.append(KEY, [line("a"), line("b")])
    await sessions.append({ ...KEY, sessionId: "other" }, [line("c")])
    folded = []
    expect(dataOf(await sessions.listSessionSummaries!(KEY.projectKey))).toEqual({ [KEY.sessionId]: 2, other: 1 })
    expect(folded.sort()).toEqual(["a,b", "c"])
    await sessions.append(KEY, [line("d")])
    await sessions.append(AGENT, [line("e")])
    folded = []
    const summaries = await sessions.listSessionSummaries!(KEY.projectKey)
    expect([dataOf(summaries), folded]).toEqual([{ [KEY.sessionId]: 3, other: 1 }, ["d"]])
    const times = (await sessions.listSessions(KEY.projectKey)).map(({ sessionId, mtime }) => [sessionId, mtime])
    expect(summaries.map(({ sessionId, mtime }) => [sessionId, mtime]).sort()).toEqual(times.sort())
    await sessions.delete(KEY)
    expect(dataOf(await sessions.listSessionSummaries!(KEY.projectKey))).toEqual({ other: 1 })
    await sessions.append(KEY, [line("f")])
    expect(dataOf(await sessions.listSessionSummaries!(KEY.projectKey))).toEqual({ [KEY.sessionId]: 1, other: 1 })
  })

  test("after a failure at any call, sending a batch again keeps each line once", async () => {
    for (const how of ["before", "after"] as const)
      for (let at = 1; at <= 4; at++) {
        const store = makeStore()
        await sessionStore({ store }).append(KEY, [line("a")])
        const faulty = faultyStore(store, { at, how })
        const sessions = sessionStore({ store: faulty.store })
        const batch = [line("b"), line("c")]
        await expect(sessions.append(KEY, batch)).rejects.toThrow(StoreFaultError)
        // a journal whose close failed is still open in this process
        if (faulty.failed()[0] === "journal.close" && how === "before") continue
        await sessions.append(KEY, batch)
        expect(await sessionStore({ store }).load(KEY)).toEqual([line("a"), ...batch])
      }
  })
})

test("BEY-12 a batch of a known session takes three calls of the store, reading one and a list of any number one", async () => {
  const counted = countedStore(memoryStore())
  const sessions = sessionStore({ store: counted.store })
  for (let number = 0; number < 30; number++) await sessions.append({ ...KEY, sessionId: `s${number}` }, [line("a")])
  counted.reset()
  await sessions.append({ ...KEY, sessionId: "s7" }, [line("b")])
  expect(counted.calls()).toEqual(["open", "journal.append", "journal.close"])
  counted.reset()
  await sessions.load({ ...KEY, sessionId: "s7" })
  expect(counted.calls()).toEqual(["feed.lines"])
  counted.reset()
  expect(await sessions.listSessions(KEY.projectKey)).toHaveLength(30)
  expect(counted.calls()).toEqual(["list"])
})

test("BEY-12 the time of a session is the store's", async () => {
  const clock = manualClock("2026-03-01T00:00:00.000Z")
  const sessions = sessionStore({ store: memoryStore({ clock }), clock })
  await sessions.append(KEY, [line("a")])
  clock.advance(5000)
  await sessions.append({ ...KEY, sessionId: "later" }, [line("b")])
  const listed = await sessions.listSessions(KEY.projectKey)
  expect(new Map(listed.map(({ sessionId, mtime }) => [sessionId, mtime]))).toEqual(
    new Map([
      [KEY.sessionId, Date.parse("2026-03-01T00:00:00.000Z")],
      ["later", Date.parse("2026-03-01T00:00:05.000Z")],
    ]),
  )
})

test.runIf(isWhole)("BEY-12 two processes write one session: no line is lost, and each keeps its order", async () => {
  const dir = directory()
  const writer = join(import.meta.dirname, "session-store-writer.ts")
  const run = (name: string) => promisify(execFile)(process.execPath, [writer, dir, name, "15"])
  await Promise.all([run("one"), run("two")])
  const lines = (await sessionStore({ dir }).load({ projectKey: "shop", sessionId: "shared" }))!
  for (const name of ["one", "two"]) {
    const numbers = lines.filter(({ by }) => by === name).map(({ number }) => number)
    expect(numbers).toEqual(Array.from({ length: 30 }, (_, number) => number))
  }
})

test("BEY-12 a damaged line costs only itself, and of a deleted session no word is left on the disk", async () => {
  const dir = directory()
  const sessions = sessionStore({ dir })
  await sessions.append(KEY, [line("a", { body: "first words" }), line("b", { body: "other words" }), line("c")])
  const [file] = readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"))
  const path = join(dir, file!)
  writeFileSync(path, readFileSync(path, "utf8").replace("other words", "OTHER words"))
  expect(await sessions.load(KEY)).toEqual([line("a", { body: "first words" }), line("c")])
  await sessions.delete(KEY)
  expect(await sessions.load(KEY)).toBeNull()
  const left = readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(dir, name)).isFile(),
  )
  for (const name of left) expect(readFileSync(join(dir, name), "utf8"), name).not.toContain("words")
})

test("BEY-12 what cannot be a key or an option is refused, and nothing is written", async () => {
  const dir = directory()
  const sessions = sessionStore({ dir })
  await expect(sessions.append({ ...KEY, subpath: "" }, [line("a")])).rejects.toThrow(InvalidOptionError)
  await expect(sessions.append({ ...KEY, sessionId: "x".repeat(181) }, [line("a")])).rejects.toThrow(
    /1 to 180 characters/,
  )
  await expect(sessions.load({ ...KEY, sessionId: "" })).rejects.toThrow(/Nothing was written/)
  expect(() => sessionStore({ onwer: "ada" } as never)).toThrow(/owner/)
  expect(readdirSync(dir)).toEqual([])
})

let folded: string[] = []
/** Counts lines, and records which lines it received. */
const counting: FoldSessionSummary = (previous, { sessionId }, entries, { mtime = 0 } = {}) => {
  folded.push(entries.map(({ uuid }) => uuid).join())
  const before = (previous?.data.lines ?? 0) as number
  return { sessionId, mtime, data: { lines: before + entries.length } }
}

const dataOf = (summaries: readonly { sessionId: string; data: Record<string, unknown> }[]) =>
  Object.fromEntries(summaries.map(({ sessionId, data }) => [sessionId, data.lines]))

/** Bytes of all journals with the session's id. */
async function bytesKept(store: Store): Promise<number> {
  const project = namespaceFor(externalProjectName("claude-agent-sdk", KEY.projectKey), undefined)
  const [journal] = await store.list(project, { isBare: true })
  return journal!.bytes
}
