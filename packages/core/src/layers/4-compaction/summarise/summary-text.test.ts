import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { size } from "../../../../test/size.ts"
import { readSummary } from "./prompts.ts"

const textOf = (answer: string) => {
  const read = readSummary(answer)
  return read.kind === "summary" ? read.text : `none: ${read.reason}`
}

describe("L4-12 reading a summariser's answer", () => {
  test.each([
    [
      "the analysis goes, the tags become a heading",
      "<analysis>\nhm\n</analysis>\n\n<summary>\n1. A\n</summary>",
      "Summary:\n1. A",
    ],
    ["words around the tags go", "Here it is:\n<summary>1. A</summary>\nAnything else?", "Summary:\n1. A"],
    ["an answer without tags is used as it is", "  1. A\n2. B\n", "1. A\n2. B"],
    ["also after an analysis", "<analysis>hm</analysis>\n1. A", "1. A"],
    ["cut in the summary", "<analysis>hm</analysis><summary>\n1. A\n2. B and th", "Summary:\n1. A\n2. B and th"],
    ["cut in the analysis", "<analysis>\nfirst the user asked for a <summary> of", "none: cut"],
    ["an analysis left open before a summary", "<analysis>\nhm\n<summary>\n1. A\n</summary>", "Summary:\n1. A"],
    ["nothing but an analysis", "<analysis>hm</analysis>", "none: empty"],
    ["an empty summary", "<analysis>hm</analysis><summary>\n</summary>", "none: empty"],
    ["nothing", " \n", "none: empty"],
    ["other spelling", "<ANALYSIS>hm</ANALYSIS><Summary>1. A</Summary>", "Summary:\n1. A"],
  ])("%s", (_, answer, expected) => expect(textOf(answer)).toBe(expected))

  test.each([
    "API Error: 529 Overloaded",
    "API Error (Connection error.)",
    "API Error",
    "Prompt is too long",
    "Credit balance is too low",
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    '529 {"type":"error","error":{"type":"overloaded_error"}}',
    "Request timed out.",
  ])("an error in place of an answer is no summary: %s", (answer) => {
    expect(readSummary(answer)).toMatchObject({ kind: "none", reason: "api-error" })
  })

  test("an error that tells how much was too long hands the figures on", () => {
    expect(readSummary("Prompt is too long: prompt is too long: 210,000 tokens > 200,000 maximum")).toMatchObject({
      tooLong: { tokens: 210_000, limit: 200_000 },
    })
  })

  test("a summary that tells of errors is one", () => {
    expect(textOf("API Errors were the subject: 529 came up twice.")).toMatch(/^API Errors/)
    expect(textOf("<summary>4. Errors and Fixes: API Error: 529</summary>")).toMatch(/API Error: 529$/)
  })
})

describe("L4-12 tags that are only quoted", () => {
  const html = "<details>\n<summary>Title</summary>\ntext\n</details>"

  test("HTML inside a whole summary", () => {
    expect(textOf(`<summary>\n3. ${html}\n9. End\n</summary>`)).toBe(`Summary:\n3. ${html}\n9. End`)
  })

  test("HTML inside a summary that was cut", () => {
    expect(textOf(`<summary>\n3. ${html}\nand mor`)).toBe(`Summary:\n3. ${html}\nand mor`)
  })

  test("a lone closing tag, followed by sections, in a summary that was cut", () => {
    const body = '6. "put it in </summary> please"\n7. Pending Tasks: the re'
    expect(textOf(`<summary>\n${body}`)).toBe(`Summary:\n${body}`)
  })

  test("an analysis that speaks of the tags", () => {
    const answer =
      "<analysis>\nI close </analysis> later and write <summary> then.\n</analysis>\n<summary>\n1. A\n</summary>"
    expect(textOf(answer)).toBe("Summary:\n1. A")
  })

  test("property: whatever the summary quotes, it arrives whole", () => {
    const piece = fc.constantFrom(
      ...[
        "<summary>",
        "</summary>",
        "<analysis>",
        "</analysis>",
        "\n",
        " ",
        "1. A",
        "text",
        "$&",
        "</analysis>\n<summary>",
      ],
    )
    const body = fc.array(piece, { maxLength: 12 }).map((pieces) => `1. ${pieces.join("")}.`)
    fc.assert(
      fc.property(body, fc.boolean(), (words, hasAnalysis) => {
        const analysis = hasAnalysis ? "<analysis>\nnotes\n</analysis>\n" : ""
        expect(textOf(`${analysis}<summary>\n${words}\n</summary>`)).toContain(words)
      }),
      { numRuns: size(200, 1_000) },
    )
  })
})
