/** The start page answers twenty questions in two clicks, and the pages for users stay short. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { headingExists } from "./headings.ts"

const root = join(import.meta.dirname, "../..")
const read = (path: string) => readFileSync(join(root, path), "utf8")
const QUESTION = /^\d+\. (.+?\?) (.+)$/gm
const questions = [...read("docs/index.md").matchAll(QUESTION)].map(([, question, answer]) => ({
  question: question!,
  links: [...answer!.matchAll(/\]\(([^)#]+)#([^)]+)\)/g)].map(([, page, heading]) => ({
    page: page!,
    heading: heading!,
  })),
}))

describe("the start page", () => {
  test("has twenty questions", () => expect(questions).toHaveLength(20))

  test.each(questions)("$question is answered under a heading that exists", ({ links }) => {
    expect(links).not.toEqual([])
    for (const { page, heading } of links)
      expect(headingExists(join("docs", page), heading), `${page}#${heading}`).toBe(true)
  })

  test("links every page for users", () => {
    const linked = [...read("docs/index.md").matchAll(/\]\(([^)#]+)/g)].map(([, page]) => page!)
    const pages = userPages().map((path) => path.slice("docs/".length))
    expect(pages.filter((page) => page !== "index.md" && !linked.includes(page))).toEqual([])
  })
})

/** Counted as `wc -w` does. */
const wordCount = (text: string) => text.split(/\s+/).filter(Boolean).length
const proseOf = (page: string) =>
  page
    .replaceAll(/^```.*?^```/gms, "")
    .replaceAll(/<!--.*?-->/gs, "")
    .replaceAll("|", " ")
/** The architecture page is for contributors. */
const userPages = () => globSync("docs/*.md", { cwd: root, exclude: ["docs/architecture.md"] })

describe("the pages for users", () => {
  const MAX_WORDS = 32_500
  const MAX_PROSE_WORDS = 25_000 // without code blocks and the bars of tables
  const pages = userPages().map(read)
  const total = (count: (page: string) => number) => pages.reduce((sum, page) => sum + count(page), 0)

  test(`have at most ${MAX_WORDS} words, ${MAX_PROSE_WORDS} of them outside code`, () => {
    expect(total(wordCount)).toBeLessThanOrEqual(MAX_WORDS)
    expect(total((page) => wordCount(proseOf(page)))).toBeLessThanOrEqual(MAX_PROSE_WORDS)
  })
})
