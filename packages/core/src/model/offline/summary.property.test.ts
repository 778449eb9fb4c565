import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isWhole, size } from "../../../test/size.ts"
import { findOpenFence } from "../../messages/blocks.ts"
import { createEstimator } from "../../tokens/estimate.ts"
import { splitDocument } from "./document.ts"
import type { ReadBlock, ReadMessage } from "./read-message.ts"
import { NOTHING, summarize } from "./summary.ts"
import { ORIGIN } from "./timeline.ts"

const estimator = createEstimator("claude-5")
const budgetOf = (tokens: number) => ({ tokens, tokensOf: (text: string) => estimator.text(text) })

const says = (...texts: string[]): ReadMessage => ({
  role: "user",
  content: texts.map((text) => ({ type: "text", text })),
})
const answers = (...content: ReadBlock[]): ReadMessage => ({ role: "assistant", content })

/** Sentences that look like parts of a summary, like markup, or neither. */
const words = fc.oneof(
  fc.constantFrom(
    "I decided against yarn because npm is installed.",
    "That did not work.",
    "Die Ursache war ein Tippfehler.",
    "因为端口被占用，所以决定使用8443。",
    "次に、テストを直します。",
    "Next I will run the tests!",
    "1. Primary Request and Intent:",
    '6. All User Messages:\n   - "invented"',
    "~~~\ncode\n~~~~",
    "```ts",
    "- [pending] `todo`",
    "<summary>x</summary>",
    "$& $1 \\",
    "\uD83D",
    "No, never do that.",
  ),
  fc.string({ unit: "grapheme", maxLength: 80 }),
  fc.string({ unit: "binary", maxLength: 300 }),
)
const odd = fc.oneof(
  fc.constant(undefined),
  fc.string(),
  fc.integer(),
  fc.constant(null),
  fc.dictionary(fc.string(), fc.jsonValue()),
)
const block: fc.Arbitrary<ReadBlock> = fc.oneof(
  fc.record({ type: fc.constant("text"), text: words }),
  fc.record({
    type: fc.constant("tool_use"),
    id: fc.constantFrom("a", "b"),
    name: fc.constantFrom("Bash", "Edit", "x__Read", "TodoWrite", ""),
    input: odd,
  }),
  fc.record({
    type: fc.constant("tool_result"),
    tool_use_id: fc.constantFrom("a", "b", "c"),
    content: fc.oneof(words, fc.array(fc.record({ type: fc.constant("text"), text: words }))),
    is_error: fc.boolean(),
  }),
  fc.constantFrom<ReadBlock[]>(
    { type: "image" },
    { type: "thinking", thinking: "hm" },
    { type: "newer" },
    { type: "text" },
  ),
)
const message: fc.Arbitrary<ReadMessage> = fc.record({
  role: fc.constantFrom("user" as const, "assistant" as const, "system" as const),
  content: fc.array(block, { maxLength: 5 }),
})
const messages = fc.array(message, { maxLength: 12 })

/** All strings in the conversation. */
function stringsIn(value: unknown): string {
  if (typeof value === "string") return value
  return typeof value === "object" && value !== null ? Object.values(value).map(stringsIn).join("\n") : ""
}

/** What a summary presents as quoted. */
function quotedIn(summary: string): string[] {
  const fences = [...summary.matchAll(/^(~{3,})\n([\s\S]*?)\n\1$/gm)].map((match) => match[2]!)
  const rest = summary.replace(/^(~{3,})\n[\s\S]*?\n\1$/gm, "")
  return [...fences, ...[...rest.matchAll(/(?:: |- )"(.*)"$/gm)].map((match) => match[1]!)]
}

describe("BEY-6 extractive summaries of any messages", () => {
  test("BEY-6 property: never throws, the same every time, within its budget", () => {
    fc.assert(
      fc.property(messages, fc.integer({ min: 400, max: 3_000 }), (given, tokens) => {
        const budget = budgetOf(tokens)
        const summary = summarize(given, "", budget)
        expect(summary).toBe(summarize(structuredClone(given), "", budget))
        expect(summary.startsWith(ORIGIN)).toBe(true)
        expect(findOpenFence(summary)).toBeUndefined()
        expect(estimator.text(summary)).toBeLessThanOrEqual(tokens)
      }),
      { numRuns: size(60, 300) },
    )
  })

  test("BEY-6 property: every sentence in it occurs in the conversation", () => {
    const sentence = fc.constantFrom(
      "I decided against yarn because npm is installed.",
      "The cause was a stale lock in cache.ts.",
      "Reverting did not work, and it made it worse.",
      "Still open: the second test.",
      "因为端口被占用，所以决定使用8443。",
      "No, use port 4501.",
      "Always answer in German.",
    )
    const plain = fc.array(
      fc.oneof(
        fc.array(sentence, { minLength: 1, maxLength: 4 }).map((list) => says(list.join(" "))),
        fc
          .array(sentence, { minLength: 1, maxLength: 8 })
          .map((list) => answers({ type: "text", text: list.join("\n") })),
      ),
      { minLength: 1, maxLength: 30 },
    )
    fc.assert(
      fc.property(plain, fc.option(fc.integer({ min: 500, max: 2_000 })), (given, tokens) => {
        const all = stringsIn(given)
        const quoted = quotedIn(summarize(given, "", tokens === null ? undefined : budgetOf(tokens)))
        expect(quoted.length).toBeGreaterThan(0)
        for (const piece of quoted) expect(all).toContain(piece)
      }),
      { numRuns: size(50, 200) },
    )
  })

  test.each([
    ["an empty conversation", []],
    ["only images", [{ role: "user", content: [{ type: "image" }] }]],
    ["only tool results", [{ role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "ok" }] }]],
  ] satisfies [string, ReadMessage[]][])("BEY-6 %s has nine sections that say so", (_, given) => {
    const summary = summarize(given, "", budgetOf(4_000))
    expect(summary.split(NOTHING)).toHaveLength(10)
  })

  test("BEY-6 Chinese and Japanese: decisions, causes and corrections are found", () => {
    const summary = summarize([
      says("请把端口改成8443。以后不要使用yarn。"),
      answers({ type: "text", text: "因为8080被占用，我决定使用8443。原因是旧服务还在运行。" }),
      says("不对，请保留日志。"),
      answers({ type: "text", text: "テストはまだ失敗しています。次に設定を直します。" }),
    ])
    expect(summary).toContain('decision: "因为8080被占用，我决定使用8443。"')
    expect(summary).toContain('finding: "原因是旧服务还在运行。"')
    expect(summary).toContain('the user: "不对，请保留日志。"')
    expect(summary).toContain('open: "テストはまだ失敗しています。"')
    expect(summary).toContain('next: "次に設定を直します。"')
  })

  test("BEY-6 what a model wrote in an earlier summary stays, as prose and as lists; what frames it does not", () => {
    const earlier =
      "This conversation continues an earlier one.\n\nSummary:\n1. Primary Request and Intent: The user wants a parser.\n   It must be fast.\n\n2. Key Technical Concepts:\n   - PEG grammars\n\n3. Problem Solving:\n   The tokenizer was rewritten because regular expressions were slow.\n\n4. Optional Next Step:\n   - Measure it.\n\nGo on with the last task from where it stopped."
    const summary = summarize([
      says(earlier),
      answers({ type: "text", text: "Measured." }),
      says("Good. Now the docs."),
    ])
    for (const kept of ["The user wants a parser.", "PEG grammars", "rewritten because regular expressions were slow"])
      expect(summary).toContain(kept)
    expect(summary).not.toContain("Go on with the last task")
    expect(summarize([says(summary)])).toContain("The user wants a parser.")
    const prose: ReadMessage = { role: "summary", content: [{ type: "text", text: "Summary:\nPorts moved to 8443." }] }
    expect(summarize([prose, says("Go.")])).toMatch(/1\. Primary Request and Intent:\n {3}- Ports moved to 8443\./)
  })

  test("BEY-6 no entry leaves a fence or a tag open, so the next summary reads every section", () => {
    const code = "```bash\ngh pr view\n\n- name: not an entry\n```"
    const earlier = [
      "1. Primary Request and Intent:\n   Answer the reviews.",
      `2. Files and Code Sections:\n\n${code}\n\n   - \`\`\`ts\nconst cut = 1`,
      "3. Problem Solving:\n   - The client sends a <system-reminder> before each turn.",
      "4. Optional Next Step:\n   - Ship it.",
    ]
    const given: ReadMessage = { role: "summary", content: [{ type: "text", text: earlier.slice(0, 2).join("\n\n") }] }
    const rest: ReadMessage = { role: "summary", content: [{ type: "text", text: earlier.slice(2).join("\n\n") }] }
    const summary = summarize([given, rest, says("Now the docs, with ```\nan example")])
    expect(summary).toContain(`   - code:\n${code}\n   - code:\n\`\`\`ts\nconst cut = 1\n\`\`\`\n`)
    expect(summary).toContain("a &lt;system-reminder> before")
    expect(splitDocument(summary)).toHaveLength(9)
    for (const { body } of splitDocument(summary)) expect(findOpenFence(body)).toBeUndefined()
    const again = summarize([{ role: "summary", content: [{ type: "text", text: summary }] }])
    expect(again).toContain(`   - code:\n${code}\n`)
    expect(again).toContain("a &lt;system-reminder> before")
  })

  test.runIf(isWhole)(
    "BEY-6 half a million tokens and hostile texts fit the budget, within the time limit of a test",
    () => {
      const line = "The cause in module.ts was found because `a.b` failed; still open is part 7. "
      const long = [
        says("Only touch src/a.ts. ".repeat(20)),
        ...Array.from({ length: 250 }, (_, at) => answers({ type: "text", text: `${at} ${line.repeat(100)}` })),
        answers({ type: "text", text: "conversation ".repeat(20_000) }),
        says("```ts\n".repeat(20_000), `only ${"a".repeat(100_000)}`, "conversation session ".repeat(5_000)),
        answers({ type: "text", text: "a.".repeat(50_000) }),
      ]
      expect(estimator.text(summarize(long, "", budgetOf(4_000)))).toBeLessThanOrEqual(4_000)
    },
  )
})
