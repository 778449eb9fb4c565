import { describe, expect, test } from "vitest"
import { isWorthExtracting } from "./due.ts"

const word = (text: string) => ({ text })

describe("L5-4 what an extraction is worth asking for", () => {
  test.each([
    "The payment team owns this service and its lead approves releases.",
    "Fix the test. Maria reviews everything before it is merged.",
    "I am new to Rust.",
    "Ich bin neu im Team.",
    "We decided to drop the old API.",
    "That is wrong, the port is 5433.",
    "The release is on 2026-12-01.",
    "The board is at https://example.com/board.",
    "Le serveur de test est à Francfort.",
    "Сервером занимается команда платежей.",
    "支付团队负责这个服务。",
    "決済チームがこのサービスを担当しています。",
    "x".repeat(2_000),
  ])("%s", (text) => expect(isWorthExtracting([word(text)])).toBe(true))

  test.each([
    "Fix the failing test.",
    "Go on",
    "ok",
    "Show the diff",
    "What does parse() return?",
    "Please write a function that sorts the list and add a test for it.",
    "Can you explain how the parser handles quotes?",
    "thanks, continue",
  ])("not: %s", (text) => expect(isWorthExtracting([word(text)])).toBe(false))

  test("several messages, whatever they say; never without any", () => {
    expect(isWorthExtracting([word("a"), word("b"), word("c")])).toBe(true)
    expect(isWorthExtracting([])).toBe(false)
  })
})
