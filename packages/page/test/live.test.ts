/** Updates of a page when a journal grows or is replaced, in any store, and while other conversations are open. Real files and HTTP. */
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { memoryStore, openConversation } from "@strata/core"
import { countedStore } from "@strata/store-contract"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { manualClock, systemClock } from "../../core/src/base/clock.ts"
import { LiveConversation } from "../src/live/live-conversation.ts"
import { journalSource } from "../src/live/live-source.ts"
import { makeConversation } from "./made-conversation.ts"
import { sourceOf, startTrial } from "./trial-pages.ts"

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "strata-live-"))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const made = (rounds: number, text: string) => makeConversation({ dir, cwd: dir, rounds, texts: [text] })

describe("BEY-10 a journal that another one replaces, larger than it was", () => {
  it.each([
    ["as another file", renameSync],
    ["in the same file", copyFileSync],
  ])("is read from its beginning: %s", async (_, replace) => {
    const { file, at } = await made(2, "first")
    const { file: other } = await made(1, "second".repeat(5_000))
    const long = readFileSync(other)
    writeFileSync(other, long.subarray(0, long.indexOf("\n") + 1)) // one line, longer than the complete first journal
    const live = await LiveConversation.open(journalSource(at, systemClock))
    replace(other, file)
    await live.update()
    expect(JSON.stringify(live.rows)).not.toContain("first")
    expect(JSON.stringify(live.rows)).toContain("second")
  })

  it("and what is only added to it is taken as it comes", async () => {
    const { file, at } = await made(3, "first")
    const whole = readFileSync(file)
    const cut = whole.subarray(0, whole.length / 2).lastIndexOf("\n") + 1
    writeFileSync(file, whole.subarray(0, cut))
    const live = await LiveConversation.open(journalSource(at, systemClock))
    const { timeline } = live
    appendFileSync(file, whole.subarray(cut))
    await live.update()
    expect(live.rows).toEqual((await LiveConversation.open(journalSource(at, systemClock))).rows)
    expect(live.timeline).toBe(timeline)
  })
})

it("BEY-10 a page that listens goes on hearing from its conversation when many others are opened", async () => {
  const files = await Promise.all(Array.from({ length: 8 }, (_, n) => made(1, `number ${n}`)))
  const { page, base } = await startTrial(
    sourceOf(Object.fromEntries(files.map(({ at }, n) => [`c${n}`, { title: `${n}`, location: at }]))),
  )
  try {
    const entered = await fetch(page.address, { redirect: "manual" })
    const headers = { cookie: entered.headers.get("set-cookie")!.split(";")[0]! }
    const events = (await fetch(`${base}/c/c0/events`, { headers })).body!.pipeThrough(new TextDecoderStream())
    const heard = events.getReader()
    expect((await heard.read()).value).toContain('"rows":')
    for (let n = 1; n < files.length; n++) await fetch(`${base}/c/c${n}/rows`, { headers })
    copyFileSync(files[1]!.file, files[0]!.file)
    expect((await heard.read()).value).toContain('"rows":')
  } finally {
    await page.close()
  }
})

it("BEY-12 a journal of a store without files is looked at each second while someone listens, and only what is new is read", async () => {
  const { store, calls, reset } = countedStore(memoryStore())
  const clock = manualClock()
  await using chat = await openConversation({ model: "claude-opus-5-5", store, cwd: dir, dir, env: {} })
  await chat.add("first")
  const [project = ""] = await store.projects()
  const live = await LiveConversation.open(journalSource({ store, address: { project, id: chat.id } }, clock))
  const next = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = live.onChange(resolve)
    return { promise, stop }
  }
  const heard = next()
  await chat.add("second")
  reset()
  clock.advance(1_000)
  await heard.promise
  expect(calls()).toEqual(["feed.sizes", "feed.lines"])
  expect(JSON.stringify(live.rows.at(-1))).toContain("second")
  heard.stop()
  reset()
  clock.advance(10_000)
  expect(calls()).toEqual([])
  live.close()
})
