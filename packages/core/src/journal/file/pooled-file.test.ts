import { readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { setImmediate } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot, textsOf, userEntry } from "../../../test/journal-files.ts"
import { needs } from "../../../test/needs.ts"
import { isWhole } from "../../../test/size.ts"
import { JournalWriteError } from "../../base/errors.ts"
import type { Journal } from "../store.ts"
import { fileStore } from "./file-store.ts"

const MANY = 200

async function manyJournals() {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const store = fileStore({ root })
  const open = (at: number) => store.open({ project: "p", id: `j${at}` }, { access: "write", create: true })
  const journals: Journal[] = []
  onTestFinished(async () => {
    for (const journal of journals) await journal.close().catch(() => undefined)
  })
  for (let at = 0; at < MANY; at++) journals.push(await open(at))
  return { journals, open }
}

test.runIf(isWhole)(
  "JRN-3 many open journals share a few descriptors, and each goes on where it was",
  needs("linux"),
  async () => {
    const descriptors = () => readdirSync("/proc/self/fd").length
    const before = descriptors()
    const { journals, open } = await manyJournals()
    for (const turn of ["first", "second"])
      for (const [at, journal] of journals.entries()) await journal.append([userEntry(`${turn} of ${at}`)])
    const flushed = Promise.all(journals.map((journal) => journal.sync()))
    let [max, isOver] = [0, false]
    void flushed.finally(() => {
      isOver = true
    })
    for (; !isOver; await setImmediate()) max = Math.max(max, descriptors() - before)
    await flushed
    expect(max).toBeLessThan(160) // 128, plus some that are being closed
    for (const [at, journal] of journals.entries())
      expect(await textsOf(journal)).toEqual([`first of ${at}`, `second of ${at}`])
    for (const journal of journals.splice(0)) await journal.close()
    expect(descriptors() - before).toBeLessThan(5)
    const again = await open(7)
    journals.push(again)
    expect(await textsOf(again)).toEqual(["first of 7", "second of 7"])
  },
)

test("JRN-3 a journal that was replaced or removed while it was idle is not written to, and says so", async () => {
  const { journals } = await manyJournals() // the first ones are idle
  const [replaced, removed] = [journals[0]!, journals[1]!]
  for (const journal of [replaced, removed]) await journal.append([userEntry("kept")])
  for (const journal of journals.slice(2)) await journal.append([userEntry("other")])
  renameSync(replaced.location, `${replaced.location}.old`)
  writeFileSync(replaced.location, "")
  rmSync(removed.location)
  for (const journal of [replaced, removed])
    await expect(journal.append([userEntry("lost")])).rejects.toThrow(JournalWriteError)
})
