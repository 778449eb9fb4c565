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

const userPages = () => globSync("docs/*.md", { cwd: root })

test("the README has at most 700 words, counted as `wc -w` counts them", () => {
  expect(read("README.md").split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(700)
})

test("the pages for users have at most 25,000 words, counted as `wc -w docs/*.md` does", () => {
  const pages = globSync("docs/*.md", { cwd: root }).map(read)
  const words = pages.reduce((sum, page) => sum + page.split(/\s+/).filter(Boolean).length, 0)
  expect(words).toBeLessThanOrEqual(25_000)
})
