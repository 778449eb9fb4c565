import { describe, expect, test } from "vitest"
import { createEstimator } from "../../../tokens/estimate.ts"
import { directSystemPrompt, mergePrompt, type SummaryKind, summaryPrompt } from "./prompts.ts"

const TITLES = [
  ...["Primary Request and Intent", "Key Technical Concepts", "Files and Code Sections", "Errors and Fixes"],
  ...["Problem Solving", "All User Messages", "Pending Tasks", "Current Work", "Optional Next Step"],
]
const titlesIn = (prompt: string) => [...prompt.matchAll(/^(\d)\. ([^:]+):/gm)].map(([, , title]) => title)
const KINDS: readonly SummaryKind[] = ["all", "from", "up-to"]
const ask = (kind: SummaryKind, instructions: readonly string[] = []) => summaryPrompt({ kind, instructions })

describe("L4-11 the prompt for a summary", () => {
  test.each(KINDS)("says at the start and at the end that only text is wanted (%s)", (kind) => {
    const prompt = ask(kind, ["Keep the figures."])
    expect(prompt.split("\n")[0]).toMatch(/text only.*tool/i)
    expect(prompt.split("\n").at(-1)).toMatch(/text only, no tool calls/)
    expect(prompt).not.toMatch(/\{\{\w+\}\}/)
  })

  test("asks for an analysis in order, then the nine sections", () => {
    const prompt = ask("all")
    expect(titlesIn(prompt)).toEqual(TITLES)
    expect(prompt.indexOf("<analysis>")).toBeLessThan(prompt.indexOf("<summary>"))
    expect(prompt).toMatch(/conversation in order/)
  })

  test("L4-26 instructions are appended before the closing words, the user's first, hooks' after", () => {
    const prompt = ask("all", ["First of all.", "", "A hook's."])
    const places = ["9. Optional", "First of all.", "A hook's.", "Once more"].map((words) => prompt.indexOf(words))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places).not.toContain(-1)
    expect(ask("all", ["", "  "])).toBe(ask("all"))
  })

  test.each(["$&", "$1 $$ $`", "{{range}} {{sections}}", "</summary>"])(
    "a value is text, whatever it holds: %s",
    (words) => {
      expect(ask("all", [words])).toContain(`\n${words}\n`)
      expect(summaryPrompt({ kind: "from", instructions: [], startsWith: words })).toContain(JSON.stringify(words))
    },
  )

  test("says how much room there is only where there is little", () => {
    expect(summaryPrompt({ kind: "all", instructions: [], words: 1_800 })).toContain("about 1,800 words")
    expect(mergePrompt({ kind: "all", instructions: [], words: 1_800, parts: 2 })).toContain("about 1,800 words")
    expect(ask("all")).not.toMatch(/room for about/)
  })

  test("is small enough for a small window", () => {
    for (const kind of KINDS) expect(createEstimator("claude-5").text(ask(kind))).toBeLessThan(1_500)
    expect(createEstimator("claude-5").text(directSystemPrompt())).toBeLessThan(150)
  })
})

describe("L4-11 where facts from the journal follow the summary", () => {
  const meaning = (more: Partial<Parameters<typeof summaryPrompt>[0]> = {}) =>
    summaryPrompt({ kind: "all", instructions: [], record: true, ...more })

  test("the nine titles stay, and the prompt says what the record carries", () => {
    expect(titlesIn(meaning())).toEqual(TITLES)
    expect(titlesIn(mergePrompt({ kind: "all", instructions: [], parts: 2, record: true }))).toEqual(TITLES)
    expect(meaning()).toMatch(/user's messages word for word.*exact names.*do not write it again/s)
    expect(meaning().indexOf("<analysis>")).toBeLessThan(meaning().indexOf("<summary>"))
    expect(meaning()).not.toMatch(/\{\{\w+\}\}/)
  })

  test("it asks for what data cannot say, and not for lists", () => {
    expect(meaning()).toMatch(/why/)
    expect(meaning()).toMatch(/dead ends and why/)
    for (const list of [/every file/, /every error/, /every message/]) {
      expect(ask("all")).toMatch(list)
      expect(meaning()).not.toMatch(list)
    }
  })

  test("it is shorter than the whole prompt, and says how many words to aim for", () => {
    const { text } = createEstimator("claude-5")
    expect(text(meaning())).toBeLessThan(text(ask("all")))
    expect(meaning({ words: 1_200 })).toContain("at most 1,200 words")
  })

  test("what was cleared comes after the sections, as material", () => {
    const prompt = meaning({ cleared: "```\n3f09c1a2b4.0 Bash ls: 10.20.30.40 $&\n```" })
    expect(prompt.indexOf("10.20.30.40 $&")).toBeGreaterThan(prompt.indexOf("9. Optional Next Step"))
    expect(prompt).toMatch(/do not follow it/)
    expect(meaning()).not.toMatch(/were cleared/)
  })
})

describe("L4-16 partial summaries", () => {
  test("up to a message: sections 8 and 9 tell what is done and what the kept messages build on", () => {
    const titles = titlesIn(ask("up-to"))
    expect(titles.slice(0, 7)).toEqual(TITLES.slice(0, 7))
    expect(titles.slice(7)).toEqual(["Work Completed", "Context for Continuing Work"])
  })

  test("from a message: the earlier ones stay and are not to be summarised", () => {
    const prompt = summaryPrompt({ kind: "from", instructions: [], startsWith: "Now the second task" })
    expect(prompt).toMatch(/earlier messages stay in the conversation/)
    expect(prompt).toMatch(/do not summarise them/)
    expect(prompt).toContain('"Now the second task"')
    expect(titlesIn(prompt)).toEqual(TITLES)
    expect(ask("all")).not.toMatch(/earlier messages stay/)
  })
})

describe("L4-25 parts", () => {
  test("a part knows which it is", () => {
    expect(summaryPrompt({ kind: "all", instructions: [], part: { number: 2, of: 5 } })).toContain("part 2 of 5")
    expect(ask("all")).not.toContain("part ")
  })

  test("parts are joined under the same sections and instructions", () => {
    const prompt = mergePrompt({ kind: "up-to", instructions: ["Keep $&."], parts: 3 })
    expect(titlesIn(prompt)).toEqual(titlesIn(ask("up-to")))
    expect(prompt).toContain("Keep $&.")
    expect(prompt).not.toMatch(/\{\{\w+\}\}/)
  })
})
