import { describe, expect, test } from "vitest"
import { GONE } from "./prose/plain-words.ts"
import { sentencesOf } from "./prose/sentences.ts"
import { countTable, findPhrases, longSentences, textsOfPage, textsOfPrompt, textsOfSource, titlesOf } from "./prose.ts"

const names = (texts: Parameters<typeof findPhrases>[0]) => findPhrases(texts, GONE).map(({ phrase }) => phrase.name)

describe("the prose check", () => {
  test("a page is searched in its sentences, not in code, links' addresses or notes", () => {
    const page = "It stands here. `told`\n\n```sh\nanew\n```\n\n<!-- told -->\n[text](anew.md)\n"
    expect(names(textsOfPage("a.md", page))).toEqual(["stands"])
  })

  test("a source is searched in its literals and comments apart, and not in its names", () => {
    const source = '/** Put anew. */\nconst anew = "No one was told."\nconst key = "anew"\n'
    expect(
      findPhrases(textsOfSource("a.ts", source), GONE).map(({ area, phrase }) => `${area}: ${phrase.name}`),
    ).toEqual(["comments: anew", "screens: told"])
  })

  test("the text of elements on the screen is searched", () => {
    expect(names(textsOfSource("a.tsx", "const a = <Text dimColor>what stands here</Text>"))).toEqual(["stands"])
  })

  test("titles of tests are searched, also those with conditions or tables", () => {
    const source = 'check("L1-1 it is told", run)\ncheck.each([1])("anew %d", run)\nexpect("told")\n'.replaceAll(
      "check",
      "it",
    )
    expect(names(titlesOf("a.test.ts", source))).toEqual(["told", "anew"])
  })

  test("a prompt is searched whole", () => {
    expect(names(textsOfPrompt("a.md", "Keep it.\nIt stands there, and was told anew.\n"))).toEqual([
      "stands",
      "told",
      "anew",
    ])
  })

  test("the table has a line for each phrase and a column for each area", () => {
    const table = countTable(findPhrases(textsOfPage("a.md", "It stands."), GONE), GONE)
    expect(table.split("\n")[1]).toMatch(/^stands +1 +0 +0 +0 +0$/)
    expect(table.split("\n")).toHaveLength(GONE.length + 1)
  })

  test("sentences are counted by paragraph, list item and table cell; inline code is one word", () => {
    const page =
      "# A title\n\nOne two\nthree. Four `a b c` five!\n\n- six\n- seven eight\n\n| a | b c |\n|---|---|\n| d e | f |\n"
    expect(sentencesOf(page).map(({ words }) => words)).toEqual([2, 3, 3, 1, 2, 1, 2, 2, 1])
  })

  test("a sentence over thirty words is reported with its line", () => {
    const long = `${"word ".repeat(31).trim()}.`
    expect(longSentences("a.md", `Short.\n\n${long}\n`)).toMatchObject([{ file: "a.md", line: 3, words: 31 }])
    expect(longSentences("a.md", `${"word ".repeat(30).trim()}.\n`)).toEqual([])
  })
})
