/** Which keys answer a question, and which belong to what the person was typing. */
import { expect, test } from "vitest"
import type { Chat } from "./chat.ts"
import { press } from "./keyboard.ts"
import type { Intent } from "./keys.ts"
import { ChatStore, QUIET_MS } from "./store.ts"

const WINDOW = { columns: 80, rows: 30 }
const type = (text: string): Intent => ({ type: "insert", text })
const ENTER: Intent = { type: "submit" }

/** A chat without an agent, on a clock that moves by hand. */
function chatting() {
  let waiting: { readonly ms: number; readonly then: () => void } | undefined
  const store = new ChatStore([], (ms, then) => {
    waiting = { ms, then }
    return () => {
      waiting = undefined
    }
  })
  const submitted: string[] = []
  const chat = { store, submit: (text: string) => submitted.push(text), interrupt: () => store.dismissAgent() }
  return {
    store,
    submitted,
    press: (...intents: readonly Intent[]) => {
      for (const intent of intents) press(chat as unknown as Chat, intent, WINDOW)
    },
    pass(ms: number) {
      if (waiting && ms >= waiting.ms) waiting.then()
    },
  }
}

const question = { title: "Run it?", from: "agent", options: [{ label: "Yes", letter: "y" }, { label: "No" }] } as const

test("PERM-5 keys before the question is on the screen go to the input line and answer nothing", async () => {
  const { store, press: keys, submitted, pass } = chatting()
  const answer = store.ask(question)
  keys(type("y"), ENTER)
  expect(store.snapshot().dialogs).toHaveLength(1)
  expect(submitted).toEqual(["y"])
  store.painted("question-1")
  pass(QUIET_MS)
  keys(type("y"))
  expect(await answer).toEqual({ type: "chosen", index: 0 })
})

test("PERM-5 while the person goes on typing, a question on the screen waits until the keyboard rests", async () => {
  const { store, press: keys, pass } = chatting()
  const answer = store.ask(question)
  store.painted("question-1")
  keys(type("y"))
  pass(QUIET_MS - 1)
  keys(type("es"))
  expect(store.snapshot()).toMatchObject({ dialogs: [{}], editor: { text: "yes" }, ready: undefined })
  pass(QUIET_MS)
  keys(ENTER)
  expect(await answer).toEqual({ type: "chosen", index: 0 })
  expect(store.snapshot().editor.text).toBe("yes")
})

test("several questions at once come one after the other, and none is answered by the key for another", async () => {
  const { store, press: keys, pass } = chatting()
  const answers = [store.ask(question), store.ask(question)]
  store.painted("question-1")
  pass(QUIET_MS)
  keys(type("y"), type("y"))
  expect(await answers[0]).toEqual({ type: "chosen", index: 0 })
  expect(store.snapshot().dialogs).toHaveLength(1)
  store.painted("question-2")
  pass(QUIET_MS)
  keys({ type: "interrupt" })
  expect(await answers[1]).toEqual({ type: "dismissed" })
})

test("a list that the person asked for takes keys at once", async () => {
  const { store, press: keys } = chatting()
  const answer = store.ask({ title: "Which?", options: [{ label: "One" }] })
  store.painted("question-1")
  keys(ENTER)
  expect(await answer).toEqual({ type: "chosen", index: 0 })
})
