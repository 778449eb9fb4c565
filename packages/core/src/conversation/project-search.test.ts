/** Search for each message: when it finds other conversations, and how often it queries the store for them. */
import { expect, onTestFinished, test } from "vitest"
import { conversation } from "../../test/builders.ts"
import { countedCalls } from "../../test/counted-calls.ts"
import { manualClock, seededIds } from "../base/clock.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import type { Store } from "../journal/store.ts"
import { openBank } from "../memory/bank.ts"
import { projectSearch } from "./project-memory.ts"

const ids = seededIds("project-search")

async function say(store: Store, id: string, text: string): Promise<void> {
  const journal = await store.open({ project: "p", id }, { access: "write", create: true })
  await journal.append([{ ...conversation().user(text).messages[0]!, uuid: ids.uuid() }])
  await journal.close()
}

/** `isDeaf`: appended entries are not reported, as if another process had written them. */
function searched({ isDeaf = false } = {}) {
  const kept = memoryStore()
  const deaf: Store = { ...kept, feed: (place) => ({ ...kept.feed(place), onAppended: () => () => undefined }) }
  const { store, taken } = countedCalls(isDeaf ? deaf : kept)
  const clock = manualClock()
  const bank = openBank({ files: kept.memories({ project: "p" }), clock })
  const search = projectSearch({ bank, clock, past: { store, namespaces: async () => ["p", "q"] } })
  onTestFinished(() => search.close())
  const recall = async (text: string) => {
    const exclude = { conversations: new Set(["asking"]) }
    const found = await search.recall({ text, now: clock.now(), exclude })
    return found.map((one) => (one.kind === "conversation" ? one.passage.text : one.memory.body))
  }
  return { kept, taken, clock, recall }
}

test("BEY-5 BEY-12 a project without other conversations is asked for them once, not with each message", async () => {
  const { kept, taken, clock, recall } = searched()
  await say(kept, "asking", "Why did the nightly importer crash?")
  for (let nth = 0; nth < 20; nth++) {
    expect(await recall("Why did the nightly importer crash?")).toEqual([])
    clock.advance(1_000)
  }
  expect(taken()).toEqual(["list", "list"]) // one for each namespace
  clock.advance(60_000)
  await recall("Why did the nightly importer crash?")
  expect(taken()).toEqual(["list", "list"])
})

test("BEY-5 BEY-12 another conversation of this process is found with the next message, and no one asks for others again", async () => {
  const { kept, taken, clock, recall } = searched()
  expect(await recall("Why did the nightly importer crash?")).toEqual([])
  taken()
  await say(kept, "other", "The nightly importer did crash on the umlaut.")
  expect(await recall("Why did the nightly importer crash?")).toEqual(["The nightly importer did crash on the umlaut."])
  expect(taken()).toEqual(["lines", "poll", "poll"])
  clock.advance(120_000)
  await recall("Why did the nightly importer crash?")
  expect(taken()).not.toContain("list")
})

test("BEY-5 BEY-12 what another process has written is found after a minute", async () => {
  const { kept, clock, recall } = searched({ isDeaf: true })
  expect(await recall("Why did the nightly importer crash?")).toEqual([])
  await say(kept, "other", "The nightly importer did crash on the umlaut.")
  expect(await recall("Why did the nightly importer crash?")).toEqual([])
  clock.advance(60_000)
  expect(await recall("Why did the nightly importer crash?")).toHaveLength(1)
})

test("BEY-12 a store that fails once is asked again with the next message", async () => {
  const kept = memoryStore()
  await say(kept, "other", "The nightly importer did crash on the umlaut.")
  const clock = manualClock()
  let fails = 2
  const namespaces = async () => {
    if (fails-- > 0) throw new Error("The connection was lost.")
    return ["p"]
  }
  const bank = openBank({ files: kept.memories({ project: "p" }), clock })
  const search = projectSearch({ bank, clock, past: { store: kept, namespaces } })
  onTestFinished(() => search.close())
  const recall = () => search.recall({ text: "Why did the nightly importer crash?", now: clock.now() })
  await expect(recall()).rejects.toThrow("The connection was lost.")
  await expect(recall()).rejects.toThrow("The connection was lost.")
  expect(await recall()).toHaveLength(1)
})
