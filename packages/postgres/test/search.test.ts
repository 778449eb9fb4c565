/** Search through the store: queries have the same answers with files and with PostgreSQL, and cost few round trips. */
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Entry, localUser, type Store } from "@strata/core"
import { countedStore } from "@strata/store-contract"
import { importConversations } from "@strata/transcripts"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { fileStore } from "../../core/src/journal/file/file-store.ts"
import { BlockReader } from "../../core/src/recall/block-texts.ts"
import { RemoteIndex } from "../../core/src/recall/index/remote-index.ts"
import { TOKENS_VERSION } from "../../core/src/recall/index/tokens.ts"
import { type JournalSearch, journalSearchIn, removeJournalIndex } from "../../core/src/recall/journal-search.ts"
import { has, needs } from "../../core/test/needs.ts"
import { isWhole, size } from "../../core/test/size.ts"
import { postgresStore } from "../src/index.ts"
import { type SharedServer, sharedServer } from "./shared-server.ts"

const RECORDINGS = join(import.meta.dirname, "../../../../shared/data/transcripts")
const sizeOf = (name: string) => statSync(join(RECORDINGS, name)).size
const all = has("transcripts")
  ? readdirSync(RECORDINGS, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:jsonl|traj)$/.test(name))
      .toSorted((a, b) => sizeOf(a) - sizeOf(b))
  : []
const recordings = size(all.slice(0, 3), all)
const NOW = new Date("2026-03-10T12:00:00Z")
const PROJECT = "p"

describe("BEY-12 search", needs("postgres"), () => {
  let server: SharedServer
  let url: string
  let pool: pg.Pool

  beforeAll(async () => {
    server = await sharedServer()
    url = await server.database()
    pool = new pg.Pool({ connectionString: url, max: 20 })
  })
  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })

  function searchIn(store: Store): JournalSearch {
    const search = journalSearchIn(store, { project: PROJECT })
    onTestFinished(() => search.close())
    return search
  }

  test.runIf(isWhole)(
    "BEY-12 recorded conversations: every question has the same answer with files",
    needs("transcripts"),
    async () => {
      const root = mkdtempSync(join(tmpdir(), "strata-search-"))
      onTestFinished(() => rmSync(root, { recursive: true, force: true }))
      const files = fileStore({ root, flush: "never" })
      const served = postgresStore({ pool, tenant: randomUUID() })
      const [here, there] = [searchIn(files), searchIn(served)]
      const questions = new Set(["what did we do last week?", "and in 2025?", "!==", "→", "the failing test yesterday"])
      for (const [at, name] of recordings.entries()) {
        for (const entries of await imported(join(RECORDINGS, name), at)) {
          const id = `c${at}-${randomUUID()}`
          for (const store of [files, served]) await write(store, { id, entries })
          // in one order: if two passages have the same score, the one that was indexed later comes first
          await here.update()
          await there.update()
          for (const question of questionsFrom(entries)) questions.add(question)
        }
      }
      const newcomer = searchIn(served)
      expect(questions.size).toBeGreaterThan(30)
      for (const text of questions) {
        const question = { text, now: NOW, limit: 10, around: 20 }
        const { answer } = await here.search(question)
        expect((await there.search(question)).answer, text).toEqual(answer)
        expect((await newcomer.search(question)).answer, text).toEqual(answer)
      }
    },
  )

  test.runIf(isWhole)(
    "BEY-12 processes that index one project at once: each passage once, nothing missing",
    async () => {
      const tenant = randomUUID()
      const store = postgresStore({ pool, tenant })
      for (let n = 0; n < 6; n++) {
        const entries = Array.from({ length: 50 }, (_, at) =>
          userText(`word${n}x${at} ${"and more of it ".repeat(20)}`),
        )
        await write(store, { id: `c${n}`, entries })
      }
      const workers = await Promise.all([1, 2, 3].map(() => worker(url, tenant)))
      for (const one of workers) one.stdin.end()
      expect(await Promise.all(workers.map(async (one) => (await once(one, "exit"))[0]))).toEqual([0, 0, 0])
      const search = searchIn(store)
      await search.update() // indexes what the others have left
      const { rows } = await pool.query<{ count: string }>(
        "select set_config('strata.tenant', $1, false), (select count(*) from strata.passage where tenant = $1) as count",
        [tenant],
      )
      expect(rows[0]!.count).toBe("300")
      for (const word of ["word0x0", "word5x49", "word3x30"]) {
        const { answer } = await search.search({ text: word, now: NOW })
        expect(answer.found.filter(({ text }) => text.includes(word))).toHaveLength(1)
      }
    },
  )

  test("BEY-12 a new process reads no journal again", async () => {
    const tenant = randomUUID()
    const first = postgresStore({ pool, tenant })
    await write(first, { id: "c", entries: [userText("the heron flies"), userText("the walrus sleeps")] })
    await searchIn(first).update()
    const second = postgresStore({ pool, tenant })
    const search = searchIn({
      ...second,
      feed: (place) =>
        Object.assign(second.feed(place), {
          lines: () => {
            throw new Error("it reads a journal")
          },
        }),
    })
    const { answer } = await search.search({ text: "heron", now: NOW })
    expect(answer.found.map(({ text }) => text)).toEqual(["the heron flies"])
  })

  test("BEY-12 a question costs three round trips, and one more for what is around its answers", async () => {
    const { store, calls, reset } = countedStore(postgresStore({ pool, tenant: randomUUID() }))
    await write(store, {
      id: "c",
      entries: [
        userText("the heron flies over the port"),
        userText("the walrus sleeps"),
        userText("ERR_42 in src/foo.ts"),
      ],
    })
    await searchIn(store).update()
    const search = searchIn(store)
    const question = { text: "my heron, the port and ERR_42", context: ["a walrus"], now: NOW, around: 5 }
    reset()
    expect((await search.search(question)).answer.found.length).toBeGreaterThan(0)
    const looks = ["feed.poll", "passages.positions"] // concurrently
    expect(calls()).toEqual([...looks, "passages.changes", "passages.postings", "passages.rows", "passages.neighbors"])
    reset()
    await search.search(question)
    expect(calls()).toEqual([...looks, "passages.changes", "passages.neighbors"])
    reset()
    await search.search({ ...question, text: "what did we do last week?" })
    expect(calls()).toEqual([...looks, "passages.changes"])
  })

  test("BEY-12 erasing removes the index on the server, and the next search builds it again", async () => {
    const store = postgresStore({ pool, tenant: randomUUID() })
    await write(store, { id: "c", entries: [userText("the heron flies")] })
    const search = searchIn(store)
    const found = async () => (await search.search({ text: "heron", now: NOW })).answer.found.map(({ text }) => text)
    expect(await found()).toEqual(["the heron flies"])
    const index = store.passages!({ project: PROJECT, tokens: TOKENS_VERSION })
    await index.clear()
    expect(await index.positions()).toEqual(new Map())
    expect(await index.vocabulary()).toBe("")
    await searchIn(store).update()
    expect(await found()).toEqual(["the heron flies"])
  })

  describe("BEY-12 the index of an older version", () => {
    const step = (to: string, text: string) => ({
      ...{ source: "c", from: undefined, to },
      passages: [
        {
          ...{ uuid: "u", blocks: "0", kind: "user" as const, isDialogue: true, time: "2026-03-09T10:00:00.000Z" },
          ...{ start: 0, length: text.length, text },
        },
      ],
    })

    /** An index with tokens of an older version, and a current one. */
    async function twoVersions() {
      const tenant = randomUUID()
      const [older, newer] = [TOKENS_VERSION - 1, TOKENS_VERSION].map((tokens) =>
        postgresStore({ pool, tenant }).passages!({ project: PROJECT, tokens }),
      )
      await new RemoteIndex(older!).extend(step("1", "the heron flies"))
      const index = new RemoteIndex(newer!)
      await index.extend(step("1", "the heron flies"))
      return { tenant, older: older!, index }
    }

    async function aDayLater(tenant: string) {
      const client = await pool.connect()
      await client.query("begin")
      await client.query("select set_config('strata.tenant', $1, true)", [tenant])
      await client.query("update strata.shelf set touched = touched - interval '25 hours'")
      await client.query("commit")
      client.release()
    }

    test("BEY-12 it stays while that version is in use, and goes a day later", async () => {
      const { tenant, older, index } = await twoVersions()
      const process = new RemoteIndex(older)
      const found = async () => (await process.search({ text: "heron", now: NOW })).found.length
      await index.extend({ ...step("2", "the walrus sleeps"), from: "1" })
      expect([await found(), await process.positions()]).toEqual([1, new Map([["c", "1"]])])
      await aDayLater(tenant)
      await index.extend({ ...step("3", "the port is closed"), from: "2" })
      expect([await found(), await process.positions()]).toEqual([0, new Map()])
      expect((await index.search({ text: "heron", now: NOW })).found).toHaveLength(1)
      // a process of the old version rebuilds it
      await process.extend(step("3", "the heron flies"))
      expect(await found()).toBe(1)
    })

    test("BEY-12 erasing the index of a namespace empties it at once", async () => {
      const { tenant, older } = await twoVersions()
      await removeJournalIndex(postgresStore({ pool, tenant }), { project: PROJECT })
      expect(await older.rows([1])).toEqual([])
    })
  })

  test("BEY-12 one tenant's passages are in no answer of another's, nor one namespace's in another's", async () => {
    const store = postgresStore({ pool, tenant: "acme" })
    await write(store, { id: "c", entries: [userText("the heron flies")] })
    await searchIn(store).update()
    const others = [
      postgresStore({ pool, tenant: "globex" }).passages!({ project: PROJECT, tokens: TOKENS_VERSION }),
      store.passages!({ project: PROJECT, only: "c", tokens: TOKENS_VERSION }),
      store.passages!({ project: PROJECT, under: "c", tokens: TOKENS_VERSION }),
      store.passages!({ project: "q", tokens: TOKENS_VERSION }),
      store.passages!({ project: PROJECT, tokens: TOKENS_VERSION + 1 }),
    ]
    for (const index of others) {
      expect(await index.positions()).toEqual(new Map())
      expect(await index.rows([1])).toEqual([])
      expect(await index.vocabulary()).toBe("")
      expect((await index.postings(["heron"]))[0]).toHaveLength(0)
      expect(await index.containing({ ids: new Uint32Array([1]), text: "heron", max: 9 })).toEqual([])
      expect((await new RemoteIndex(index).search({ text: "heron", now: NOW })).found).toEqual([])
    }
  })
})

const userText = (text: string): Entry => ({
  ...{ type: "user", uuid: randomUUID(), parentUuid: null, sessionId: "s", timestamp: "2026-03-09T10:00:00.000Z" },
  message: { role: "user", content: text },
})

async function write(store: Store, { id, entries }: { readonly id: string; readonly entries: readonly Entry[] }) {
  const journal = await store.open({ project: PROJECT, id }, { access: "write", create: true })
  await journal.append(entries)
  await journal.close()
}

/** The conversations of a recording as entries. */
async function imported(file: string, at: number): Promise<readonly (readonly Entry[])[]> {
  const root = mkdtempSync(join(tmpdir(), `strata-import-${at}-`))
  try {
    const store = fileStore({ root, flush: "never" })
    await importConversations({ file, cwd: "/nowhere", owner: localUser, store, env: {} })
    const all: Entry[][] = []
    for (const project of await store.projects())
      for (const { id } of await store.list(project, { isBare: true })) {
        const journal = await store.open({ project, id }, { access: "read" })
        const entries: Entry[] = []
        for await (const entry of journal.entries()) entries.push(entry)
        all.push(entries)
        await journal.close()
      }
    return all
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Excerpts of user messages and tool results, and identifiers in them. */
function questionsFrom(entries: readonly Entry[]): readonly string[] {
  const reader = new BlockReader()
  const texts = entries.flatMap((entry) => reader.take(entry)).map(({ text }) => text)
  const step = Math.max(1, Math.floor(texts.length / 5))
  return texts
    .filter((_, at) => at % step === 0)
    .flatMap((text) => {
      const words = text.split(/\s+/).filter((word) => word !== "")
      const middle = Math.floor(words.length / 2)
      return [words.slice(middle, middle + 6).join(" "), words.find((word) => /[a-z][/._][a-z]/i.test(word)) ?? ""]
    })
    .map((question) => question.slice(0, 300))
    .filter((question) => question !== "")
}

async function worker(url: string, tenant: string) {
  const program = join(import.meta.dirname, "search-worker.ts")
  const child = spawn(process.execPath, [program, url, tenant, PROJECT], { stdio: ["pipe", "pipe", "inherit"] })
  await once(child.stdout, "data")
  return child
}
