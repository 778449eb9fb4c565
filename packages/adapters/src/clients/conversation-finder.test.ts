import { expect, test } from "vitest"
import type { ClientMessage } from "../../../core/src/messages/message-identity.ts"
import type { ClientLogLine } from "./client-log.ts"
import { ConversationFinder } from "./conversation-finder.ts"

const userText = (text: string): ClientMessage => ({ role: "user", content: [{ type: "text", text }] })
const answered = (text: string): ClientMessage => ({ role: "assistant", content: [{ type: "text", text }] })
const MAIN = { id: "one", tools: ["Bash", "Read"] }
const EXPLORER = { id: "one", tools: ["Read"] }

function callers(lines: ClientLogLine[] = []) {
  const log = { read: async () => [...lines], append: async (line: ClientLogLine) => void lines.push(line) }
  return new ConversationFinder({ log, newId: () => "new" })
}

test("BEY-14 threads of one id that begin at the same time are conversations of their own, each one from its first request", async () => {
  const known = callers()
  const busy = new Set<string>()
  const begin = async (identity: typeof MAIN, text: string) => {
    const { conversation } = await known.find(identity, [userText(text)], (id) => busy.has(id))
    busy.add(conversation)
    return conversation
  }
  const begun = [
    await begin(MAIN, "Fix the test."),
    await begin(EXPLORER, "Look around."),
    await begin(MAIN, "Plan it."),
  ]
  expect(new Set(begun).size).toBe(3)
  const twin = await begin(EXPLORER, "Fix the test.") // the same text in another thread
  const same = await begin(MAIN, "Fix the test.") // and with the same tools, while the first waits for its response
  expect(new Set([...begun, twin, same]).size).toBe(5)
})

test("BEY-14 a first request that is sent again continues its conversation, also after its answer and in another process", async () => {
  const lines: ClientLogLine[] = []
  const known = callers(lines)
  const list = [userText("Fix the test.")]
  const { conversation } = await known.find(MAIN, list)
  expect(await known.find(MAIN, list)).toMatchObject({ conversation })
  await known.note(conversation, MAIN, [...list, answered("Done.")])
  expect(await known.find(MAIN, list)).toMatchObject({ conversation })
  expect(await callers(lines).find(MAIN, list)).toMatchObject({ conversation })
  const more = [...list, answered("Done."), userText("And now?")]
  expect(await known.find({ ...MAIN, tools: ["Bash"] }, more)).toMatchObject({ conversation }) // a client's tools may change
})

const NO_ID = { tools: ["look"] }
const called = (id: string): ClientMessage => ({
  role: "assistant",
  content: [{ type: "tool_use", id, name: "look", input: {} }],
})
const given = (id: string): ClientMessage => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content: "x" }],
})

const COUNTED = "There are four files in this folder, and two of them are tests."

test("BEY-14 a client without an id that keeps only the final text of a turn is known again, also in another process", async () => {
  const lines: ClientLogLine[] = []
  const turn = [userText("How many files?"), called("t1"), given("t1"), called("t2"), given("t2")]
  await callers(lines).note("counted", NO_ID, [...turn, answered(COUNTED)])
  const next = [userText("How many files?"), answered(COUNTED), userText("And lines?")]
  expect(await callers(lines).find(NO_ID, next)).toMatchObject({ conversation: "counted" })
})

test("BEY-14 the same final text identifies no conversation if two have it, or if it is short", async () => {
  const known = callers()
  for (const [id, text] of [
    ["one", COUNTED],
    ["two", COUNTED],
    ["three", "Four."],
  ] as const)
    await known.note(id, NO_ID, [userText("How many files?"), called(id), given(id), answered(text)])
  for (const text of [COUNTED, "Four."]) {
    const next = [userText("How many files?"), answered(text), userText("And lines?")]
    expect(await known.find(NO_ID, next)).toEqual({ conversation: "via-new" })
  }
})

test("BEY-14 two clients without an id that begin with the same words: the second gets a copy of the beginning, and nothing after it", async () => {
  const known = callers()
  const hello = [userText("Hello"), answered("How can I help?")]
  await known.note("first", NO_ID, hello)
  await known.note("first", NO_ID, [...hello, userText("My account is 4711."), answered("Thank you.")])
  expect(await known.find(NO_ID, [...hello, userText("Who are you?")])).toEqual({
    conversation: "via-new",
    fork: "first",
  })
  const more = [...hello, userText("My account is 4711."), answered("Thank you."), userText("Is it paid?")]
  expect(await known.find(NO_ID, more)).toMatchObject({ conversation: "first" })
})

test("BEY-14 a client with an id that sends only its newest messages continues its conversation, also in another process", async () => {
  const lines: ClientLogLine[] = []
  const known = callers(lines)
  const list = [
    userText("Fix the test."),
    answered("Done."),
    userText("And now?"),
    answered("Rest."),
    userText("Go on."),
  ]
  const { conversation } = await known.find(MAIN, list)
  await known.note(conversation, MAIN, [...list, answered("Well.")])
  const newest = [...list.slice(2), answered("Well."), userText("More.")]
  expect(await known.find(MAIN, newest)).toEqual({ conversation })
  expect(await callers(lines).find(MAIN, newest)).toEqual({ conversation })
  expect((await known.find(MAIN, newest, () => true)).conversation).not.toBe(conversation) // it waits for another response
  const other = await callers(lines).find(MAIN, [userText("Something else.")])
  expect(other.conversation).not.toBe(conversation)
  expect((await callers(lines).find({ ...MAIN, id: "two" }, newest)).conversation).not.toBe(conversation)
})
