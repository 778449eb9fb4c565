import fc from "fast-check"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { describe, expect, test } from "vitest"
import { SAMPLE_TEXTS } from "../../test/sample-texts.ts"
import { size } from "../../test/size.ts"
import type { Block } from "../messages/blocks.ts"
import { withExactInput } from "../messages/exact-json.ts"
import { CONTENT_CLASSES } from "./content-class.ts"
import { createEstimator, measureBlocks, measureText, sumMeasures } from "./estimate.ts"
import type { TokenizerFamily } from "./models.ts"

const FAMILIES: readonly TokenizerFamily[] = ["claude-4", "claude-5", "gpt-5", "unknown"]

const text = (content: string): Block => ({ type: "text", text: content })
const result = (content: string | Block[], id = "toolu_1") =>
  ({ type: "tool_result", tool_use_id: id, content }) as Block
const call = (name: string, input: unknown) => ({ type: "tool_use", id: "toolu_1", name, input }) as Block
const image = { type: "image", source: { type: "url", url: "https://example.com/a.png" } } as Block
const document = { type: "document", source: { type: "url", url: "https://example.com/a.pdf" } } as Block

describe("TOK-3: an unknown model", () => {
  const padded = (tokens: number) => (tokens * 4) / 3
  const estimated = (...blocks: Block[]) => createEstimator("unknown").blocks(blocks)

  test.each<[string, Block, number]>([
    ["text has 4 bytes a token", text("x".repeat(400)), 100],
    ["bytes are counted, not characters", text("中".repeat(400)), 300],
    ["a tool_use counts its name and its JSON input", call("Read", { path: "a" }), 4 / 4 + '{"path":"a"}'.length / 2],
    ["a result has 4 bytes a token", result("x".repeat(400)), 100],
    ["a JSON result has 2", result(`{"a": "${"x".repeat(391)}"}`), 200],
    ["also as a list", result([text(`[${"1,".repeat(198)}1]`), image]), 399 / 2 + 2_000],
    ["a mark in brackets is no JSON", result("[Request interrupted by user]"), 29 / 4],
    ["an image is 2,000", image, 2_000],
    ["a document is 2,000", document, 2_000],
    ["thinking counts its text", { type: "thinking", thinking: "x".repeat(80), signature: "s".repeat(900) }, 20],
    ["hidden thinking counts as it is", { type: "redacted_thinking", data: "x".repeat(80) }, 20],
    [
      "an unknown block counts as its JSON",
      { type: "new_kind", a: 1 } as never,
      '{"type":"new_kind","a":1}'.length / 2,
    ],
  ])("%s", (_, block, tokens) => {
    expect(estimated(block)).toBeCloseTo(padded(tokens), 6)
  })

  test("the sum is padded by a third", () => {
    expect(estimated(text("x".repeat(400)), image)).toBeCloseTo(padded(2_100), 6)
  })

  test("an input is counted in the model's own spelling", () => {
    const spelled = withExactInput({ type: "tool_use" as const, id: "t", name: "Run", input: {} }, '{"n": 1.0}')
    expect(estimated(spelled)).toBeCloseTo(padded(3 / 4 + 10 / 2), 6)
  })
})

describe("TOK-3: a known family", () => {
  const WITHIN = 0.15

  test.each(CONTENT_CLASSES)("GPT-5: %s is within 0.15 of what the tokenizer counts", (name) => {
    const counted = encode(SAMPLE_TEXTS[name]).length
    const estimated = createEstimator("gpt-5").text(SAMPLE_TEXTS[name])
    expect(estimated / counted).toBeGreaterThan(1 - WITHIN)
    expect(estimated / counted).toBeLessThan(1 + WITHIN)
  })

  test("characters for a token are those measured: Claude 4.x about 2.9, Claude 5 about 2.4, GPT-5 about 4.2", () => {
    const mixed = SAMPLE_TEXTS.code + SAMPLE_TEXTS.prose
    const perToken = (family: TokenizerFamily) => mixed.length / createEstimator(family).text(mixed)
    expect(perToken("gpt-5")).toBeGreaterThan(perToken("claude-4"))
    expect(perToken("claude-4")).toBeGreaterThan(perToken("claude-5"))
    expect(perToken("claude-5")).toBeGreaterThan(2)
    expect(perToken("gpt-5")).toBeLessThan(5)
  })

  test("calls and results cost more than their content", () => {
    const estimator = createEstimator("claude-4")
    expect(estimator.block(call("Read", {}))).toBeGreaterThan(40)
    expect(estimator.block(result(""))).toBeGreaterThan(5)
  })

  test("an input is measured as the model writes it, not escaped", () => {
    const estimator = createEstimator("claude-5")
    const written = estimator.block(call("Write", { content: SAMPLE_TEXTS.code }))
    expect(written).toBeLessThan(
      estimator.text(SAMPLE_TEXTS.code) + estimator.block(call("Write", { content: "" })) + 5,
    )
  })
})

describe("estimates", () => {
  /** Realistic text: words, punctuation, numbers, other scripts, line ends, any UTF-16. */
  const anyText = fc
    .array(
      fc.oneof(
        fc.string({ unit: "binary", maxLength: 20 }),
        fc.string({ unit: fc.constantFrom(..."eta oin{}()=;:\"'/0123456789\n\t"), maxLength: 300 }),
        fc.constantFrom(...Object.values(SAMPLE_TEXTS).map((sample) => sample.slice(0, 300))),
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join(""))
  const families = fc.constantFrom(...FAMILIES)

  test("are sums: lines measured one by one come to the same as the text", () => {
    fc.assert(
      fc.property(anyText, (whole) => {
        const lines = whole.split(/(?<=\n)/).map((line) => measureText(line))
        const { byClass } = sumMeasures(lines)
        const together = measureText(whole).byClass
        for (const name of CONTENT_CLASSES) expect(byClass[name]).toBeCloseTo(together[name], 6)
      }),
    )
  })

  test("are sums: blocks measured one by one come to the same as the list", () => {
    fc.assert(
      fc.property(families, fc.array(anyText.map(text), { maxLength: 5 }), (family, blocks) => {
        const estimator = createEstimator(family)
        const oneByOne = blocks.reduce((sum, block) => sum + estimator.block(block), 0)
        expect(estimator.blocks(blocks)).toBeCloseTo(oneByOne, 6)
        expect(estimator.tokens(measureBlocks(blocks))).toBeCloseTo(oneByOne, 6)
      }),
    )
  })

  test("are never negative and always numbers", () => {
    fc.assert(
      fc.property(families, anyText, fc.jsonValue(), (family, content, input) => {
        const estimator = createEstimator(family)
        for (const block of [text(content), result(content), call(content, input), call("x", { content })]) {
          const tokens = estimator.block(block)
          expect(Number.isFinite(tokens)).toBe(true)
          expect(tokens).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })

  test("are continuous: one more character anywhere changes them by few tokens, and never takes off more than that", () => {
    const FEW = 50 // a segment of 256 characters that changes its class; in 9,600 edits of recorded texts the maximum was 17
    fc.assert(
      fc.property(
        families,
        anyText,
        fc.nat(),
        fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
        (family, before, at, more) => {
          const estimator = createEstimator(family)
          const place = at % (before.length + 1)
          const after = before.slice(0, place) + more + before.slice(place)
          expect(Math.abs(estimator.text(after) - estimator.text(before))).toBeLessThan(FEW)
        },
      ),
      { numRuns: size(100, 500) },
    )
  })

  test.each(CONTENT_CLASSES)("grow character by character without jumps: %s", (name) => {
    const estimator = createEstimator("claude-5")
    const whole = SAMPLE_TEXTS[name]
    for (let length = 1; length < whole.length; length++) {
      const step = estimator.text(whole.slice(0, length)) - estimator.text(whole.slice(0, length - 1))
      expect(Math.abs(step)).toBeLessThan(25)
    }
  })

  test.each([" ", "a", "A1", "=", "中", "\n", "🙂"])("grow in proportion on a run of %j", (unit) => {
    const estimator = createEstimator("gpt-5")
    const [once, twice] = [estimator.text(unit.repeat(102_400)), estimator.text(unit.repeat(204_800))]
    expect(once).toBeGreaterThan(0)
    expect(twice / once).toBeCloseTo(2, 2)
  })
})

test.each(FAMILIES)("TOK-3, MSG-14 a block of a newer server counts with all it holds: %s", (family) => {
  const sized = (words: number) =>
    createEstimator(family).blocks([{ type: "zork", notes: ["some words ".repeat(words)] } as never])
  expect(sized(1_000)).toBeGreaterThan(1_500)
  expect(sized(2_000) / sized(1_000)).toBeGreaterThan(1.8)
})
