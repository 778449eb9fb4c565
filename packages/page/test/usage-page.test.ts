/** The page about all conversations, in a real browser. */
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { isWhole } from "../../core/test/size.ts"
import { openUsage, type Usage } from "../src/index.ts"
import { launch } from "./browser.ts"
import { PAYLOADS } from "./payloads.ts"
import { RecordedHome } from "./recorded-home.ts"
import { openTab } from "./trial-pages.ts"
import { startUsageTrial, type UsageTrial } from "./usage-trial.ts"

describe("BEY-15 all conversations in a browser", needs("browser"), () => {
  let home: RecordedHome
  let look: Usage
  let trial: UsageTrial
  let browser: Browser
  beforeAll(async () => {
    home = new RecordedHome()
    for (let at = 1; at <= 60; at++)
      home.session({
        id: `s${at}`,
        turns: 3 + (at % 5),
        day: `2026-01-${String(1 + (at % 28)).padStart(2, "0")}`,
        ...(at % 7 === 0 ? { lostAt: 3 } : {}),
      })
    home.session({
      id: "hostile",
      cwd: `/work/${PAYLOADS[0]}`,
      asks: PAYLOADS.join(" "),
      title: PAYLOADS[0]!,
      answers: PAYLOADS.join("\n"),
    })
    look = openUsage({ env: {}, home: home.path })
    await look.update()
    trial = await startUsageTrial(look)
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await trial?.page.close()
    await look?.close()
    home?.remove()
  })

  it("searches, sorts, filters and turns pages without a script, and opens a conversation", async () => {
    const { tab } = await openTab(browser, trial, { javaScriptEnabled: false })
    await tab.getByRole("link", { name: "All 61 conversations" }).click()
    expect(await tab.locator("tbody tr").count()).toBe(25)
    await tab.getByRole("link", { name: "Next" }).click()
    expect(await tab.locator("tbody tr").count()).toBe(25)
    await tab.getByRole("link", { name: "Next" }).click()
    expect(await tab.locator("tbody tr").count()).toBe(11)
    await tab.getByRole("link", { name: "lost to caches" }).click()
    const lost = await tab.locator('td[data-title="lost to caches"]').allInnerTexts()
    expect(lost.slice(0, 8).every((cost) => cost.startsWith("$"))).toBe(true) // 8 of 61 conversations had a cache miss
    expect(new Set(lost.slice(8))).toEqual(new Set(["-"]))
    await tab.getByRole("link", { name: /^conversation/ }).click()
    expect(await tab.locator('th[aria-sort="ascending"]').innerText()).toMatch(/^conversation/)
    await tab.getByLabel("Project").selectOption("/work/app")
    await tab.getByRole("button", { name: "Show" }).click()
    expect(await tab.locator("caption").innerText()).toBe("60 conversations found")
    await tab.getByRole("searchbox").fill("nothing says this")
    await tab.getByRole("button", { name: "Show" }).click()
    expect(await tab.locator("main").innerText()).toContain("No conversation has all of these words")
    await tab.getByRole("link", { name: "Show all" }).click()
    await tab.locator("tbody a").first().click()
    expect(await tab.locator("h1").innerText()).toBe("Context")
    await tab.context().close()
  })

  it.runIf(isWhole)("offers a picture as soon as something is replayed", async () => {
    const { tab } = await openTab(browser, trial, { javaScriptEnabled: false })
    expect(await tab.getByRole("link", { name: "Save a picture" }).count()).toBe(0)
    await look.replay({ signal: new AbortController().signal, isInBackground: false })
    trial.changed()
    await tab.goto(`${trial.base}/`)
    const saved = tab.waitForEvent("download")
    await tab.getByRole("link", { name: "Save a picture" }).click()
    expect((await saved).suggestedFilename()).toBe("strata-usage.svg")
    await tab.context().close()
  })

  it("draws itself again when more was read, and runs nothing of what it shows", async () => {
    const { tab, complaints } = await openTab(browser, trial)
    await tab.waitForSelector(".live.on")
    home.session({ id: "new", turns: 4 })
    await look.update()
    trial.changed()
    await tab.waitForFunction(() => document.querySelector("main")?.innerText.includes("62 conversations"))
    await tab.goto(`${trial.base}/conversations`)
    await tab.waitForSelector(".live.on")
    await tab.getByRole("searchbox").fill("half a wor")
    home.session({ id: "newer", turns: 4 })
    await look.update()
    trial.changed()
    await tab.waitForFunction(() => document.querySelector("caption")?.innerText === "63 conversations")
    expect(await tab.getByRole("searchbox").inputValue()).toBe("half a wor")
    expect(complaints).toEqual([])
    expect(await tab.evaluate("window.ran")).toBeUndefined()
  })
})
