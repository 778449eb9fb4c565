import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isAboutThePerson } from "./about-the-person.ts"
import { lastingRules } from "./lasting-rules.ts"

describe("L5-14 lasting rules: addressed to the agent, about how to work from now on", () => {
  test.each([
    "Always use tabs, because our linter wants them.",
    "When I ask about a medicine, include its side effects.",
    "I prefer short paragraphs to bullet points.",
    "Could you always show the units?",
    "Antworte mir bitte immer auf Deutsch.",
    "Réponds-moi toujours en français.",
    "De ahora en adelante, da los precios en euros.",
    "Никогда не используй эмодзи в ответах.",
    "以后提交信息一律用英文写。",
    "今後はタブを使ってください。",
    "앞으로 탭을 사용해 주세요.",
    "من الآن فصاعدًا، اكتب الأسعار باليورو.",
  ])("%s", (text) => expect(lastingRules(text)).toEqual([text]))

  test.each([
    ["a question", "How can I make sure my chart renders?"],
    ["what they try", "I'm trying to make sure that the chart always renders."],
    ["a task", "Write a function that never returns null."],
    ["a wish about this task", "Please keep the comments in this file."],
    ["a quotation", 'The README says "always run make clean first".'],
    ["a quoted line", "> Always run make clean first."],
    ["code", "```\n# never push to main\n```"],
    ["someone else's words", "My boss told me to always copy him."],
    ["the past", "I always wanted to learn the cello."],
    ["what would be", "If we always did that, it would be slow."],
    ["what something does", "The server always returns a 500."],
  ])("not %s", (_, text) => expect(lastingRules(text)).toEqual([]))

  test("only the sentence, as it was typed; a bare prohibition beside a task is about the task", () => {
    expect(lastingRules("Fix the test. Never mock the database in tests!  Thanks.")).toEqual([
      "Never mock the database in tests!",
    ])
    expect(lastingRules("Do not use external packages.")).toEqual(["Do not use external packages."])
    expect(lastingRules("Write a parser for dates. Do not use external packages.")).toEqual([])
  })

  test("any text: what is found is part of it, also in a megabyte of hostile text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        for (const rule of lastingRules(`${text} always use ${text}`))
          expect(`${text} always use ${text}`).toContain(rule)
      }),
    )
    const hostile = `${"when I ask about all of your answers, so and but always ".repeat(30)}\n`.repeat(600)
    for (const rule of lastingRules(hostile)) expect(hostile).toContain(rule)
  })
})

describe("L5-2 who the person is", () => {
  test.each(["I am a nurse in Oslo.", "I'm new to Rust.", "My name is Ana.", "Ich arbeite bei der Bahn."])(
    "%s",
    (text) => expect(isAboutThePerson(text)).toBe(true),
  )
  test.each(["I'm trying to build a dashboard.", "I'm not sure.", "I am stuck here.", "I'm going to the shop."])(
    "not: %s",
    (text) => expect(isAboutThePerson(text)).toBe(false),
  )
})
