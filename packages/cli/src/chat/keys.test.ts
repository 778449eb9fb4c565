import type { Key } from "ink"
import { expect, test } from "vitest"
import { intentOf, intentsOf } from "./keys.ts"

const press = (input: string, keys: Partial<Key> = {}) => intentOf(input, keys as Key)

test("Enter sends; with Alt or Shift it begins a line", () => {
  expect(press("", { return: true })).toEqual({ type: "submit" })
  expect(press("", { return: true, meta: true })).toEqual({ type: "newline" })
  expect(press("", { return: true, shift: true })).toEqual({ type: "newline" })
})

test("words and Enter in one piece are words that were sent", () => {
  expect(press("hello\r")).toEqual({ type: "submit", text: "hello" })
  expect(press("hello\n")).toEqual({ type: "submit", text: "hello" })
  expect(press("\n")).toEqual({ type: "newline" })
  expect(press("hello")).toEqual({ type: "insert", text: "hello" })
})

test("many lines in one piece were pasted: they are kept whole", () => {
  expect(press("one\rtwo\r\nthree\r")).toEqual({ type: "insert", text: "one\ntwo\nthree\n" })
})

test("keys by their names", () => {
  expect(press("", { escape: true })).toEqual({ type: "escape" })
  expect(press("c", { ctrl: true })).toEqual({ type: "interrupt" })
  expect(press("", { tab: true, shift: true })).toEqual({ type: "next-mode" })
  expect(press("", { backspace: true })).toEqual({ type: "edit", edit: "backspace" })
  expect(press("", { leftArrow: true, ctrl: true })).toEqual({ type: "edit", edit: "word-left" })
  expect(press("x", { ctrl: true })).toBeUndefined()
})

test("keys that come in one piece with words stay keys: nothing of them gets into the words", () => {
  const pressed = (input: string, keys: Partial<Key> = {}) => intentsOf(input, keys as Key)
  expect(pressed("\u0001Y")).toEqual([
    { type: "edit", edit: "home" },
    { type: "insert", text: "Y" },
  ])
  expect(pressed("ab\u0017\u0018c\r")).toEqual([
    { type: "insert", text: "ab" },
    { type: "edit", edit: "delete-word" },
    { type: "submit", text: "c" },
  ])
  expect(pressed("a", { ctrl: true })).toEqual([{ type: "edit", edit: "home" }])
  expect(pressed("one\ttwo\nthree")).toEqual([{ type: "insert", text: "one\ttwo\nthree" }])
})

test("BEY-18 two Esc that arrive in one piece are two", () => {
  const both = { escape: true, meta: true } as Key
  expect(intentsOf("", both)).toEqual([{ type: "escape" }, { type: "escape" }])
  expect(intentsOf("", { ...both, eventType: "release" })).toEqual([])
})
