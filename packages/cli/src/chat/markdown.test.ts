import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type MarkdownLine, parseMarkdown, parseSpans } from "./markdown.ts"

/** Lines as short texts: `heading|Title`. */
const shown = (text: string) => parseMarkdown(text).map(({ form, lead, spans }) => `${form}|${lead}${words(spans)}`)
const words = (spans: MarkdownLine["spans"]) => spans.map(({ text }) => text).join("")
const letters = (text: string) => text.replace(/[^a-z0-9]/gi, "")

describe("lines", () => {
  test("tells headings, lists, quotes, code and rules apart", () => {
    const text = "# Title\n\n- one\n  - two\n3. three\n> said\n---\n```ts\n# not a heading\n```\nend"
    expect(shown(text)).toEqual([
      "heading|Title",
      "text|",
      "text|• one",
      "text|  • two",
      "text|3. three",
      "quote|│ said",
      "rule|",
      "code|  # not a heading",
      "text|end",
    ])
  })

  test("a fence that is not closed yet is code to its end", () => {
    expect(shown("```\nconst a = `b`\n**c**")).toEqual(["code|  const a = `b`", "code|  **c**"])
  })

  test("several empty lines are one, except in code", () => {
    expect(shown("a\n\n\n\nb\n\n")).toEqual(["text|a", "text|", "text|b"])
    expect(shown("```\na\n\n\nb\n```")).toHaveLength(4)
  })

  test("control characters cannot steer the terminal", () => {
    expect(shown("a\u001b[31mred\u0007")).toEqual(["text|ared␇"])
  })
})

describe("emphasis", () => {
  test.each([
    ["a **bold** word", ["a ", "bold:bold", " word"]],
    ["`code` and *italic*", ["code:code", " and ", "italic:italic"]],
    ["a __bold__ _word_", ["a ", "bold:bold", " ", "word:italic"]],
    ["`**` stays code", ["**:code", " stays code"]],
    ["snake_case_name and 2 * 3 * 4", ["snake_case_name and 2 * 3 * 4"]],
    ["half **open", ["half **open"]],
    ["half `open", ["half `open"]],
  ])("%s", (text, expected) => {
    expect(parseSpans(text).map((span) => (span.style ? `${span.text}:${span.style}` : span.text))).toEqual(expected)
  })
})

test("text that is still arriving never breaks and never loses a word", () => {
  const piece = fc.constantFrom(
    "# ",
    "- ",
    "**",
    "`",
    "```",
    "\n",
    "\n\n",
    "> ",
    "_",
    "*",
    "word",
    "two words",
    "1. ",
    "~~~",
    "\t",
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join("")
      for (let end = 0; end <= text.length; end++) {
        const arrived = text.slice(0, end)
        const seen = letters(
          parseMarkdown(arrived)
            .map(({ lead, spans }) => lead + words(spans))
            .join("\n"),
        )
        // the text after an opening fence names the language and is not shown
        expect(seen.length).toBeGreaterThanOrEqual(letters(arrived.replace(/^\s*(?:`{3,}|~{3,}).*$/gm, "")).length)
      }
    }),
    { numRuns: 200 },
  )
})
