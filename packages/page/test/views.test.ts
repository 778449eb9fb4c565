/** Every view of a conversation in a real browser. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openConversation } from "@strata/core"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { everyNth, isWhole, size } from "../../core/test/size.ts"
import { launch, picture } from "./browser.ts"
import { type MadeConversation, makeConversation } from "./made-conversation.ts"
import { PAYLOADS } from "./payloads.ts"
import {
  findings,
  openTab,
  screens,
  sourceOf,
  startTrial,
  type Tab,
  type TrialPages,
  trialWork,
} from "./trial-pages.ts"

/** In `npm test`, each tag once with different quotes, and the 16 special ones at the end. */
const hostileTexts = size(
  PAYLOADS.filter((_, at) => at % 21 === 0 || at >= PAYLOADS.length - 16),
  PAYLOADS,
)
const VIEWS = ["context", "messages", "compactions", "cache", "money", "agents"]

describe("BEY-10 a conversation in a browser", needs("browser"), () => {
  let browser: Browser
  let dir: string
  let trial: TrialPages
  let work: MadeConversation
  let wide: Tab
  const tasks = trialWork()
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "strata-pages-"))
    work = await makeConversation({ dir, cwd: dir, rounds: 30, isCompacted: true })
    const hostile = await makeConversation({ dir, cwd: dir, rounds: hostileTexts.length, texts: hostileTexts })
    trial = await startTrial({
      ...sourceOf({
        work: { title: "Thirty tasks", location: work.at },
        hostile: { title: PAYLOADS[0]!, location: hostile.at },
      }),
      work: tasks,
    })
    browser = await launch()
    wide = await openTab(browser, trial, { viewport: { width: 1_200, height: 700 } })
  })
  afterAll(async () => {
    await browser?.close()
    await trial?.page.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const paths = ["/", "/work", ...VIEWS.map((view) => `/c/work/${view}`)]
  it("shows every view in light and dark, on a phone and a wide screen, without errors, and to screen readers", async () => {
    for (const { colorScheme, width } of screens(3)) {
      const { tab, complaints } = await openTab(browser, trial, { colorScheme, viewport: { width, height: 900 } })
      for (const path of size(["/", "/c/work/context"], paths)) {
        await tab.goto(`${trial.base}${path}`)
        if (path !== "/") await tab.waitForSelector(".live.on")
        const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        expect({ path, width, colorScheme, overflow, complaints, findings: await findings(tab) }).toEqual({
          ...{ path, width, colorScheme, overflow: 0, complaints: [], findings: [] },
        })
        await picture(tab, `${path.slice(1).replaceAll("/", "-") || "start"}-${colorScheme}-${width}`)
      }
      await tab.context().close()
    }
  })

  it("runs nothing of a hostile conversation, and shows hidden characters as signs", async () => {
    const { tab, complaints } = wide
    for (const view of everyNth(VIEWS, 3)) await tab.goto(`${trial.base}/c/hostile/${view}`)
    await tab.goto(`${trial.base}/c/hostile/messages?at=0`)
    const rows = tab.locator("[data-rows]")
    for (let seen = 0; seen < size(20, 40); seen++) await rows.evaluate((box) => (box.scrollTop += box.clientHeight))
    await tab.goto(`${trial.base}/c/hostile/messages`)
    await tab.waitForSelector("article")
    for (const folded of await tab.locator("details[data-block]").all())
      await folded.evaluate((one) => one.setAttribute("open", ""))
    await tab.waitForFunction(() =>
      [...document.querySelectorAll("details[open] > pre")].every((one) => one.textContent !== ""),
    )
    expect(complaints).toEqual([])
    expect(await tab.evaluate("window.ran")).toBeUndefined()
    expect(await tab.locator("main").innerHTML()).not.toContain("\u202e")
    expect(await tab.locator("main iframe, main object, main script, main form:not([role=search])").count()).toBe(0)
  })

  it("can be used with the keyboard alone", async () => {
    const { tab, complaints } = wide
    await tab.goto(`${trial.base}/c/work/context`)
    await tab.keyboard.press("Tab")
    expect(await tab.evaluate("document.activeElement.className")).toBe("skip")
    await tab.locator("[data-chart]").focus()
    await tab.keyboard.press("ArrowRight")
    expect(await tab.locator("[data-readout]").innerText()).toMatch(/^turn 1: /)
    await tab.goto(`${trial.base}/c/work/messages`)
    const folded = tab.locator("details[data-block] summary").last()
    await folded.focus()
    await tab.keyboard.press("Enter")
    await tab.waitForSelector("details[open] > pre:not(:empty)")
    expect(complaints).toEqual([])
  })

  it("says what a compaction cost and lost of what was used again", async () => {
    const { tab } = wide
    await tab.goto(`${trial.base}/c/work/compactions`)
    const shown = await tab.locator("main").innerText()
    expect(shown).toContain("It cost nothing: no request of its own.")
    expect(shown).toMatch(/used again\s+(Still there: \d+% of \d+ names?|No name was used again)\./)
  })

  it("finds words and goes to the message, also one that is far away", async () => {
    const { tab } = wide
    await tab.goto(`${trial.base}/c/work/messages`)
    await tab.getByLabel("Search in it").fill("part-3.ts")
    await tab.keyboard.press("Enter")
    await tab.locator("[data-found] a").first().click()
    await tab.waitForFunction(() => document.activeElement?.textContent?.includes("part-3.ts"))
  })

  it("shows what another process writes, and someone at the end stays at the end", async () => {
    const { tab, complaints } = wide
    await tab.goto(`${trial.base}/c/work/messages`)
    await tab.waitForSelector(".live.on")
    await using chat = await openConversation({ model: "claude-opus-5-5", dir, cwd: dir, env: {}, id: work.id })
    await chat.add("A message from elsewhere")
    await tab.waitForFunction(
      () =>
        document.querySelector("[data-rows] article:last-of-type .message-text")?.checkVisibility() &&
        document.body.innerText.includes("A message from elsewhere"),
    )
    const isAtEnd = await tab
      .locator("[data-rows]")
      .evaluate((box) => box.scrollTop + box.clientHeight >= box.scrollHeight - 80)
    expect({ isAtEnd, complaints }).toEqual({ isAtEnd: true, complaints: [] })
  })

  it("shows background work while it changes, and stops a dream after a question", async () => {
    const { tab, complaints } = wide
    await tab.goto(`${trial.base}/work`)
    await tab.waitForSelector(".live.on")
    expect(await tab.locator(".tree > li").count()).toBe(2)
    await tab.getByRole("button", { name: "Stop" }).click()
    await tab.getByRole("button", { name: "Continue" }).click()
    await tab.getByText("The dream was asked to stop.").waitFor()
    await tab.waitForFunction(() => document.querySelectorAll(".tree > li").length === 1)
    expect(complaints).toEqual([])
  })

  it.runIf(isWhole)("keeps only what is near the window in the page", async () => {
    const { tab } = wide
    await tab.goto(`${trial.base}/c/hostile/messages`)
    await tab.waitForSelector("article")
    const rows = tab.locator("[data-rows]")
    for (let step = 0; step < 60; step++) await rows.evaluate((box) => (box.scrollTop -= box.clientHeight))
    const total = Number(await rows.getAttribute("data-total"))
    const there = await tab.locator("article").count()
    expect(there).toBeLessThan(total)
    expect(there).toBeLessThanOrEqual(20 * 20) // 16 slices of 20 rows, and slices that are being loaded
  })
})
