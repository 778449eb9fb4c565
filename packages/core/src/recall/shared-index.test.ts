/** One index and several processes, which lock, remove and fill it concurrently. Each of them finds everything, or reports why not. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { conversation } from "../../test/builders.ts"
import { temporaryRoot } from "../../test/journal-files.ts"
import { isWhole } from "../../test/size.ts"
import { seededIds } from "../base/clock.ts"
import type { Entry } from "../journal/entries.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { projectDirectory } from "../journal/file/layout.ts"
import { runRecall } from "../tools/session/recall-text.ts"
import { ConversationRecall } from "./conversation-recall.ts"
import { JournalSearch } from "./journal-search.ts"

const PROJECT = "p"

const ids = seededIds("shared-index")
const userEntry = (text: string): Entry => ({ ...conversation().user(text).messages[0]!, uuid: ids.uuid() })

async function opened(text = "the walrus sleeps") {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const store = fileStore({ root, flush: "never" })
  const journal = await store.open({ project: PROJECT, id: "c" }, { access: "write", create: true })
  onTestFinished(() => journal.close())
  const past = new ConversationRecall({
    ...{
      store,
      journal,
      isShared: true,
      namespaces: async () => [PROJECT],
    },
    estimate: (each) => each.length / 4,
  })
  onTestFinished(() => past.close())
  const say = (words: string) => journal.append([userEntry(words)])
  await say(text)
  const find = async (search: string) => (await past.search({ text: search, in: "conversation", limit: 9 })).found
  const file = join(projectDirectory(root, PROJECT), "search.sqlite")
  return { root, past, say, find, file }
}

const script = (name: string) => fileURLToPath(new URL(`../../test/${name}`, import.meta.url))

/** Starts a real process that has written to its journal. */
async function running(name: string, ...args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--no-warnings", script(name), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  await once(child.stdout!, "data")
  return child
}

const texts = (found: readonly { readonly text: string }[]) => found.map(({ text }) => text)

test.runIf(isWhole).each(["writing", "exclusively"])(
  "BEY-1 an index that another process keeps locked (%s): the journal is read instead, and the answer says so",
  async (how) => {
    const { past, say, find, file } = await opened()
    await find("walrus")
    if (how === "exclusively") past.close()
    const holder = await running("index-holder.ts", file, how)
    await say("the heron flies")
    const answer = await runRecall({ search: "heron" }, past)
    expect(answer.content).toContain("the heron flies")
    expect(answer.content).toContain(
      "Another process keeps the search index locked, so the journals were read instead.",
    )
    const none = await runRecall({ search: "elephant" }, past)
    expect(none.content).toMatch(/^Nothing in this conversation fits .* the journals were read instead\.$/)
    holder.stdin!.end()
    await once(holder, "exit")
    const later = await past.search({ text: "heron", in: "conversation", limit: 9 })
    expect(texts(later.found)).toEqual(["the heron flies"])
    expect(later.gap).toBeUndefined()
  },
)

test("BEY-1 an index that is removed while a process has it open is written again, and others find what it indexed", async () => {
  const { past, say, find, file, root } = await opened()
  await find("walrus")
  for (const name of readdirSync(projectDirectory(root, PROJECT)))
    if (name.startsWith("search.sqlite")) rmSync(join(projectDirectory(root, PROJECT), name))
  await say("the heron flies")
  expect(texts(await find("heron"))).toEqual(["the heron flies"])
  expect(texts(await find("walrus"))).toEqual(["the walrus sleeps"])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  past.close()
  expect(statSync(file).size).toBeGreaterThan(0)
})

test.runIf(isWhole)(
  "BEY-5 two processes that index one large project at once: each passage once, nothing missing, no error",
  async () => {
    const { root, remove } = await temporaryRoot()
    onTestFinished(remove)
    const store = fileStore({ root, flush: "never" })
    for (let n = 0; n < 6; n++) {
      const journal = await store.open({ project: PROJECT, id: `c${n}` }, { access: "write", create: true })
      const entries: Entry[] = []
      for (let at = 0; at < 400; at++) entries.push(userEntry(`word${n}x${at} ${"and more of it ".repeat(20)}`))
      await journal.append(entries)
      await journal.close()
    }
    const workers = await Promise.all([1, 2].map(() => running("index-worker.ts", root, PROJECT)))
    for (const worker of workers) worker.stdin!.end()
    const ended = await Promise.all(workers.map(async (worker) => (await once(worker, "exit"))[0]))
    expect(ended).toEqual([0, 0])
    const index = new JournalSearch({ feed: fileStore({ root }).feed({ project: PROJECT }) })
    onTestFinished(() => index.close())
    await index.update() // reads what each process left for the other
    using db = new DatabaseSync(join(projectDirectory(root, PROJECT), "search.sqlite"))
    expect(db.prepare("SELECT count(*) AS count FROM passages").get()).toEqual({ count: 2400 })
    const now = new Date("2026-03-10T12:00:00Z")
    for (const word of ["word0x0", "word5x399", "word3x200"])
      expect(
        (await index.search({ text: word, now })).answer.found.filter(({ text }) => text.includes(word)),
      ).toHaveLength(1)
  },
)
