/** Recall results, including empty ones, are journaled: a reopened conversation prepares the same bytes. */
import { cp } from "node:fs/promises"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { manualClock } from "../../../src/base/clock.ts"
import { type Conversation, engineOf } from "../../../src/conversation/conversation.ts"
import { openConversation } from "../../../src/conversation/open.ts"
import { serialiseRequest } from "../../../src/views/context/request.ts"
import { project } from "../agent/agents.ts"

const QUESTION = "Which port has the staging server heron?"

function place() {
  const { cwd, dir } = project()
  const open = async (id: string, home = dir): Promise<Conversation> => {
    const chat = await openConversation({
      ...{ model: "claude-opus-4-6", id, cwd, dir: home, env: {}, clock: manualClock() },
      settings: { flush: "never" },
      memory: { owner: "ada" },
    })
    onTestFinished(() => chat.close())
    return chat
  }
  const past = async (id: string, text: string) => {
    const chat = await open(id)
    await chat.add(text)
    await chat.record({ id: `msg_${id}`, content: [{ type: "text", text: "Noted." }] })
    await chat.whenIdle()
    await chat.close()
  }
  /** The request of a process that opens a copy of the home directory. */
  const elsewhere = async (id: string) => {
    const copy = `${dir}-copy${id}`
    const isKept = (path: string) => !/\.(lock|sock|sqlite(-wal|-shm)?)$/.test(path)
    await cp(dir, copy, { recursive: true, preserveTimestamps: true, filter: isKept })
    return (await sent(await open(id, copy))).replaceAll(copy, dir)
  }
  return { open, past, elsewhere, notes: join(dir, "projects") }
}

const sent = async (chat: Conversation) => serialiseRequest(await chat.prepare())
const ALPHA = "The staging server heron has the port 7071."
const BETA = "The staging server heron had the port 7072 before."

test("L5-7, JRN-2 a message for which nothing was found is not looked up again after a restart", async () => {
  const { open, past, elsewhere } = place()
  await past("other", "The weather is fine.")
  const chat = await open("c")
  await chat.add(QUESTION)
  const before = await sent(chat)
  expect(before).not.toContain("7071")
  await past("later", ALPHA)
  expect(await elsewhere("c")).toBe(before)
  expect(await sent(chat)).toBe(before)
  await chat.record({ id: "msg_1", content: [{ type: "text", text: "I do not know." }] })
  await chat.whenIdle()
  await engineOf(chat).past.search({ text: "heron", in: "project", limit: 1 }) // waits for the index; a message does not
  await chat.add(QUESTION)
  expect(await sent(chat)).toContain("7071")
})

test("L5-7, JRN-2 a passage that was recalled and folded away is not recalled again, live and after a restart", async () => {
  const { open, past, elsewhere } = place()
  await past("one", ALPHA)
  await past("two", BETA)
  const chat = await open("c")
  const first = await chat.add(`${QUESTION} ${"Say more. ".repeat(60)}`)
  expect(await sent(chat)).toContain("707")
  await chat.record({ id: "msg_1", content: [{ type: "text", text: "It is 7071." }] })
  await chat.whenIdle()
  await chat.add("Thanks.")
  await chat.prepare()
  await chat.record({ id: "msg_2", content: [{ type: "text", text: "You are welcome." }] })
  await chat.whenIdle()
  await chat.add(QUESTION)
  await chat.fold({ from: first })
  const again = await elsewhere("c")
  expect(again).not.toContain("had the port 7072")
  expect(await sent(chat)).toBe(again)
})

test("L5-7, JRN-5 going back to a message recalls again what was found for it", async () => {
  const { open, past } = place()
  await past("one", ALPHA)
  const chat = await open("c")
  const question = await chat.add(QUESTION)
  const before = await sent(chat)
  expect(before).toContain("7071")
  await chat.record({ id: "msg_1", content: [{ type: "text", text: "It is 7071." }] })
  await chat.whenIdle()
  await chat.rewind(question)
  expect(await sent(chat)).toBe(before)
})
