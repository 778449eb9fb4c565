/** Which flushes each mode waits for. Every flush is recorded with its file. */
import fs from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { basename, join } from "node:path"
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest"
import { openJournal, pathsIn, temporaryRoot, userEntry } from "../../../test/journal-files.ts"
import { needs } from "../../../test/needs.ts"
import type { FlushMode, Journal } from "../store.ts"
import { fileStore } from "./file-store.ts"

const MODES: readonly FlushMode[] = ["always", "turn", "never"]
const TEAM = { project: "p", team: "t" }

let root: string
/** Names of the flushed files, in order. */
let flushed: string[] = []

beforeEach(async () => {
  const { root: made, remove } = await temporaryRoot()
  onTestFinished(remove)
  root = made
  const handle = await open(join(root, "any"), "w")
  const handles = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  flushed = []
  const note = (fd: number) => flushed.push(kindOf(basename(fs.readlinkSync(`/proc/self/fd/${fd}`))))
  for (const name of ["sync", "datasync"] as const) {
    const flush = handles[name]
    vi.spyOn(handles, name).mockImplementation(function (this: FileHandle) {
      note(this.fd)
      return flush.call(this)
    })
  }
  const { fdatasync, fdatasyncSync, fsync, fsyncSync } = fs
  const noted =
    <A extends [fd: number, ...rest: never[]]>(flush: (...args: A) => void) =>
    (...args: A) => {
      note(args[0])
      flush(...args)
    }
  Object.assign(fs, {
    ...{ fdatasync: noted(fdatasync), fsync: noted(fsync) },
    ...{ fdatasyncSync: noted(fdatasyncSync), fsyncSync: noted(fsyncSync) },
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    vi.restoreAllMocks()
    Object.assign(fs, { fdatasync, fdatasyncSync, fsync, fsyncSync })
    syncBuiltinESMExports()
  })
})

/** A draft counts as the file it becomes. Names of memory drafts do not show their target. */
const kindOf = (name: string): string =>
  /^\.[0-9a-f]{12}\.draft$/.test(name) ? "text" : name.replace(/\.[^.]+\.draft$/, "")

async function during(work: () => Promise<unknown>): Promise<readonly string[]> {
  flushed = []
  await work()
  return flushed.sort()
}

/** Opens a journal whose own name is already on disk. */
async function opened(mode: FlushMode): Promise<Journal> {
  const journal = await openJournal(root, mode)
  onTestFinished(() => journal.close())
  await journal.append([userEntry("first")])
  await journal.sync()
  return journal
}

type Expected = Readonly<Record<FlushMode, readonly string[]>>

describe("BEY-12 JRN-3 what a flush mode waits for", needs("linux"), () => {
  const of = (expected: Expected) => MODES.map((mode) => [mode, expected[mode]] as const)

  describe.each(of({ always: ["c.jsonl"], turn: [], never: [] }))("%s: an append", (mode, expected) => {
    test("flushes its lines or nothing", async () => {
      const journal = await opened(mode)
      expect(await during(() => journal.append([userEntry("a"), userEntry("b")]))).toEqual(expected)
    })
  })

  test.each(of({ always: [], turn: ["c.jsonl"], never: [] }))("%s: sync after an append", async (mode, expected) => {
    const journal = await opened(mode)
    await journal.append([userEntry("a")])
    expect(await during(() => journal.sync())).toEqual(expected)
    expect(await during(() => journal.sync())).toEqual([])
    await journal.append([userEntry("b")])
    expect(await during(() => journal.close())).toEqual(expected)
  })

  test.each(of({ always: ["c.jsonl", "p", "projects"], turn: [], never: [] }))(
    "%s: the first append, which makes the file's name and its directories safe too",
    async (mode, expected) => {
      const journal = await openJournal(root, mode)
      onTestFinished(() => journal.close())
      const first = await during(() => journal.append([userEntry("a")]))
      expect(first.filter((name) => !name.startsWith("strata-"))).toEqual(expected)
      const rest = await during(() => journal.sync())
      expect(rest.filter((name) => !name.startsWith("strata-"))).toEqual(
        mode === "turn" ? ["c.jsonl", "p", "projects"] : [],
      )
    },
  )

  test.each(of({ always: ["blob.txt", "c"], turn: ["blob.txt"], never: [] }))(
    "%s: a blob, and the sync after it",
    async (mode, expected) => {
      const journal = await opened(mode)
      await journal.writeBlob("earlier.txt", "x")
      await journal.sync()
      expect(await during(() => journal.writeBlob("blob.txt", "x"))).toEqual(expected)
      expect(await during(() => journal.sync())).toEqual(mode === "turn" ? ["c"] : [])
    },
  )

  test.each(of({ always: ["c.checkpoint"], turn: ["c.checkpoint"], never: [] }))(
    "%s: a checkpoint",
    async (mode, expected) => {
      const journal = await opened(mode)
      expect(await during(() => journal.writeCheckpoint({}))).toEqual(expected)
      expect(await during(() => journal.sync())).toEqual([])
    },
  )

  test.each(MODES)("%s: notes", async (mode) => {
    const journal = await opened(mode)
    expect(await during(() => journal.writeNotes("x"))).toEqual(["c.md", "session-memory"])
  })

  test.each(MODES)("%s: requests in flight and the index wait for nothing", async (mode) => {
    const journal = await opened(mode)
    const usage = { input_tokens: 1, output_tokens: 1 }
    const sending = async () => journal.inFlight?.sent({ id: "r", purpose: "main", model: "m", usage })
    expect(await during(sending)).toEqual([])
    expect(fs.statSync(pathsIn(root).inFlight).size).toBeGreaterThan(0)
  })

  test.each(of({ always: ["00000001.log"], turn: [], never: [] }))(
    "%s: a message to a team; members; closing",
    async (mode, expected) => {
      const mailbox = fileStore({ root, flush: mode }).mailboxes(TEAM)
      const send = () => mailbox.send({ from: "a", to: ["b"], content: {} })
      expect(await during(send)).toEqual(expected)
      expect(await during(() => mailbox.join({ name: "a", conversation: "c" }))).toEqual([])
      expect(await during(() => mailbox.close())).toEqual(mode === "turn" ? ["00000001.log"] : [])
      const reader = fileStore({ root, flush: mode }).mailboxes(TEAM)
      await reader.last("a")
      expect(await during(() => reader.close())).toEqual([]) // a reader has written nothing
    },
  )

  test.each(MODES)("%s: an install of memories: the intent with its name, and each text", async (mode) => {
    const memories = fileStore({ root, flush: mode }).memories({ project: "p" })
    const texts = ["a.md", "b.md"].map((path) => ({ path, text: "x" }))
    expect(await during(() => memories.install(texts))).toEqual(["memory", "text", "text", "text"])
    expect(await during(() => memories.install([{ path: ".sum.json", text: "{}" }]))).toEqual([])
  })
})
