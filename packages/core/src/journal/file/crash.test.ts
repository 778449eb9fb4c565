import { type ChildProcess, spawn } from "node:child_process"
import { copyFile, mkdir, readFile, truncate, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import fc from "fast-check"
import { expect, test } from "vitest"
import { openJournal, pathsIn, temporaryRoot, textsOf, userEntry } from "../../../test/journal-files.ts"
import { everyNth, isWhole, size } from "../../../test/size.ts"

const WRITER = fileURLToPath(new URL("../../../test/crash-writer.ts", import.meta.url))
const JOURNALS = 5 // journals per process: starting a process takes longer than everything else
const CRASHES = Number(process.env.CRASH_KILLS ?? size(3, 150))
const MAX_LINES = 8 // of each journal, before the kill
const CUTS_AT_ONCE = 8

test.concurrent("JRN-3 a writer killed at random points loses nothing acknowledged and fuses no two records", async () => {
  const kills = Math.ceil(CRASHES / JOURNALS)
  const killAfter = fc.sample(fc.nat(MAX_LINES * JOURNALS), { numRuns: kills, seed: 7 })
  // two processes at once, one for each core
  const written = await Promise.all([0, 1].map((half) => killAgainAndAgain(killAfter.filter((_, i) => i % 2 === half))))
  expect(written[0]! + written[1]!).toBeGreaterThan(CRASHES)
})

/** Repeatedly kills a writer after the given numbers of lines, checks what it left, and lets the next writer continue. */
async function killAgainAndAgain(killAfter: readonly number[]): Promise<number> {
  const { root, remove } = await temporaryRoot()
  let written: readonly number[] = Array(JOURNALS).fill(0)
  for (const lines of killAfter) {
    const acknowledged = await writeUntilKilled({ root, firsts: written.map((count) => count + 1), lines })
    written = await Promise.all(acknowledged.map((count, at) => whatIsLeft(join(root, String(at)), count)))
  }
  await remove()
  return written.reduce((sum, count) => sum + count, 0)
}

/** Number of entries that a journal holds after a crash. */
async function whatIsLeft(root: string, acknowledged: number): Promise<number> {
  const journal = await openJournal(root)
  const numbers = (await textsOf(journal)).map((text) => Number(text.split(" ")[0]))
  expect(numbers).toEqual(numbers.map((_, i) => i + 1)) // each entry once, in order, none missing
  expect(numbers.length).toBeGreaterThanOrEqual(acknowledged)
  expect(journal.opening).toMatchObject({ tookOverLock: true, damagedLines: [] })
  await journal.close()
  return numbers.length
}

interface Run {
  readonly root: string
  /** Number of the first line that this run writes to each journal. */
  readonly firsts: readonly number[]
  readonly lines: number
}

/** Resolves with the highest number acknowledged to the writer, per journal. */
function writeUntilKilled({ root, firsts, lines }: Run): Promise<readonly number[]> {
  const child: ChildProcess = spawn(process.execPath, [WRITER, root, "never", ...firsts.map(String)], {
    stdio: ["pipe", "pipe", "inherit"], // the process ends when its input closes
  })
  return new Promise((resolve, reject) => {
    let seen = 0
    const acknowledged = firsts.map((first) => first - 1)
    createInterface({ input: child.stdout! }).on("line", (line) => {
      const [, at, number] = /^acknowledged (\d+) (\d+)$/.exec(line) ?? []
      if (at !== undefined) acknowledged[Number(at)] = Number(number)
      if (seen++ === lines) child.kill("SIGKILL")
    })
    child.on("error", reject)
    child.on("close", (_code, signal) => {
      if (signal !== "SIGKILL") reject(new Error(`the writer ended by itself (${signal})`))
      else resolve(acknowledged)
    })
  })
}

test.runIf(isWhole)(
  "JRN-3 a journal cut at any byte of its last records opens with every whole record and says what it cut off",
  async () => {
    const { root, remove } = await temporaryRoot()
    const journal = await openJournal(join(root, "whole"))
    const texts = ["one", "two", "drei mit Ümlaut", "四", "last"]
    for (const text of texts) await journal.append([userEntry(text)])
    await journal.close()
    const whole = await readFile(pathsIn(join(root, "whole")).journal)
    const ends = [...whole.entries()].filter(([, byte]) => byte === 0x0a).map(([at]) => at + 1)
    const from = ends[2]! // two records, one of them with a multibyte character

    const cutAt = async (cut: number, index: "kept" | "missing") => {
      const copy = join(root, `${cut}-${index}`)
      await mkdir(dirname(pathsIn(copy).journal), { recursive: true })
      await copyFile(pathsIn(join(root, "whole")).journal, pathsIn(copy).journal)
      if (index === "kept") await copyFile(pathsIn(join(root, "whole")).index, pathsIn(copy).index)
      await truncate(pathsIn(copy).journal, cut)

      const reopened = await openJournal(copy)
      // a record that lacks only its line end is complete
      const expected = ends.filter((end) => end <= cut || end === cut + 1).length
      expect(await textsOf(reopened)).toEqual(texts.slice(0, expected))
      const lastEnd = ends[expected - 1]!
      expect(reopened.opening.tornBytes).toBe(cut >= lastEnd ? cut - lastEnd : 0)
      await reopened.append([userEntry("after")])
      expect(await textsOf(reopened)).toEqual([...texts.slice(0, expected), "after"])
      await reopened.close()
    }
    // in parallel, since each cut mostly waits for the disk
    const cuts = everyNth(
      Array.from({ length: whole.length + 1 - from }, (_, at) => from + at),
      11,
    )
    for (let at = 0; at < cuts.length; at += CUTS_AT_ONCE)
      await Promise.all(cuts.slice(at, at + CUTS_AT_ONCE).flatMap((cut) => [cutAt(cut, "kept"), cutAt(cut, "missing")]))
    await remove()
  },
)

test("JRN-3 a damaged line in the middle is set aside, reported and skipped; the rest is read", async () => {
  const { root, remove } = await temporaryRoot()
  const journal = await openJournal(root)
  const entries = ["one", "two", "three"].map((text) => userEntry(text))
  await journal.append(entries)
  await journal.close()
  const paths = pathsIn(root)
  const bytes = await readFile(paths.journal)
  const at = bytes.indexOf("two")
  bytes[at] = 0x54 // "Two": still JSON, but not what was written
  await writeFile(paths.journal, bytes)
  await writeFile(paths.index, "")

  const reopened = await openJournal(root)
  expect(await textsOf(reopened)).toEqual(["one", "three"])
  expect(reopened.opening).toMatchObject({ index: "rebuilt", tornBytes: 0, quarantineFile: paths.quarantine })
  expect(reopened.opening.damagedLines).toHaveLength(1)
  const aside = JSON.parse(await readFile(paths.quarantine, "utf8")) as { base64: string }
  expect(Buffer.from(aside.base64, "base64").toString()).toContain("Two")
  expect(await reopened.find(entries[1]!.uuid)).toBeUndefined()
  expect(await reopened.find(entries[2]!.uuid)).toMatchObject({ message: { content: "three" } })
  await reopened.close()
  await remove()
})
