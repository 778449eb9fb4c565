/** How often search and recall call a store, assuming that each call crosses a network. */
import { expect, onTestFinished, test } from "vitest"
import { conversation } from "../../test/builders.ts"
import { countedCalls } from "../../test/counted-calls.ts"
import { temporaryRoot } from "../../test/journal-files.ts"
import { everyNth } from "../../test/size.ts"
import { seededIds } from "../base/clock.ts"
import type { Entry } from "../journal/entries.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import type { JournalFeed, Store } from "../journal/store.ts"
import { handleOf } from "../messages/media.ts"
import { ConversationRecall } from "./conversation-recall.ts"
import { sharedJournalSearch } from "./journal-search.ts"

const ids = seededIds("feed-calls")
const userEntry = (text: string): Entry => ({ ...conversation().user(text).messages[0]!, uuid: ids.uuid() })

const KINDS = ["files", "memory"] as const

async function storeOf(kind: (typeof KINDS)[number]): Promise<Store> {
  if (kind === "memory") return memoryStore()
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  return fileStore({ root, flush: "never" })
}

/** A project with that many conversations, and the recall of the first. */
async function filled(kind: (typeof KINDS)[number], conversations: number) {
  const { store, taken } = countedCalls(await storeOf(kind))
  const names = Array.from({ length: conversations }, () => ids.uuid())
  const last = userEntry("the heron flies at night")
  for (const [nth, id] of names.entries()) {
    const journal = await store.open({ project: "p", id }, { access: "write", create: true })
    await journal.append([nth === conversations - 1 ? last : userEntry(`the walrus sleeps in bay ${nth}`)])
    await journal.close()
  }
  const journal = await store.open({ project: "p", id: names[0]! }, { access: "write" })
  onTestFinished(() => journal.close())
  const past = new ConversationRecall({
    ...{ store, journal, isShared: true, namespaces: async () => ["p", "other"] },
    estimate: (text) => text.length / 4,
  })
  onTestFinished(() => past.close())
  taken()
  return { past, journal, taken, other: { id: names.at(-1)!, handle: handleOf(last.uuid) } }
}

test.each(everyNth(KINDS, 2, 1))(
  "BEY-12 what is asked of a store of %s does not grow with its conversations",
  async (kind) => {
    const asked = async (conversations: number) => {
      const { past, journal, taken, other } = await filled(kind, conversations)
      const search = async (text: string, where: "conversation" | "project") =>
        (await past.search({ text, in: where, limit: 3 })).found.length
      expect(await search("walrus", "conversation")).toBe(1)
      const here = taken()
      await journal.append([userEntry("the pelican waits")])
      expect(await search("pelican", "conversation")).toBe(1)
      const hereAgain = taken()
      expect(await past.findByHandle(`${other.id}/${other.handle}`)).toHaveLength(1)
      const handle = taken()
      expect(await past.findByHandle(`${other.id.slice(0, 8)}/${other.handle}`)).toHaveLength(1)
      const shortened = taken()
      expect(await search("heron", "project")).toBe(1)
      taken() // each conversation is read once
      expect(await search("heron night", "project")).toBe(1)
      return { here, hereAgain, handle, shortened, project: taken() }
    }
    const few = await asked(10)
    expect(few).toEqual({
      here: ["lines", "sizes"],
      hereAgain: ["sizes"],
      handle: ["has", "open"],
      shortened: ["has", "has", "list", "list", "open"],
      project: ["poll", "poll"],
    })
    expect(await asked(1_000)).toEqual(few)
  },
  60_000,
)

test("BEY-12 several places are asked side by side", async () => {
  const store = memoryStore()
  for (const project of ["p", "q"]) {
    const journal = await store.open({ project, id: project }, { access: "write", create: true })
    await journal.append([userEntry(`the walrus of ${project}`)])
    await journal.close()
  }
  const asked = Promise.withResolvers<void>()
  const waiting = new Set<string>()
  // holds every answer until both namespaces were queried
  const feed: Store["feed"] = (place) => {
    const own = store.feed(place)
    const look: JournalFeed["poll"] = async (unread) => {
      if (waiting.add(place.project).size === 2) asked.resolve()
      await asked.promise
      return own.poll(unread)
    }
    return { ...own, poll: look }
  }
  const journal = await store.open({ project: "p", id: "p" }, { access: "read" })
  const past = new ConversationRecall({
    ...{ store: { ...store, feed }, journal, isShared: true, namespaces: async () => ["p", "q"] },
    estimate: (text) => text.length / 4,
  })
  onTestFinished(() => past.close())
  const { found } = await past.search({ text: "walrus", in: "project", limit: 9 })
  expect(found.map(({ text }) => text).toSorted()).toEqual(["the walrus of p", "the walrus of q"])
})

test("BEY-12 stores with the same files share a search, a store without files has its own, and places are apart", async () => {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const searchOf = (store: Store, place: { project: string; under?: string }) => {
    const search = sharedJournalSearch(store, place)
    onTestFinished(() => search.close())
    return search.value
  }
  const [files, memory] = [fileStore({ root }), memoryStore()]
  expect(searchOf(files, { project: "p" })).toBe(searchOf(fileStore({ root }), { project: "p" }))
  expect(searchOf(memory, { project: "p" })).toBe(searchOf(memory, { project: "p" }))
  expect(searchOf(memory, { project: "p" })).not.toBe(searchOf(memoryStore(), { project: "p" }))
  for (const store of [files, memory]) {
    const all = [{ project: "p" }, { project: "q" }, { project: "p", under: "c" }].map((place) =>
      searchOf(store, place),
    )
    expect(new Set(all).size).toBe(3)
  }
})

test("BEY-12 an index in memory is not built again for the next conversation, and finds what was written meanwhile", async () => {
  const { store, taken } = countedCalls(memoryStore())
  const write = async (id: string, text: string) => {
    const journal = await store.open({ project: "p", id }, { access: "write", create: true })
    await journal.append([userEntry(text)])
    await journal.close()
  }
  const found = async (text: string) => {
    const search = sharedJournalSearch(store, { project: "p" })
    const which = { maxNew: 48 * 1024, maxAge: 2_000 } // as with each message
    const { answer } = await search.value.search({ text, now: new Date() }, which)
    search.close()
    return answer.found.map((one) => one.text)
  }
  for (let nth = 0; nth < 5; nth++) await write(`c${nth}`, `the walrus sleeps in bay ${nth}`)
  expect(await found("walrus")).toHaveLength(5)
  await write("c5", "the heron flies")
  taken()
  expect(await found("heron")).toEqual(["the heron flies"])
  expect(taken()).toEqual(["lines", "poll"])
})
