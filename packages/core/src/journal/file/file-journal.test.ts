import { execFile } from "node:child_process"
import {
  cp,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises"
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest"
import {
  ADDRESS,
  boundaryEntry,
  openJournal,
  pathsIn,
  temporaryRoot,
  textsOf,
  userEntry,
} from "../../../test/journal-files.ts"
import { needs } from "../../../test/needs.ts"
import { openTestConversation } from "../../../test/open.ts"
import { ConversationNotFoundError, InvalidIdError, JournalWriteError } from "../../base/errors.ts"
import { type Conversation, engineOf } from "../../conversation/conversation.ts"
import type { Layer } from "../../layers/layer.ts"
import { serialiseRequest } from "../../views/context/request.ts"
import type { Entry, EntryDraft } from "../entries.ts"
import { memoryStore } from "../in-memory/store.ts"
import type { Journal } from "../store.ts"
import { fileStore } from "./file-store.ts"
import { journalPaths, memoryDirectory, notesConfigDirectory, strataDirectory } from "./layout.ts"

let root: string
let remove: () => Promise<void>
beforeEach(async () => {
  ;({ root, remove } = await temporaryRoot())
})
afterEach(() => remove())

const readOnly = () => fileStore({ root }).open(ADDRESS, { access: "read" })

const filesBelow = async (directory: string) => (await readdir(directory, { recursive: true })).sort()

/** Writes a journal with these texts. "|" is a boundary. */
async function written(...texts: string[]): Promise<readonly Entry[]> {
  const entries = texts.map((text) => (text === "|" ? boundaryEntry() : userEntry(text)))
  const journal = await openJournal(root)
  await journal.append(entries)
  await journal.close()
  return entries
}

const compactingOnce = (): Layer => {
  const drafts: EntryDraft[] = [
    { type: "system", subtype: "compact_boundary", compactMetadata: { trigger: "auto", preTokens: 1 } },
    { type: "user", isCompactSummary: true, message: { role: "user", content: "Summary." } },
  ]
  return { name: "compacting", beforeRequest: async () => ({ drafts: drafts.splice(0) }) }
}

describe("JRN-1 the journal", () => {
  async function aTurn(chat: Conversation): Promise<void> {
    await chat.add({ role: "user", content: "hi" })
    await chat.prepare()
    await chat.record({
      id: "msg_1",
      model: "claude-opus-4-6",
      content: [{ type: "text", text: "ho", citations: null }],
      stop_reason: "end_turn",
      usage: { input_tokens: 3, output_tokens: 1 },
    })
    await chat.attach({ type: "memory", path: "m", content: "c" })
  }

  test("is one JSON object a line; messages have the shape of a Claude Code line, ours have the type `strata`", async () => {
    const chat = await openTestConversation({ store: fileStore({ root, flush: "never" }) })
    await aTurn(chat)
    await chat.close()
    const text = await readFile(chat.location, "utf8")
    expect(text.endsWith("\n")).toBe(true)
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.map(({ type, subtype }) => subtype ?? type)).toEqual([
      ...["user", "session", "prompt-rendered", "session", "assistant", "attachment"],
    ])
    const [user, , prompt, session, assistant, attachment] = lines
    const placed = { uuid: expect.any(String), timestamp: "2026-01-01T00:00:00.000Z", sessionId: "test" }
    expect(user).toMatchObject({ ...placed, type: "user", parentUuid: null, message: { role: "user", content: "hi" } })
    expect(assistant).toMatchObject({
      ...placed,
      type: "assistant",
      parentUuid: user!.uuid,
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-opus-4-6",
        content: [{ type: "text", text: "ho", citations: null }],
        stop_reason: "end_turn",
        usage: { input_tokens: 3, output_tokens: 1 },
      },
    })
    expect(attachment).toMatchObject({ ...placed, type: "attachment", parentUuid: assistant!.uuid })
    expect([prompt!.type, session!.type]).toEqual(["strata", "strata"])
  })

  test("is only ever added to", async () => {
    const store = fileStore({ root, flush: "never" })
    let chat = await openTestConversation({ store, layers: [compactingOnce()] })
    let before = Buffer.alloc(0)
    const expectGrown = async () => {
      const now = await readFile(chat.location)
      expect(now.length).toBeGreaterThan(before.length)
      expect(now.subarray(0, before.length).equals(before)).toBe(true)
      before = now
    }
    await aTurn(chat)
    await expectGrown()
    const first = await chat.add({ role: "user", content: "more" })
    await expectGrown()
    await chat.rewind(first)
    await expectGrown()
    await chat.close()
    chat = await openTestConversation({ store })
    await chat.setTitle("t")
    await expectGrown()
    await chat.close()
  })
})

describe("JRN-4 what is before the last boundary", () => {
  /** Damages every byte before the last boundary, including line ends, so that reading any of them fails. */
  async function spoilBeforeBoundary(path: string): Promise<void> {
    const bytes = await readFile(path)
    const boundary = bytes.lastIndexOf('"subtype":"compact_boundary"')
    bytes.fill("#", 0, bytes.lastIndexOf("\n", boundary))
    await writeFile(path, bytes)
  }

  test("is not read by opening and resuming: the same request comes of a journal whose front is spoilt", async () => {
    const store = fileStore({ root, flush: "never" })
    const chat = await openTestConversation({ store, layers: [compactingOnce()] })
    for (let number = 0; number < 20; number++) await chat.add({ role: "user", content: `before ${number}` })
    await chat.prepare()
    await chat.add({ role: "user", content: "after" })
    const body = serialiseRequest(await chat.prepare())
    await chat.close()
    await spoilBeforeBoundary(chat.location)

    const again = await openTestConversation({ store })
    expect(again.openResult).toMatchObject({ read: "tail", index: "used", tornBytes: 0, damagedLines: [] })
    expect(serialiseRequest(await again.prepare())).toBe(body)
    expect(engineOf(again).views.words.messages).toHaveLength(21) // loaded from the checkpoint
    await again.close()
  })

  test("is missed at once by a reading from the beginning, so the proof above can fail", async () => {
    await written("one", "two", "|", "three")
    await spoilBeforeBoundary(pathsIn(root).journal)
    await rm(pathsIn(root).index)
    const journal = await openJournal(root)
    expect(journal.opening.damagedLines).toHaveLength(1)
    await journal.close()
  })

  test("a checkpoint that is damaged, of a later version or absent is no loss: everything is read, and the request is the same", async () => {
    const store = fileStore({ root, flush: "never" })
    const chat = await openTestConversation({ store, layers: [compactingOnce()] })
    await chat.add({ role: "user", content: "before" })
    await chat.prepare()
    await chat.add({ role: "user", content: "after" })
    const body = serialiseRequest(await chat.prepare())
    await chat.close()
    const checkpoint = chat.location.replace(/\.jsonl$/, ".checkpoint")
    const ofLater = '{"version":999,"states":{"$map":{"later":"otherwise"}}}'
    const spoils = [() => writeFile(checkpoint, '{"version":1,"bound'), () => writeFile(checkpoint, ofLater)]
    for (const spoil of [...spoils, () => rm(checkpoint)]) {
      await spoil()
      const again = await openTestConversation({ store })
      expect(again.openResult.read).toBe("all")
      expect(serialiseRequest(await again.prepare())).toBe(body)
      await again.close()
      const third = await openTestConversation({ store })
      expect(third.openResult.read).toBe("tail") // the checkpoint was rebuilt
      await third.close()
    }
  })
})

describe("JRN-8 layout", () => {
  test("everything is where the specification says", () => {
    const at = (...names: string[]) => join("/r", ...names)
    expect(journalPaths("/r", { project: "p", id: "c" })).toMatchObject({
      directory: at("projects", "p"),
      journal: at("projects", "p", "c.jsonl"),
      blobs: at("projects", "p", "tool-results", "c"),
    })
    expect(journalPaths("/r", { project: "p", id: "c" }).notes).toBe(at("projects", "p", "session-memory", "c.md"))
    expect(memoryDirectory("/r", "p")).toBe(at("projects", "p", "memory"))
    expect(notesConfigDirectory("/r")).toBe(at("config", "session-memory"))
  })

  test("the root is STRATA_HOME, or .strata in the home directory", () => {
    expect(strataDirectory({ STRATA_HOME: "some/where" })).toBe(resolve("some/where"))
    for (const env of [{}, { STRATA_HOME: "" }]) expect(strataDirectory(env)).toBe(join(homedir(), ".strata"))
  })

  test("a conversation's files, readable by their owner only; the lock goes when it is closed", async () => {
    const journal = await openJournal(root)
    await journal.append([userEntry("x")])
    await journal.writeBlob("toolu_1.txt", "large")
    await journal.writeCheckpoint({})
    expect(await filesBelow(join(root, "projects", "p"))).toContain("c.lock")
    await journal.close()
    expect(await filesBelow(join(root, "projects", "p"))).toEqual([
      "c.checkpoint",
      "c.index",
      "c.jsonl",
      "tool-results",
      join("tool-results", "c"),
      join("tool-results", "c", "toolu_1.txt"),
    ])
    if (process.platform === "win32") return
    const paths = pathsIn(root)
    const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
    expect(await Promise.all([paths.journal, paths.checkpoint, join(paths.blobs, "toolu_1.txt")].map(modeOf))).toEqual([
      "600",
      "600",
      "600",
    ])
    expect(await Promise.all([paths.directory, paths.blobs].map(modeOf))).toEqual(["700", "700"])
  })

  const HOSTILE = ["../x", "..", ".", "/etc/passwd", "", "a/b", "a\\b", "a\0b", "x".repeat(1_000), "a\n"]

  test.each(HOSTILE)("no id can lead elsewhere: %j", async (name) => {
    const store = fileStore({ root })
    for (const address of [
      { project: "p", id: name },
      { project: name, id: "c" },
    ]) {
      await expect(store.open(address, { access: "write", create: true })).rejects.toThrow(InvalidIdError)
      await expect(store.open(address, { access: "read" })).rejects.toThrow(InvalidIdError)
    }
    await expect(store.list(name)).rejects.toThrow(InvalidIdError)
    expect(await filesBelow(root)).toEqual([])
  })

  test.each([...HOSTILE, "a.b.c", ".hidden", "a.", "a/../../x.txt", "x.tx/t", `${"x".repeat(200)}.${"y".repeat(200)}`])(
    "L1-5 no blob's name can: %j",
    async (name) => {
      const journal = await openJournal(root)
      const before = await filesBelow(root)
      await expect(journal.writeBlob(name, "x")).rejects.toThrow(InvalidIdError)
      await expect(journal.readBlob(name)).rejects.toThrow(InvalidIdError)
      expect(await filesBelow(root)).toEqual(before)
      await journal.close()
    },
  )
})

describe("L1-5 blobs", () => {
  test("come back byte for byte, are replaced whole, and are not there before", async () => {
    const journal = await openJournal(root)
    expect(await journal.readBlob("toolu_1.txt")).toBeUndefined()
    const receipt = await journal.writeBlob("toolu_1.txt", "grün")
    const path = join(pathsIn(root).blobs, "toolu_1.txt")
    expect(receipt).toEqual({ location: path, path, bytes: 5 })
    expect((await journal.readBlob("toolu_1.txt"))?.toString()).toBe("grün")
    const bytes = Uint8Array.from([0, 255, 10, 13])
    expect(await journal.writeBlob("toolu_1.txt", bytes)).toMatchObject({ bytes: 4 })
    expect(Uint8Array.from((await journal.readBlob("toolu_1.txt"))!)).toEqual(bytes)
    expect(await readdir(pathsIn(root).blobs)).toEqual(["toolu_1.txt"])
    await journal.close()
  })

  test("one that cannot be written is an error that says where and why", async () => {
    const journal = await openJournal(root)
    await mkdir(join(root, "projects", "p", "tool-results"))
    await writeFile(pathsIn(root).blobs, "a file in the directory's place")
    const writing = journal.writeBlob("toolu_1.txt", "x")
    await expect(writing).rejects.toThrow(JournalWriteError)
    await expect(writing).rejects.toThrow("toolu_1.txt")
    await journal.close()
  })
})

describe("JRN-3 when an entry is safe from a power cut", () => {
  type Flush = MockInstance<FileHandle["datasync"]>

  async function flushesDuring(work: (flush: Flush) => Promise<void>): Promise<number> {
    const handle = await open(join(root, "any"), "w")
    const flush = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, "datasync")
    try {
      await work(flush)
      return flush.mock.calls.length
    } finally {
      flush.mockRestore()
      await handle.close()
    }
  }
  const twoTurns = (journal: Journal) => async () => {
    for (let turn = 0; turn < 2; turn++) {
      await journal.append([userEntry("a")])
      await journal.append([userEntry("b")])
      await journal.sync()
      await journal.sync() // nothing new to flush
    }
  }

  test.each([
    ["always", 4],
    ["turn", 2],
    ["never", 0],
  ] as const)("flush %s: two turns of two entries are flushed %i times", async (mode, flushes) => {
    const journal = await openJournal(root, mode)
    expect(await flushesDuring(twoTurns(journal))).toBe(flushes)
    await journal.close()
  })

  test("a flush that fails is reported, and is due again", async () => {
    const journal = await openJournal(root, "turn")
    await journal.append([userEntry("a")])
    await flushesDuring(async (flush) => {
      flush.mockRejectedValueOnce(Object.assign(new Error("input/output error"), { code: "EIO" }))
      await expect(journal.sync()).rejects.toThrow(/failed \(the disk reports an error, EIO\)/)
      await journal.sync()
      expect(flush).toHaveBeenCalledTimes(2)
    })
    await journal.close()
  })

  test("a second caller waits for the flush that is under way", async () => {
    const journal = await openJournal(root, "turn")
    await journal.append([userEntry("a")])
    await flushesDuring(async (flush) => {
      const disk = Promise.withResolvers<void>()
      flush.mockReturnValueOnce(disk.promise)
      const order: string[] = []
      const both = ["first", "second"].map((name) => journal.sync().then(() => order.push(name)))
      await journal.find("elsewhere") // waits for the disk
      expect(order).toEqual([])
      disk.resolve()
      await Promise.all(both)
      expect(order).toEqual(["first", "second"])
      expect(flush).toHaveBeenCalledTimes(1)
    })
    await journal.close()
  })

  test("by turn, closing flushes what is left", async () => {
    const journal = await openJournal(root, "turn")
    await journal.append([userEntry("a")])
    expect(await flushesDuring(() => journal.close())).toBe(1)
  })
})

describe.skipIf(process.platform === "win32")("JRN-3 a process without free descriptors", () => {
  const WRITER = fileURLToPath(new URL("../../../test/few-files-writer.ts", import.meta.url))

  test("an append that cannot look at the lock says so, and does not say that the lock was broken", async () => {
    const limited = 'ulimit -n 64 && exec "$0" "$@"'
    const { stdout } = await promisify(execFile)("sh", ["-c", limited, process.execPath, WRITER, root])
    expect(JSON.parse(stdout)).toEqual({
      first: "done",
      without: `JournalWriteError: Writing to ${pathsIn(root).lock} failed (this process has too many open files, EMFILE). Everything acknowledged before is kept; this write was not made. Raise the limit ("ulimit -n" shows it), or do less at the same time. Then try again.`,
      second: "done",
      readAtTheEnd: ["first", "second"],
    })
  })
})

describe.skipIf(process.platform === "win32")("JRN-3 a disk without room", () => {
  const WRITER = fileURLToPath(new URL("../../../test/small-disk-writer.ts", import.meta.url))
  const ROOM = 64 * 1024
  const run = promisify(execFile)

  test("an append that fails is taken back whole, and says what was kept; a smaller one works", async () => {
    const limited = `ulimit -f ${ROOM / 512} && exec "$0" "$@"` // in blocks of 512 bytes, as POSIX has it
    const { stdout } = await run("sh", ["-c", limited, process.execPath, WRITER, root, String(ROOM * 4)])
    const failure = (path: string) =>
      `JournalWriteError: Writing to ${path} failed (the file has reached the size limit, EFBIG). Everything acknowledged before is kept; this write was not made. Raise the limit for the size of a file ("ulimit -f"). Then try again.`
    expect(JSON.parse(stdout)).toEqual({
      first: "done",
      large: failure(pathsIn(root).journal),
      readAfterFailure: ["first"],
      blob: failure(join(pathsIn(root).blobs, "large.txt")),
      blobAfterFailure: "none",
      second: "done",
      readAtTheEnd: ["first", "second"],
      found: true,
    })
    expect(await readdir(pathsIn(root).blobs)).toEqual([]) // no drafts remain
    const journal = await openJournal(root)
    expect(await textsOf(journal)).toEqual(["first", "second"])
    expect(journal.opening).toMatchObject({ tornBytes: 0, damagedLines: [], index: "used" })
    await journal.close()
  })

  test("where the index cannot be written, the entry is not acknowledged and not there", needs("linux"), async () => {
    const { index, directory, journal: path } = pathsIn(root)
    await mkdir(directory, { recursive: true })
    await symlink("/dev/full", index)
    const journal = await openJournal(root)
    await expect(journal.append([userEntry("lost")])).rejects.toThrow(/ENOSPC.*Everything acknowledged before is kept/)
    expect(await textsOf(journal)).toEqual([])
    expect((await stat(path)).size).toBe(0)
    await journal.close()
    await rm(index)
    const again = await openJournal(root)
    await again.append([userEntry("kept")])
    expect(await textsOf(again)).toEqual(["kept"])
    await again.close()
  })
})

test("JRN-3 the index is written in batches; a process that dies leaves the rest to the next opening", async () => {
  const journal = await openJournal(root)
  const entries = Array.from({ length: 100 }, (_, at) => userEntry(`entry ${at}`))
  const sizes = new Set<number>()
  for (const entry of entries) {
    await journal.append([entry])
    sizes.add((await stat(pathsIn(root).index)).size)
  }
  expect(sizes.size).toBe(2) // the first entry alone, then many in one write
  expect((await journal.find(entries[99]!.uuid))?.uuid).toBe(entries[99]!.uuid)
  expect(await textsOf(journal)).toHaveLength(100)
  const { root: dead, remove: removeDead } = await temporaryRoot()
  const isKept = (path: string) => !/\.(?:sock|lock)$/.test(path)
  await cp(pathsIn(root).directory, pathsIn(dead).directory, { recursive: true, filter: isKept })
  await journal.close()
  const again = await openJournal(dead)
  expect(await textsOf(again)).toHaveLength(100)
  expect(again.opening).toMatchObject({ index: "extended", damagedLines: [] })
  expect((await again.find(entries[99]!.uuid))?.uuid).toBe(entries[99]!.uuid)
  await again.close()
  await removeDead()
})

describe("JRN-3 reading only", () => {
  const untouched = async (work: () => Promise<void>) => {
    const snapshot = async () =>
      Promise.all(
        (await filesBelow(pathsIn(root).directory)).map(async (name) => {
          const path = join(pathsIn(root).directory, name)
          return [name, (await stat(path)).isFile() ? (await readFile(path)).toString("base64") : ""]
        }),
      )
    const before = await snapshot()
    await work()
    expect(await snapshot()).toEqual(before)
  }

  test("what is not there is not found, and no file is made", async () => {
    await expect(readOnly()).rejects.toThrow(ConversationNotFoundError)
    await expect(fileStore({ root }).open(ADDRESS, { access: "write" })).rejects.toThrow(ConversationNotFoundError)
    expect(await filesBelow(root)).toEqual([])
  })

  test.each<[string, (index: string) => Promise<void>]>([
    ["missing", (index) => rm(index)],
    ["empty", (index) => truncate(index)],
    ["behind", async (index) => truncate(index, 2 * 40)],
    ["torn", async (index) => truncate(index, 2 * 40 + 17)],
    ["damaged", async (index) => spoilByte(index, 4 * 40 + 3)],
    ["another journal's", (index) => writeFile(index, Buffer.alloc(5 * 40, 7))],
  ])("with an index that is %s: everything is read and found, nothing is changed", async (_name, spoil) => {
    const entries = await written("a", "b", "|", "c", "d")
    await spoil(pathsIn(root).index)
    await untouched(async () => {
      const reader = await readOnly()
      expect(await textsOf(reader)).toEqual(["a", "b", "c", "d"])
      expect((await reader.tail()).entries).toEqual(entries.slice(2))
      for (const entry of entries) expect(await reader.find(entry.uuid)).toEqual(entry)
      expect(reader.opening.damagedLines).toEqual([])
      await reader.close()
    })
  })

  test("a last line that was never finished is passed over and left alone", async () => {
    await written("a", "b")
    const { journal } = pathsIn(root)
    await truncate(journal, (await stat(journal)).size - 5)
    await untouched(async () => {
      const reader = await readOnly()
      expect(await textsOf(reader)).toEqual(["a"])
      expect(reader.opening.tornBytes).toBeGreaterThan(0)
      await reader.close()
    })
  })

  async function spoilByte(path: string, at: number): Promise<void> {
    const bytes = await readFile(path)
    bytes[at] = bytes[at]! ^ 0xff
    await writeFile(path, bytes)
  }
})

describe("JRN-7 listing", () => {
  async function conversationWith(
    id: string,
    { title, touched }: { title?: string; touched: string },
  ): Promise<string> {
    const store = fileStore({ root, flush: "never" })
    const chat = await openTestConversation({ store, id, cwd: "/w", layers: [compactingOnce()] })
    await chat.add({ role: "user", content: "hi" })
    if (title !== undefined) await chat.setTitle(title)
    await chat.prepare()
    await chat.close()
    await utimes(chat.location, new Date(touched), new Date(touched))
    return chat.location
  }

  test("has every conversation of a project, the one touched last first, with its latest facts", async () => {
    await conversationWith("older", { title: "Older", touched: "2026-01-01T00:00:00.000Z" })
    const path = await conversationWith("newer", { title: "Newer", touched: "2026-02-01T00:00:00.000Z" })
    await conversationWith("between", { touched: "2026-01-15T00:00:00.000Z" })
    await writeFile(join(path, "..", "notes.txt"), "not a conversation")
    await writeFile(join(path, "..", "bad name.jsonl"), "not one either")
    const listings = await fileStore({ root }).list("-w")
    expect(listings.map(({ id, touched, facts }) => [id, touched, facts?.title])).toEqual([
      ["newer", "2026-02-01T00:00:00.000Z", "Newer"],
      ["between", "2026-01-15T00:00:00.000Z", undefined],
      ["older", "2026-01-01T00:00:00.000Z", "Older"],
    ])
    expect(listings[0]).toMatchObject({
      bytes: (await stat(path)).size,
      facts: { model: "claude-opus-4-6", cwd: "/w" },
    })
  })

  test("needs only the tail: the facts follow the last boundary again", async () => {
    const path = await conversationWith("c", { title: "Title", touched: "2026-01-01T00:00:00.000Z" })
    const bytes = await readFile(path)
    bytes.fill("#", 0, bytes.lastIndexOf("\n", bytes.lastIndexOf('"compact_boundary"')))
    await writeFile(path, bytes)
    expect((await fileStore({ root }).list("-w"))[0]).toMatchObject({ id: "c", facts: { title: "Title" } })
  })

  test.each(["file", "memory"])("has a conversation whose process died before its first request (%s)", async (kind) => {
    const store = kind === "file" ? fileStore({ root, flush: "never" }) : memoryStore()
    const chat = await openTestConversation({ store, id: "c", cwd: "/w" })
    await chat.attach({ type: "memory", path: "m", content: "c" })
    expect((await store.list("-w"))[0]).not.toHaveProperty("facts") // no one has asked anything yet
    await chat.add({ role: "user", content: "\nFix the failing test\nin parser.ts" })
    expect(await store.list("-w")).toEqual([
      {
        id: "c",
        bytes: expect.any(Number),
        touched: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        lastMessage: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        facts: { model: "claude-opus-4-6", cwd: "/w" },
        firstWords: "Fix the failing test",
      },
    ])
    await chat.setTitle("Parser")
    expect((await store.list("-w"))[0]).toMatchObject({ facts: { title: "Parser", model: "claude-opus-4-6" } })
    await chat.close()
  })
})
