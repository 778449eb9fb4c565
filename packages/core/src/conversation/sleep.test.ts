/** An idle conversation is unloaded, and loaded again with the next call. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { openTestConversation } from "../../test/open.ts"
import { manualClock } from "../base/clock.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import type { Layer } from "../layers/layer.ts"
import { serialiseRequest } from "../views/context/request.ts"
import { type Conversation, engineOf } from "./conversation.ts"
import { internalsOf } from "./internals.ts"
import { openWithSettings } from "./open.ts"

const MINUTE = 60_000
const ANSWER = {
  ...{ id: "msg_1", model: "claude-opus-4-6", content: [{ type: "text", text: "It has 7071." }] },
  ...{ stop_reason: "end_turn", usage: { input_tokens: 100, output_tokens: 5 } },
}

let root: string
let clock: ReturnType<typeof manualClock>
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "strata-asleep-"))
  clock = manualClock()
})
afterEach(() => rm(root, { recursive: true }))

const open = (options: Parameters<typeof openTestConversation>[0] = {}) =>
  openTestConversation({ store: fileStore({ root, flush: "never" }), clock, ...options })

async function answered(options: Parameters<typeof openTestConversation>[0] = {}) {
  const chat = await open(options)
  await chat.add("Which port has the staging server?")
  await chat.prepare()
  await chat.record(ANSWER)
  return chat
}

/** Advances time, fires timers, and waits for the work they start. */
async function pass(chat: Conversation, minutes: number): Promise<boolean> {
  for (let minute = 0; minute < minutes; minute += 5) {
    clock.advance(5 * MINUTE)
    await internalsOf(chat).isAsleep()
  }
  return internalsOf(chat).isAsleep()
}

test("JRN-2: messages to a conversation that sleeps, and its answers, is as if it had stayed awake", async () => {
  await using chat = await answered()
  const before = serialiseRequest(await engineOf(chat).preparer.forkRequest())
  const reportsBefore = { words: chat.userMessages(), ledger: chat.ledger(), fill: chat.windowUsage() }
  expect(await pass(chat, 10)).toBe(true)
  expect({ words: chat.userMessages(), ledger: chat.ledger(), fill: chat.windowUsage() }).toEqual(reportsBefore)
  expect(await internalsOf(chat).isAsleep()).toBe(false)
  expect(serialiseRequest(await engineOf(chat).preparer.forkRequest())).toBe(before)

  expect(await pass(chat, 10)).toBe(true)
  const entries: string[] = []
  chat.on("entry", ({ entry }) => entries.push(entry.type))
  const [queued, added] = await Promise.all([chat.enqueue("And the other one?"), chat.add("Go on.")])
  expect(entries).toEqual(["user", "user"])
  expect(await pass(chat, 10)).toBe(true)
  const { messages } = await chat.prepare()
  expect(JSON.stringify(messages)).toContain("And the other one?")
  expect(await chat.recall(queued)).toMatchObject({ uuid: queued })
  expect(await chat.recall(added)).toMatchObject({ uuid: added })
})

test("JRN-2: one that someone looks at stays awake, and so does one whose request is being answered", async () => {
  await using chat = await answered()
  for (let look = 0; look < 10; look++) {
    clock.advance(4 * MINUTE)
    chat.windowUsage()
    expect(await internalsOf(chat).isAsleep()).toBe(false)
  }
  await chat.add("And now?")
  await chat.prepare()
  expect(await pass(chat, 50)).toBe(false)
  const reports: unknown[] = []
  chat.on("cache", (report) => reports.push(report))
  await chat.record({ ...ANSWER, id: "msg_2" })
  expect(reports).toHaveLength(1)
  expect(await pass(chat, 10)).toBe(true)
  await chat.prepare() // a missing response keeps it loaded for an hour
  expect(await pass(chat, 70)).toBe(true)
})

test("JRN-2: it does not sleep while a layer works in the background, and what that decides counts", async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const layer: Layer = {
    name: "session-memory",
    async afterResponse(context) {
      await promise
      const { uuid: throughUuid } = context.views.context.newest!
      return {
        drafts: [
          { type: "strata", subtype: "notes-updated", throughUuid, path: "notes.md", tokens: 7, contextTokens: 100 },
        ],
      }
    },
  }
  await using chat = await answered({ layers: [layer] })
  expect(await pass(chat, 30)).toBe(false)
  resolve()
  await chat.whenIdle()
  const { notes } = engineOf(chat).views
  expect(await pass(chat, 10)).toBe(true)
  expect(engineOf(chat).views.notes).toEqual(notes)
})

test("JRN-2: a conversation that sleeps can be closed, answers about itself after that, and opens again", async () => {
  const chat = await answered()
  expect(await pass(chat, 10)).toBe(true)
  await chat.close()
  expect(chat.userMessages().messages).toHaveLength(1)
  await using again = await open()
  expect(again.openResult.resumed).toBe(true)
  expect(JSON.stringify((await engineOf(again).preparer.forkRequest()).messages)).toContain("7071")
})

test("JRN-2: where the file has lost a line since, the conversation stays awake: it still knows what was there", async () => {
  await using chat = await answered()
  const before = serialiseRequest(await engineOf(chat).preparer.forkRequest())
  const bytes = await readFile(chat.location)
  bytes[bytes.indexOf("Which port")] = 0x20
  await writeFile(chat.location, bytes)
  const notices: string[] = []
  chat.on("notice", ({ message }) => notices.push(message))
  expect(await pass(chat, 30)).toBe(false)
  expect(notices).toHaveLength(1)
  expect(serialiseRequest(await engineOf(chat).preparer.forkRequest())).toBe(before)
})

test("JRN-2: one in memory sleeps too; one of an agent does not, because its parts hold on to the views", async () => {
  await using chat = await answered({ store: memoryStore() })
  expect(await pass(chat, 10)).toBe(true)
  const { settings } = chat
  await using own = await openWithSettings(
    { model: "claude-opus-4-6", id: "own", cwd: "/nowhere", env: {}, store: memoryStore(), clock, layers: [] },
    { settings },
  )
  expect(await pass(own, 30)).toBe(false)
})
