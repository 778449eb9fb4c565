/** The pages in a real browser: they render, load nothing, report no error, and fit a phone and a wide screen. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type PageContent, type PageConversation, page } from "@strata/page"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { launch } from "../../page/test/browser.ts"
import { comparedHere } from "./compared-here.ts"

const WIDTHS = [360, 1280]
const BAD = `<img src="http://127.0.0.1:9/x.png" onerror="document.title='run'">"'\u202e`
const classes = { prompt: 9_000, person: 500, answers: 700, thinking: 300, calls: 200, results: 40_000, summary: 1_300 }

/** A conversation with hostile and long texts and many turns. */
const hostile: PageConversation = {
  name: `${"long-name-".repeat(60)}${BAD}`,
  facts: [BAD, "x".repeat(10_000_000)],
  remarks: [BAD],
  unit: "tokens",
  timelines: ["as recorded", BAD].map((name) => ({
    name,
    description: BAD,
    points: Array.from({ length: 3_000 }, (_, i) => ({ turn: i + 1, context: 52_000, classes, cost: 10 * i })),
    boundaries: [700, 1_400],
    misses: [{ turn: 900, tokens: 52_000, kind: "other", reason: BAD }],
    facts: [[BAD, BAD]],
  })),
}
const brief: PageConversation = {
  ...hostile,
  facts: [],
  timelines: hostile.timelines.map((course) => ({ ...course, points: course.points.slice(0, 50) })),
}
const empty: PageConversation = { name: "empty", facts: [], remarks: [], unit: "dollars", timelines: [] }

interface Seen {
  readonly title: string
  readonly overflow: number
  readonly charts: number
  readonly undrawn: number
  readonly strangers: number
}

/** Script that runs in the page. */
const LOOK = `({
  title: document.title,
  overflow: document.documentElement.scrollWidth - window.innerWidth,
  charts: document.querySelectorAll("svg.chart").length,
  undrawn: [...document.querySelectorAll("svg.chart path")].filter((path) => !(path.getTotalLength() > 0)).length,
  strangers: document.querySelectorAll("img, script, iframe, link, form").length,
})`

async function contents(): Promise<readonly (readonly [name: string, content: PageContent | string])[]> {
  return [
    ["compared", await comparedHere()],
    ["hostile", { title: BAD, description: [BAD], conversations: [hostile] }],
    [
      "many",
      { title: "Many", description: [], conversations: [empty, ...Array.from({ length: 70 }, () => ({ ...brief }))] },
    ],
  ]
}

describe("BEY-7 a page in a browser", needs("browser"), () => {
  let browser: Browser
  let directory: string
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "strata-page-"))
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  it("renders without errors and without network, and never scrolls sideways", async () => {
    for (const [name, content] of await contents()) {
      const source = typeof content === "string" ? content : page(content).toString()
      expect(source.length, name).toBeLessThan(12_000_000)
      const file = join(directory, `${name}.html`)
      writeFileSync(file, source)
      const tab = await browser.newPage()
      const complaints: string[] = []
      tab.on("console", (message) => complaints.push(message.text()))
      tab.on("pageerror", (error) => complaints.push(error.message))
      tab.on("request", (request) => request.url().startsWith("file:") || complaints.push(request.url()))
      await tab.goto(`file://${file}`)
      for (const width of WIDTHS) {
        await tab.setViewportSize({ width, height: 800 })
        const { title, charts, ...seen } = await tab.evaluate<Seen>(LOOK)
        expect({ name, width, complaints, ...seen }).toEqual({
          ...{ name, width, complaints: [] },
          ...{ overflow: 0, undrawn: 0, strangers: 0 },
        })
        expect(title).not.toBe("run")
        expect(charts).toBeGreaterThan(1)
      }
      await tab.close()
    }
  })
})
