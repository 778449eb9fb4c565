/** What a killed process wrote and did not publish or list: erasing removes it, and moving continues in spite of it. */
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { entriesOf, sketched } from "../../../../../store-contract/src/entries.ts"
import { temporaryRoot } from "../../../../test/journal-files.ts"
import { eraseFrom } from "../../../memory/erase-from.ts"
import { memoryStore } from "../../in-memory/store.ts"
import { moveContents } from "../../move-contents.ts"
import { fileStore } from "../file-store.ts"
import { draftName } from "../guarded-writes.ts"
import { journalPaths, logPath, teamDirectory } from "../layout.ts"
import { draftPath } from "../memory-texts.ts"

const WORD = "zanzibar"
const ADDRESS = { project: "p", id: "c" }
const make = entriesOf("killed writes")

async function begun() {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const store = fileStore({ root, flush: "never" })
  const journal = await store.open(ADDRESS, { access: "write", create: true })
  await journal.append(sketched(make, WORD))
  await journal.close()
  return { root, store }
}

/** The files that contain the word. */
async function filesWith(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const texts = await Promise.all(paths.map((path) => readFile(path, "latin1")))
  return paths.filter((_, at) => texts[at]!.includes(WORD))
}

async function left(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `all about ${WORD}`)
}

test("JRN-8 drafts of a conversation go with it", async () => {
  const { root, store } = await begun()
  const { notes, checkpoint, blobs } = journalPaths(root, ADDRESS)
  for (const path of [notes, checkpoint, join(blobs, "b.txt")]) await left(draftName(path, 7))
  await eraseFrom(store, { subject: WORD })
  expect(await filesWith(root)).toEqual([])
})

test("BEY-12 a conversation of which a move had written only files is found by erasing", async () => {
  const { root, store } = await begun()
  const address = { kind: "journal", project: "p", id: "half" } as const
  const { notes } = journalPaths(root, address)
  await mkdir(join(notes, "in-the-way"), { recursive: true }) // the write fails here
  const files = ["blob/b.txt", "notes"].map((name) => ({ name, data: Buffer.from(WORD), replaces: true }))
  await expect(store.contents().write(address, { files })).rejects.toThrow()
  expect(await filesWith(root)).toContain(join(journalPaths(root, address).blobs, "b.txt"))
  await rm(notes, { recursive: true })
  await eraseFrom(store, { subject: WORD })
  expect(await filesWith(root)).toEqual([])
})

test("JRN-8 drafts of memories go with what is erased there, also where nothing else is", async () => {
  const { root, store } = await begun()
  for (const project of ["p", "empty"]) {
    const { directory } = store.memories({ project })
    await left(draftPath(join(directory!, "notes", "a.md")))
  }
  await store.memories({ project: "p" }).install([{ path: "b.md", text: `${WORD} too` }])
  await eraseFrom(store, { subject: WORD })
  expect(await filesWith(root)).toEqual([])
})

test("JRN-8 drafts of messages go with what is erased there, also where nothing else is", async () => {
  const { root, store } = await begun()
  const mailbox = store.mailboxes({ project: "p", team: "t" })
  await mailbox.send({ from: "a", to: ["b"], content: { text: WORD } })
  await mailbox.close()
  for (const team of ["t", "empty"]) await left(join(teamDirectory(root, { project: "p", team }), "00000001.log.draft"))
  await eraseFrom(store, { subject: WORD })
  expect(await filesWith(root)).toEqual([])
})

test("BEY-12 lines that are moved to a log never go on a line that was not finished there", async () => {
  const { root, store } = await begun()
  const [log, other] = [{ project: "p", name: "callers" } as const, memoryStore()]
  for (const line of ["one", "two"]) await other.log(log).append(line)
  await store.log(log).append("one")
  await appendFile(logPath(root, log), "tw")
  await moveContents({ from: other, to: store })
  expect(await store.log(log).read()).toEqual(["one", "two"])
})
