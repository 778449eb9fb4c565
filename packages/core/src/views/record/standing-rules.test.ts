import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { otherRules, standingRules } from "./user-messages.ts"

describe("L4-29 standing rules are found in the user's own messages", () => {
  test.each([
    ["English", "Never push to main."],
    ["English", "ALWAYS run the tests first."],
    ["English, typed on a phone", "Don’t touch the lock file."],
    ["English", "From now on use tabs."],
    ["German", "Antworte immer auf Deutsch."],
    ["German", "Ab sofort keine Kommentare."],
    ["French", "Réponds toujours en français."],
    ["French, typed on a phone", "N’utilise pas de tabulations."],
    ["Spanish", "Nunca borres los archivos."],
    ["Portuguese", "Sempre responda em português."],
    ["Italian", "D'ora in poi usa pnpm."],
    ["Dutch", "Gebruik altijd pnpm."],
    ["Russian", "отвечай всегда по-русски."],
    ["Russian, at the start of a sentence", "Никогда не удаляй файлы."],
    ["Chinese", "总是用中文回答。"],
    ["Chinese", "不要修改测试。"],
    ["Chinese, traditional", "請務必先執行測試。"],
    ["Japanese", "必ず日本語で答えてください。"],
    ["Japanese", "勝手に消さないでください。今後は確認して。"],
    ["Korean", "항상 한국어로 대답해."],
    ["Arabic", "استخدم العربية دائما."],
    ["Arabic, with marks", "استخدم العربية دائمًا."],
    ["Arabic, with marks", "لا تحذف الملفات أبداً."],
    ["Hindi", "हमेशा हिंदी में जवाब दो।"],
  ])("%s: %s", (_language, sentence) => {
    expect(standingRules(sentence).join("")).not.toBe("")
    expect(sentence).toContain(standingRules(sentence)[0])
  })

  test.each([
    "Fix the failing test.",
    "What does this nevertheless mean?", // "never" inside a word
    "The mustard is in the pantry.",
    "Quelle est la maison de Jean ?",
    "Bitte sieh dir die Datei an.",
    "Посмотри этот файл.",
    "看一下这个文件。",
    "",
    " \n\t",
  ])("not in %j", (text) => {
    expect(standingRules(text)).toEqual([])
  })

  test("only the sentence is taken, as it was written", () => {
    expect(standingRules("Look at  this. Never  push,\tplease! Thanks.\n- always use v1.2.3 of it\nok")).toEqual([
      "Never  push,\tplease!",
      "- always use v1.2.3 of it",
    ])
  })

  test("sentences without a space between them are separated", () => {
    expect(standingRules("こんにちは。常に日本語で。ありがとう！")).toEqual(["常に日本語で。"])
    expect(standingRules(`${"这是一个很长的说明。".repeat(100)}绝不推送。`)).toEqual(["绝不推送。"])
  })

  test("what is as long as pasted text is not a rule", () => {
    expect(standingRules(`always ${"x ".repeat(400)}`)).toEqual([])
  })

  test("every rule is a verbatim part of the text, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (before, after) => {
        const text = `${before} never ${after}`
        for (const rule of standingRules(text)) expect(text).toContain(rule)
      }),
    )
  })

  test("sentences end as each script ends them: a rule in a long text of another script is found", () => {
    const long = (sentence: string, rule: string) => `${`${sentence} `.repeat(40)}${rule}`
    expect(standingRules(long("यह फ़ाइल पहले से ही ठीक है।", "हमेशा हिंदी में जवाब दो।"))).toEqual(["हमेशा हिंदी में जवाब दो।"])
    expect(standingRules(long("هل الملف جاهز الآن؟", "لا تحذف الملفات أبدا."))).toEqual(["لا تحذف الملفات أبدا."])
  })
})

describe("L4-29 what a user types can be a rule, a pasted document cannot", () => {
  const clauses = (count: number) =>
    Array.from({ length: count }, (_, n) => `The server must answer request ${n} within ${n} ms.`)
  const specification = ["# Specification", ...clauses(40), "## Errors", ...clauses(40)].join("\n")

  test("the lines before and after the document are the user's, its sentences are counted", () => {
    const text = `Build this. Never push.\n\n${specification}\n\nAlways run the tests.`
    expect(standingRules(text)).toEqual(["Never push.", "Always run the tests."])
    expect(otherRules(text)).toBe(80)
  })

  test.each([
    ["a fence", `\`\`\`\n${clauses(50).join("\n")}\n\`\`\``],
    ["a quote", clauses(50).join("\n").replace(/^/gm, "> ")],
    ["a tagged block", `<log>\n${clauses(50).join("\n")}\n</log>`],
  ])("%s in a long message is not typed", (_, quoted) => {
    const typed = Array.from({ length: 20 }, (__, n) => `- never touch file ${n}`)
    const text = `${typed.join("\n")}\n${quoted}\nAlways run the tests.`
    expect(standingRules(text)).toEqual([...typed, "Always run the tests."])
    expect(otherRules(text)).toBe(50)
  })

  test("all of a short message counts as typed, with any content", () => {
    expect(standingRules("```\nNever push.\n```\n> Always test.")).toEqual(["Never push.", "> Always test."])
  })

  test("a long list that someone typed is all theirs", () => {
    const rules = Array.from({ length: 30 }, (_, n) => `- never touch file ${n}`)
    expect(standingRules(rules.join("\n"))).toEqual(rules)
    expect(otherRules(rules.join("\n"))).toBe(0)
  })

  test("24 pasted specifications leave room: at most a few sentences of each", () => {
    const pasted = (n: number) => [`Specification ${n}`, ...clauses(400)].join("\n")
    const rules = Array.from({ length: 24 }, (_, n) => standingRules(pasted(n))).flat()
    expect(rules.join("\n").length).toBeLessThan(24 * 1_000)
    expect(otherRules(pasted(1))).toBeGreaterThan(380)
  })

  test("any text: rules are verbatim, and none is lost without being counted", () => {
    const line = fc.constantFrom(
      "Never push.",
      "# Title",
      "```",
      "> quoted, never",
      "plain",
      "",
      "| a | b |",
      "- always",
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const text = lines.join("\n")
        const all = text.match(/never|always/gi)?.length ?? 0
        expect(standingRules(text).length + otherRules(text)).toBe(all)
      }),
    )
  })
})

test.each(["Why do you always run the tests twice?", "Must I avoid tabs here?", "为什么不要用制表符？"])(
  "L4-29 a question is no standing rule: %s",
  (question) => {
    expect(standingRules(`${question} Never use tabs.`)).toEqual(["Never use tabs."])
  },
)
