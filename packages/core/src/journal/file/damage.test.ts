import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { appendFile, mkdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { ADDRESS, openJournal, pathsIn, temporaryRoot, textsOf, userEntry } from "../../../test/journal-files.ts"
import { needs } from "../../../test/needs.ts"
import { openTestConversation } from "../../../test/open.ts"
import { everyNth, isWhole, size as scaled } from "../../../test/size.ts"
import { seededIds } from "../../base/clock.ts"
import { type Conversation, engineOf } from "../../conversation/conversation.ts"
import type { Entry, EntryDraft } from "../entries.ts"
import { fileStore } from "./file-store.ts"
import { acquireLock } from "./lock.ts"

let root: string
let remove: () => Promise<void>
beforeEach(async () => {
  ;({ root, remove } = await temporaryRoot())
})
afterEach(() => remove())

const open = (drafts: EntryDraft[] = [], ids = "first"): Promise<Conversation> =>
  openTestConversation({
    store: fileStore({ root, flush: "never" }),
    ids: seededIds(ids),
    layers: [{ name: "compacting", beforeRequest: async () => ({ drafts: drafts.splice(0) }) }],
  })

const textsIn = (chat: Conversation) =>
  engineOf(chat)
    .views.context.storedMessages()
    .flatMap((message) => (message.type === "user" ? JSON.stringify(message.message.content).match(/[a-z]+ \d+/g) : []))

/** Changes one byte at the first occurrence of a text. */
async function spoil(path: string, text: string, shift = 0): Promise<void> {
  const bytes = await readFile(path)
  const at = bytes.lastIndexOf(text) + shift
  bytes[at] = bytes[at]! ^ 4
  await writeFile(path, bytes)
}

const BOUNDARY = "10000000-0000-8000-8000-000000000000"
const SUMMARY = "20000000-0000-8000-8000-000000000000"

/** The entries that a compaction writes. */
const compaction = (kept: readonly string[]): EntryDraft[] => [
  {
    type: "system",
    subtype: "compact_boundary",
    uuid: BOUNDARY,
    compactMetadata: {
      trigger: "auto",
      preTokens: 9,
      postTokens: 5,
      toolsDiscovered: [],
      preservedMessages: { anchorUuid: SUMMARY, uuids: kept },
    },
  },
  { type: "user", uuid: SUMMARY, isCompactSummary: true, message: { role: "user", content: "summary 1" } },
  {
    type: "strata",
    subtype: "compacted",
    boundary: BOUNDARY,
    kept,
    trigger: "auto",
    route: "direct",
    tokensBefore: 9,
    tokensAfter: 5,
    threshold: 8,
  },
]

describe("JRN-9 a damaged message", () => {
  async function twenty(): Promise<Conversation> {
    const chat = await open()
    for (let number = 1; number <= 20; number++) await chat.add(`Never use tabs: rule ${number}.`)
    await chat.close()
    return chat
  }

  test.each(["with the index", "without the index"])(
    "hides only itself, %s: 19 of 20 messages and rules are there",
    async (how) => {
      const { location } = await twenty()
      await spoil(location, "rule 16")
      if (how === "without the index") await rm(location.replace(".jsonl", ".index"))
      const again = await open()
      expect(textsIn(again)).toHaveLength(19)
      expect(again.userMessages().messages).toHaveLength(19)
      const [place] = again.openResult.damagedLines
      const bytes = await readFile(location)
      const { offset, bytes: length } = place!
      expect(place).toMatchObject({ line: 17, why: "the checksum does not match", isLost: true })
      expect(bytes.toString("utf8", offset, offset + length)).toMatch(/^\{"uuid".*"sum":"[0-9a-f]{8}"\}$/)
      expect(again.openResult).toMatchObject({
        damagedCount: 1,
        bridged: 1,
        quarantineFile: pathOf(location, ".damaged"),
      })
      const next = await again.add("after 1")
      await again.close()
      const third = await open([], "third")
      expect(textsIn(third)).toHaveLength(20)
      expect(engineOf(third).views.context.newest?.uuid).toBe(next)
      await third.close()
      expect((await readFile(pathOf(location, ".damaged"), "utf8")).trim().split("\n")).toHaveLength(1)
      expect((await readFile(location)).subarray(0, bytes.length).equals(bytes)).toBe(true) // the damaged bytes are still in the journal
    },
  )

  test("the first, the last, and two that follow one another", async () => {
    for (const [spoilt, left] of [
      [["rule 1."], 19],
      [["rule 20"], 19],
      [["rule 7", "rule 8"], 18],
    ] as const) {
      const { location } = await twenty()
      for (const text of spoilt) await spoil(location, text)
      await using again = await open()
      expect(textsIn(again)).toHaveLength(left)
      expect(again.openResult.damagedCount).toBe(20 - left)
      await again.close()
      await rm(root, { recursive: true })
    }
  })

  test.each(["with the index", "without the index"])(
    "two lines that lost the line end between them are both read, %s",
    async (how) => {
      const { location } = await twenty()
      const bytes = await readFile(location)
      bytes[bytes.indexOf("\n", bytes.indexOf("rule 9."))] = 0x0b
      await writeFile(location, bytes)
      if (how === "without the index") await rm(location.replace(".jsonl", ".index"))
      await using again = await open()
      expect(textsIn(again)).toHaveLength(20)
      expect(again.openResult.damagedLines).toMatchObject([{ bytes: 1, isLost: false }])
    },
  )

  test("after the last boundary is no concern of opening; recall and going back report it as a notice", async () => {
    const drafts: EntryDraft[] = []
    const chat = await open(drafts)
    const first = await chat.add("before 1")
    await chat.add("before 2")
    drafts.push(...compaction([]))
    await chat.prepare()
    await chat.close()
    await spoil(chat.location, "before 2")
    await using again = await open([], "again")
    expect(again.openResult).toMatchObject({ damagedCount: 0, read: "tail" })
    const notices: string[] = []
    again.on("notice", ({ message }) => notices.push(message))
    await again.rewind(first)
    expect(notices).toEqual([expect.stringMatching(/^One place in the journal is damaged: line 3 /)])
    expect(notices[0]).toContain(`${chat.location}, and a copy is in`)
  })

  test("thinking after it is dropped once for a model that binds thinking to what comes before it", async () => {
    const openBound = (ids: string) =>
      openTestConversation({
        store: fileStore({ root, flush: "never" }),
        ids: seededIds(ids),
        model: "claude-opus-5-5",
      })
    const chat = await openBound("first")
    await chat.add("question 1")
    await chat.prepare()
    await chat.record({
      id: "msg_1",
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: "answer" },
      ],
      stop_reason: "end_turn",
    })
    await chat.add("question 2")
    await chat.prepare()
    await chat.close()
    await spoil(chat.location, "question 1")
    const bodies: string[] = []
    for (const ids of ["second", "third"]) {
      const again = await openBound(ids)
      bodies.push(JSON.stringify(await again.prepare()))
      await again.close()
    }
    expect(bodies[0]).toContain("answer")
    expect(bodies[0]).not.toContain('"thinking":"hm"')
    expect(bodies[1]).toBe(bodies[0])
    expect((await readFile(chat.location, "utf8")).match(/"subtype":"thinking-dropped"/g)).toHaveLength(1)
  })
})

const pathOf = (location: string, extension: string) => location.replace(/\.jsonl$/, extension)

describe("JRN-9 a damaged compaction", () => {
  async function compacted(): Promise<{ location: string; body: string }> {
    const drafts: EntryDraft[] = []
    const chat = await open(drafts)
    await chat.add("old 1")
    const kept = await chat.add("kept 1")
    drafts.push(...compaction([kept]))
    const body = JSON.stringify(await chat.prepare())
    await chat.close()
    return { location: chat.location, body }
  }

  const spoils = [
    ["its boundary", '"compact_boundary"', 3],
    ["the boundary's id", `{"uuid":"${BOUNDARY}`, 12],
    ["its last entry", '"compacted"', 4],
  ] as const
  test.each(everyNth(spoils, 3))(
    "%s is rebuilt from the lines around it: the request is the same, and the damage is reported",
    async (_what, text, shift) => {
      for (const lost of [[], [".index"], [".index", ".checkpoint"]]) {
        const { location, body } = await compacted()
        await spoil(location, text, shift)
        for (const extension of lost) await rm(pathOf(location, extension))
        for (let opening = 0; opening < 2; opening++) {
          await using again = await open([], `again ${opening}`)
          expect(JSON.stringify(await again.prepare())).toBe(body)
          expect(again.openResult).toMatchObject({ damagedCount: 1, restored: 1 })
          await again.close()
        }
        await rm(root, { recursive: true })
      }
    },
  )

  test("a kept message that is damaged is missing and reported, although it is before the boundary", async () => {
    const { location } = await compacted()
    await spoil(location, "kept 1")
    await using again = await open()
    expect(textsIn(again)).toEqual(["summary 1"])
    expect(again.openResult).toMatchObject({ damagedCount: 1, read: "tail" })
  })

  test.runIf(isWhole)("a checkpoint has a checksum: every flipped bit is found, and it is made again", async () => {
    const { location } = await compacted()
    const path = pathOf(location, ".checkpoint")
    const whole = await readFile(path)
    for (let at = 0; at < whole.length; at += scaled(307, 61)) {
      const bytes = Buffer.from(whole)
      bytes[at] = bytes[at]! ^ (1 << (at % 8))
      await writeFile(path, bytes)
      await using again = await open()
      expect(again.openResult).toMatchObject({ checkpoint: "damaged", read: "all", damagedCount: 0 })
      await again.close()
      await using third = await open()
      expect(third.openResult).toMatchObject({ checkpoint: "used", read: "tail" })
      await third.close()
    }
  })
})

const LINES = scaled(5_000, 50_000)
const LONG = scaled(20_000_000, 100_000_000)

describe("JRN-9 a journal that is damaged as a whole", () => {
  async function written(count: number): Promise<readonly Entry[]> {
    let parent: string | null = null
    const entries = Array.from({ length: count }, (_, number) => {
      const entry = userEntry(`text ${number}`, parent)
      parent = entry.uuid
      return entry
    })
    const journal = await openJournal(root)
    await journal.append(entries)
    await journal.close()
    return entries
  }

  test(`${LINES} damaged lines are set aside once, and the report is bounded`, async () => {
    await written(2)
    const { journal: path, quarantine } = pathsIn(root)
    await appendFile(path, "this is no entry\n".repeat(LINES))
    const journal = await openJournal(root)
    expect(journal.opening.damagedLines).toHaveLength(100)
    expect(journal.opening.damagedCount).toBe(LINES)
    expect(await textsOf(journal)).toEqual(["text 0", "text 1"])
    await journal.close()
    const { size } = await stat(quarantine)
    const again = await openJournal(root)
    expect((await again.tail()).entries).toHaveLength(2)
    await again.close()
    expect((await stat(quarantine)).size).toBe(size)
  })

  test("written twice, each line is read once and the others are counted, with and without the index", async () => {
    const entries = await written(5)
    const { journal: path, index } = pathsIn(root)
    await appendFile(path, await readFile(path))
    for (const how of ["kept", "missing"]) {
      if (how === "missing") await rm(index)
      const journal = await openJournal(root)
      expect((await journal.tail()).entries).toEqual(entries)
      expect(journal.opening).toMatchObject({ repeatedLines: 5, damagedCount: 0 })
      await journal.close()
    }
  })

  test("a conversation with a boundary that was written twice shows the same", async () => {
    const drafts: EntryDraft[] = []
    const chat = await open(drafts)
    await chat.add("old 1")
    drafts.push(...compaction([]))
    await chat.prepare()
    await chat.add("new 1")
    const body = JSON.stringify(await chat.prepare())
    await chat.close()
    await appendFile(chat.location, await readFile(chat.location))
    await using again = await open([], "again")
    expect(JSON.stringify(await again.prepare())).toBe(body)
    expect(again.openResult.repeatedLines).toBeGreaterThan(5)
  })

  test("zeros at the end, as a power cut leaves them, are described and cut off", async () => {
    await written(2)
    const { journal: path, quarantine } = pathsIn(root)
    const { size } = await stat(path)
    await truncate(path, size + 20_000_000)
    const journal = await openJournal(root)
    expect(journal.opening.tornBytes).toBe(20_000_000)
    await journal.append([userEntry("after")])
    expect(await textsOf(journal)).toEqual(["text 0", "text 1", "after"])
    await journal.close()
    expect((await stat(quarantine)).size).toBeLessThan(1_000)
  })

  test(`a line of ${LONG / 1_000_000} MB without an end is set aside whole`, async () => {
    await written(2)
    const { journal: path, quarantine } = pathsIn(root)
    await appendFile(path, Buffer.alloc(LONG, "x"))
    const journal = await openJournal(root)
    expect(journal.opening.tornBytes).toBe(LONG)
    expect(await textsOf(journal)).toEqual(["text 0", "text 1"])
    await journal.close()
    expect((await stat(quarantine)).size).toBeGreaterThan(1.33 * LONG)
  })

  test("two writers that ignored the lock: every line of both is read", async () => {
    await written(2)
    const { journal: path, lock } = pathsIn(root)
    const one = await openJournal(root)
    await rename(lock, `${lock}-one`)
    const two = await openJournal(root)
    await rename(lock, `${lock}-two`)
    const holding = async (own: string, work: () => Promise<void>) => {
      await rename(`${lock}-${own}`, lock) // each process looks for its own lock
      await work()
      await rename(lock, `${lock}-${own}`)
    }
    for (let number = 0; number < 5; number++) {
      await holding("one", () => one.append([userEntry(`one ${number} ${"x".repeat(number)}`)]))
      await holding("two", () => two.append([userEntry(`two ${number}`)]))
    }
    await one.close()
    await two.close()
    await rm(lock, { force: true })
    expect((await readFile(path, "utf8")).match(/\n/g)).toHaveLength(12)
    const journal = await openJournal(root)
    expect(await textsOf(journal)).toHaveLength(12)
    await journal.close()
  })
})

describe("JRN-9 what is in the way of opening", () => {
  const opening = (given: string = root) =>
    fileStore({ root: given })
      .open(ADDRESS, { access: "write", create: true })
      .then(
        (journal) => journal.close().then(() => "opened"),
        (error: Error) => `${error.name}: ${error.message}`,
      )

  test.each([
    "null",
    "{}",
    "",
    "[]",
    "7",
    '"text"',
    "not JSON",
    '{"pid":-1}',
    '{"pid":"x","host":1}',
    "x".repeat(9_000),
  ])("a lock file without an owner is taken over: %.20j", async (content) => {
    await mkdir(pathsIn(root).directory, { recursive: true })
    await writeFile(pathsIn(root).lock, content)
    expect(await opening()).toBe("opened")
    expect(existsSync(pathsIn(root).lock)).toBe(false)
  })

  test("a lock that is a directory, or a link to nowhere, is a clear error", async () => {
    await mkdir(pathsIn(root).lock, { recursive: true })
    expect(await opening()).toMatch(/^JournalOpenError: .*c\.lock is not a file\. Remove it/)
    await rm(pathsIn(root).lock, { recursive: true })
    await symlink(join(root, "nowhere"), pathsIn(root).lock)
    expect(await opening()).toMatch(/c\.lock is not a file/)
    await expect(acquireLock(pathsIn(root).lock, "now")).rejects.toThrow("is not a file")
  })

  test("a root that is a file, and a journal that is a directory", async () => {
    await writeFile(join(root, "file"), "")
    expect(await opening(join(root, "file"))).toMatch(
      /^JournalOpenError: .* cannot be opened for writing \(a file is where a directory should be, ENOTDIR\)\. No entry was added/,
    )
    await mkdir(pathsIn(root).journal, { recursive: true })
    expect(await opening()).toMatch(/^JournalOpenError: .*c\.jsonl is not a file/)
    expect(await fileStore({ root }).list("p")).toEqual([])
  })

  test("a root below /proc ends with an error", needs("linux"), async () => {
    expect(await opening("/proc/strata-test")).toMatch(/^JournalOpenError: \/proc\/strata-test cannot be opened/)
  })

  test("a disk without room, at opening", needs("linux"), async () => {
    const script = fileURLToPath(new URL("../../../test/open-journal.ts", import.meta.url))
    const limited = 'ulimit -f 0 && exec "$0" "$@"'
    const { stdout } = await promisify(execFile)("sh", ["-c", limited, process.execPath, script, root])
    expect(stdout).toMatch(
      /^JournalOpenError: .* \(the file has reached the size limit, EFBIG\)\. No entry was added, and everything/,
    )
  })
})
