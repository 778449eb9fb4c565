/** The page about all conversations, in a real browser. */
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { isWhole } from "../../core/test/size.ts"
import { openUsage, type Usage } from "../src/index.ts"
import { launch, picture } from "./browser.ts"
import { PAYLOADS } from "./payloads.ts"
import { RecordedHome } from "./recorded-home.ts"
import { findings, openTab, screens, startTrial, type TrialPages } from "./trial-pages.ts"

describe("BEY-15 all conversations in a browser", needs("browser"), () => {
  let home: RecordedHome
  let look: Usage
  let trial: TrialPages
  let browser: Browser
  let changed = () => {}
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
    trial = await startTrial({
      name: "All",
      conversations: async () => [],
      find: async (id) => {
        const row = look.row(Number(id))
        return row && { id, title: row.title ?? row.id, location: { file: row.file, conversationId: row.id } }
      },
      usage: {
        report: (filter) => look.report(filter),
        list: (request) => look.list(request),
        findDeletedSessions: () => look.findDeletedSessions(),
        progress: () => undefined,
        onChange: (listener) => {
          const before = changed
          changed = () => {
            before()
            listener()
          }
          return () => undefined
        },
      },
    })
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await trial?.page.close()
    await look?.close()
    home?.remove()
  })

  it.runIf(isWhole)(
    "shows the sentence, the charts and the list, in light and dark, on a phone and a wide screen",
    async () => {
      for (const { colorScheme, width } of screens(0)) {
        const { tab, complaints } = await openTab(browser, trial, { colorScheme, viewport: { width, height: 900 } })
        await tab.waitForSelector(".live.on")
        expect(await tab.locator(".lead").innerText()).toBe(look.report().sentence)
        const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        expect({ width, overflow, complaints, findings: await findings(tab) }).toEqual({
          width,
          overflow: 0,
          complaints: [],
          findings: [],
        })
        await picture(tab, `look-${colorScheme}-${width}`)
        await tab.context().close()
      }
    },
  )

  it.runIf(isWhole)("searches, sorts and turns pages without a script, and opens a conversation", async () => {
    const { tab } = await openTab(browser, trial, { javaScriptEnabled: false })
    expect(await tab.locator("#list tbody tr").count()).toBe(50)
    expect(await tab.getByRole("link", { name: "Save a picture" }).count()).toBe(0) // nothing has been replayed yet
    await look.replay({ signal: new AbortController().signal, isInBackground: false })
    changed()
    await tab.getByRole("link", { name: "Next" }).click()
    expect(await tab.locator("#list tbody tr").count()).toBe(11)
    await tab.goto(`${trial.base}/?sort=lost`)
    const lost = await tab.locator("#list tbody tr td:nth-child(7)").allInnerTexts()
    expect(lost.slice(0, 8).every((cost) => cost.startsWith("$"))).toBe(true) // 8 of 61 conversations had a cache miss
    expect(new Set(lost.slice(8))).toEqual(new Set(["-"]))
    await tab.goto(`${trial.base}/?q=${encodeURIComponent("nothing says this")}`)
    expect(await tab.locator("#list").innerText()).toContain("No conversation has all of these words")
    await tab.goto(`${trial.base}/`)
    const saved = tab.waitForEvent("download")
    await tab.getByRole("link", { name: "Save a picture" }).click()
    expect((await saved).suggestedFilename()).toBe("strata-usage.svg")
    await tab.locator("#list tbody a").first().click()
    expect(await tab.locator("h1").innerText()).toBe("Context")
  })

  it("draws itself again when more was read, and runs nothing of what it shows", async () => {
    const { tab, complaints } = await openTab(browser, trial)
    await tab.waitForSelector(".live.on")
    home.session({ id: "new", turns: 4 })
    await look.update()
    changed()
    await tab.waitForFunction(() => document.querySelector("main")?.innerText.includes("62 conversations"))
    expect(complaints).toEqual([])
    expect(await tab.evaluate("window.ran")).toBeUndefined()
  })
})
