import { appendFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { conversation } from "../../test/builders.ts"
import { temporaryRoot } from "../../test/journal-files.ts"
import { fuzz } from "../../test/runs.ts"
import { isWhole } from "../../test/size.ts"
import { seededIds } from "../base/clock.ts"
import type { Entry } from "../journal/entries.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { projectDirectory } from "../journal/file/layout.ts"
import { encodeLine } from "../journal/line.ts"
import { PassageIndex } from "./index/passage-index.ts"
import { JournalSearch } from "./journal-search.ts"
import { MemorySearch } from "./memory-search.ts"
import type { Passage } from "./passages/passage.ts"

const NOW = new Date("2026-03-10T12:00:00Z")
const WORDS = "heron port staging server walrus invoice deploy Bertha ERR_42 src/foo.ts Monday".split(" ")

async function directory(): Promise<string> {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  return root
}

let count = 0
const passage = (text: string): Passage => ({
  ...{ uuid: `u${++count}`, blocks: "0", kind: count % 3 ? "user" : "assistant", isDialogue: count % 5 > 0 },
  ...{ time: new Date(Date.UTC(2026, 0, 1) + count * 3_600_000).toISOString(), start: 0, length: text.length, text },
})

const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 12 }).map((words) => words.join(" "))
const step = fc.record({
  source: fc.constantFrom("a", "b", "c"),
  what: fc.constantFrom("add", "add", "add", "restart", "remove"),
  texts: fc.array(text, { minLength: 1, maxLength: 4 }),
  question: text,
})

const answers = (index: PassageIndex, question: string) =>
  index
    .search({ text: question, now: NOW, context: ["the staging server"], limit: 20 })
    .found.map(({ uuid, score }) => `${uuid} ${score.toFixed(3)}`)

test("BEY-5 an index that is asked while it grows, shrinks and grows again answers like one that was built at once", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      const followed = new PassageIndex(":memory:")
      const atOnce = new PassageIndex(":memory:")
      const [positions, all] = [new Map<string, string>(), new Map<string, Passage[]>()]
      for (const [nth, { source, what, texts, question }] of steps.entries()) {
        const isRestart = what === "restart"
        if (what === "remove") {
          followed.remove(source)
          positions.delete(source)
          all.delete(source)
        } else {
          const passages = texts.map(passage)
          const from = positions.get(source)
          expect(followed.extend({ source, passages, from, to: `${nth}`, isRestart })).toBe(true)
          positions.set(source, `${nth}`)
          all.set(source, [...(isRestart ? [] : (all.get(source) ?? [])), ...passages])
        }
        answers(followed, question) // data cached for later questions must be updated too
      }
      atOnce.replace(all)
      for (const { question } of steps) expect(answers(followed, question)).toEqual(answers(atOnce, question))
      for (const index of [followed, atOnce]) index.close()
    }),
    fuzz,
  )
})

test.runIf(isWhole)(
  "BEY-5 a large index answers the same after it is opened again, also once a source of its middle is gone",
  async () => {
    const path = join(await directory(), "search.sqlite")
    const sources = new Map(
      Array.from({ length: 30 }, (_, nth) => [
        `s${nth}`,
        Array.from({ length: 100 }, (_, at) =>
          passage(`${WORDS[(nth + at) % WORDS.length]} ${WORDS[at % 7]} n${nth}x${at}`),
        ),
      ]),
    )
    const index = new PassageIndex(path)
    for (const [source, passages] of sources) index.extend({ source, passages, from: undefined, to: "1" })
    const ask = (one: PassageIndex) =>
      ["heron port", "n14x50", "walrus on Monday"].map((question) => answers(one, question))
    const compare = () => {
      const again = new PassageIndex(path)
      expect(ask(again)).toEqual(ask(index))
      again.close()
    }
    compare()
    index.remove("s14")
    expect(index.search({ text: "n14x50", now: NOW }).found).toEqual([])
    compare()
    index.close()
  },
)

const ids = seededIds("followed")
const userEntry = (words: string): Entry => ({ ...conversation().user(words).messages[0]!, uuid: ids.uuid() })

test("BEY-5 what another process writes to an old conversation, and what it deletes, shows with the next search", async () => {
  const root = await directory()
  const place = projectDirectory(root, "p")
  const write = async (id: string, words: string) => {
    const journal = await fileStore({ root, flush: "never" }).open(
      { project: "p", id },
      { access: "write", create: true },
    )
    await journal.append([userEntry(words)])
    await journal.close()
  }
  for (let nth = 0; nth < 40; nth++) await write(`c${nth}`, `word${nth}`)
  const search = new JournalSearch({ feed: fileStore({ root }).feed({ project: "p" }) })
  onTestFinished(() => search.close())
  const found = async (words: string) =>
    (await search.search({ text: words, now: NOW })).answer.found.map((one) => one.text)
  expect(await found("word3")).toEqual(["word3"])
  await write("c3", "pelican")
  expect(await found("pelican")).toEqual(["pelican"])
  appendFileSync(join(place, "c4.jsonl"), encodeLine(userEntry("cormorant")))
  if (process.platform === "linux") expect(await found("cormorant")).toEqual(["cormorant"])
  rmSync(join(place, "c5.jsonl"))
  expect(await found("word5")).toEqual([])
})

const memory = (name: string, body: string) => ({
  ...{ file: `${name}.md`, name, description: "", type: "project", body },
  ...{ created: "2026-01-01", confirmed: "2026-01-01" },
})

test("L5-11 an index of memories in a file: another process has it at once, and a damaged or removed one is built again", async () => {
  const path = join(await directory(), "memories.sqlite")
  const memories = [memory("port", "The staging port is 4010."), memory("heron", "The heron is called Bertha.")]
  const found = (search: MemorySearch<(typeof memories)[number]>) =>
    search.search({ text: "what is the heron called", now: NOW }).map((one) => one.memory.file)
  const first = new MemorySearch(memories, path)
  expect(found(first)).toEqual(["heron.md"])
  const second = new MemorySearch<(typeof memories)[number]>([], path)
  second.update(memories, 0) // max 0: nothing may be indexed
  expect(found(second)).toEqual(["heron.md"])
  second.update([memories[0]!], 0)
  expect(found(second)).toEqual([])
  for (const search of [first, second]) search.close()

  writeFileSync(path, "no database ".repeat(1_000))
  for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true })
  const third = new MemorySearch(memories, path)
  expect(found(third)).toEqual(["heron.md"])
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true })
  expect(found(third)).toEqual(["heron.md"])
  third.close()
})
