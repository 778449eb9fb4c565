/** Which keys answer a question, and which go to the text that the user was typing. */
import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import type { Chat } from "./chat.ts"
import { Completer } from "./completer.ts"
import { press } from "./keyboard.ts"
import type { Intent } from "./keys.ts"
import { ChatStore, QUIET_MS } from "./store.ts"

const WINDOW = { columns: 80, rows: 24 }
const type = (text: string): Intent => ({ type: "insert", text })
const ENTER: Intent = { type: "submit" }
const COMMANDS = ["context", "cost", "compact"].map((name) => ({ name, usage: `/${name}`, about: "" }))
const FILES = { files: ["src/menu.ts", "notes.txt"], isPartial: false }

/** A chat without an agent, on a manual clock. */
function chatting() {
  let waiting: { readonly ms: number; readonly then: () => void } | undefined
  const store = new ChatStore([], {
    pause: (ms, then) => {
      waiting = { ms, then }
      return () => {
        waiting = undefined
      }
    },
  })
  const submitted: string[] = []
  const happened: string[] = []
  let isWorking = false
  const chat = {
    store,
    submit: (text: string) => submitted.push(text),
    interrupt: () => {
      store.dismissAgent()
      if (isWorking) happened.push("stopped")
      const wasWorking = isWorking
      isWorking = false
      return wasWorking
    },
    goBack: () => happened.push("went back"),
  }
  const completer = new Completer({
    store,
    builtIn: COMMANDS,
    ownCommands: async () => [],
    filesBelow: async () => FILES,
  })
  return {
    store,
    submitted,
    happened,
    work: () => {
      isWorking = true
    },
    press: (...intents: readonly Intent[]) => {
      for (const intent of intents) press({ ...chat, completer } as unknown as Chat, intent, WINDOW)
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

test("in the menu arrows choose, Enter runs, Tab completes, Esc closes it and interrupts nothing", () => {
  const { store, press: keys, submitted } = chatting()
  keys(type("/co"), { type: "down" }, ENTER)
  expect(submitted).toEqual(["/cost"])
  store.dispatch({ type: "submitted", text: "/cost" })
  keys(type("/co"), { type: "up" }, { type: "complete" })
  expect(store.snapshot().editor.text).toBe("/compact ")
  keys({ type: "undo" }, { type: "escape" }, ENTER)
  expect(submitted).toEqual(["/cost", "/co"])
})

test("text that came together with Enter is sent as it is", () => {
  const { press: keys, submitted } = chatting()
  keys(type("/c"), { type: "submit", text: "onf" })
  expect(submitted).toEqual(["/conf"])
})

test("Enter puts the chosen file into the message, and sends it without a menu", async () => {
  const { store, press: keys, submitted } = chatting()
  keys(type("read @not"))
  while (!store.snapshot().completion.files) await setImmediate()
  keys(ENTER)
  expect(store.snapshot().editor.text).toBe("read @notes.txt ")
  keys(ENTER)
  expect(submitted).toEqual(["read @notes.txt "])
})

test("Ctrl-R takes keys until Enter takes the match or Esc leaves", () => {
  const { store, press: keys, submitted } = chatting()
  for (const text of ["run tests", "say hello"]) store.dispatch({ type: "submitted", text })
  keys(type("draft"), { type: "search" }, type("run"), ENTER)
  expect(store.snapshot()).toMatchObject({ editor: { text: "run tests" }, search: undefined })
  keys({ type: "search" }, type("hello"), { type: "escape" })
  expect(store.snapshot()).toMatchObject({ editor: { text: "run tests" }, search: undefined })
  keys({ type: "search" }, type("say"), { type: "edit", edit: "end" }, type("!"))
  expect(store.snapshot().editor.text).toBe("say hello!")
  keys({ type: "undo" }, { type: "undo" })
  expect(store.snapshot().editor.text).toBe("run tests")
  expect(submitted).toEqual([])
})

test("the up key goes on through earlier inputs, also past a command", () => {
  const { store, press: keys } = chatting()
  for (const text of ["first", "/cost", "read @notes"]) store.dispatch({ type: "submitted", text })
  keys({ type: "up" }, { type: "up" }, { type: "up" })
  expect(store.snapshot().editor.text).toBe("first")
  keys({ type: "down" }, { type: "complete" })
  expect(store.snapshot().editor.text).toBe("/cost ")
})

const ESC: Intent = { type: "escape" }

test("BEY-18 Esc twice clears the line, which can be taken back, and in an empty line opens the list to go back to", () => {
  const { store, press: keys, happened } = chatting()
  keys(type("a draft"), ESC)
  expect(store.snapshot()).toMatchObject({ editor: { text: "a draft" }, pressed: "esc" })
  keys(ESC)
  expect(store.snapshot()).toMatchObject({ editor: { text: "" }, pressed: undefined })
  keys({ type: "undo" })
  expect(store.snapshot().editor.text).toBe("a draft")
  keys(ESC, type("!"), ESC)
  expect(store.snapshot().editor.text).toBe("a draft!")
  keys(ESC)
  expect(happened).toEqual([])
  keys(ESC, ESC)
  expect(happened).toEqual(["went back"])
})

test("BEY-18 an Esc that stops the agent is no first one: an impatient second one neither clears nor goes back", () => {
  const { store, press: keys, happened, work } = chatting()
  keys(type("next"))
  work()
  keys(ESC, ESC)
  expect(happened).toEqual(["stopped"])
  expect(store.snapshot()).toMatchObject({ editor: { text: "next" }, pressed: "esc" })
})

test("PERM-5 the key of an option whose rule is not on the screen shows it, and the next one chooses it", async () => {
  const { store, press: keys, pass } = chatting()
  const long = `Bash(${"make all ".repeat(40)})`
  const answer = store.ask({
    ...question,
    body: { form: "text", text: "make" },
    options: [
      { label: "Yes", letter: "y" },
      { label: "Again", letter: "a", about: long },
      { label: "Exactly", letter: "e", about: long },
    ],
  })
  store.painted("question-1")
  pass(QUIET_MS)
  keys(type("e"))
  expect(store.snapshot().dialogs[0]).toMatchObject({ selected: 2 })
  keys(type("e"))
  expect(await answer).toEqual({ type: "chosen", index: 2 })
})
