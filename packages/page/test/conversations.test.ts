/** The list of conversations: over HTTP, in a browser, and where its costs come from. */
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import type { Browser } from "playwright-core"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { fileStore } from "../../core/src/journal/file/file-store.ts"
import { needs } from "../../core/test/needs.ts"
import { size } from "../../core/test/size.ts"
import { openUsage } from "../src/index.ts"
import { ConversationIndex, type ListedConversation, type PageSource } from "../src/server/start.ts"
import { launch, picture } from "./browser.ts"
import { type MadeConversation, makeConversation } from "./made-conversation.ts"
import { PAYLOADS } from "./payloads.ts"
import { findings, openTab, startTrial, type TrialPages } from "./trial-pages.ts"

const LISTED: readonly ListedConversation[] = Array.from({ length: 120 }, (_, n) => ({
  id: `c${n}`,
  title: n === 7 ? PAYLOADS[0]! : `Task ${n} of the ${n % 2 === 0 ? "parser" : "lexer"}`,
  model: "claude-opus-5-5",
  touched: new Date(Date.UTC(2026, 10, 17) - n * 3_600_000).toISOString(),
  project: n % 3 === 0 ? "~/work/alpha" : "~/work/beta",
  ...(n === 5
    ? {}
    : { usage: { dollars: (n * 37) % 120, cost: "known", requests: n, tokens: 1_000 * n, compactions: n % 4 } }),
}))

const listSource = (conversations: readonly ListedConversation[]): PageSource => ({
  name: "Conversations",
  conversations: async () => conversations,
  find: async () => undefined,
  list: { project: "~/work/alpha", progress: () => undefined, onChange: () => () => undefined },
})

describe("BEY-10 the list of conversations", () => {
  let trial: TrialPages
  let headers: { readonly cookie: string }
  beforeAll(async () => {
    trial = await startTrial(listSource(LISTED))
    const entered = await fetch(trial.page.address, { redirect: "manual" })
    headers = { cookie: entered.headers.get("set-cookie")!.split(";")[0]! }
  })
  afterAll(() => trial?.page.close())

  const page = async (path: string) => (await fetch(trial.base + path, { headers })).text()
  const ids = (text: string) => [...text.matchAll(/<td[^>]*><a href="[^"]*\/c\/(c\d+)"/g)].map(([, id]) => id)

  it("begins with this project, the newest first, and says which conversation cost most", async () => {
    const start = await page("/")
    expect(ids(start).slice(0, 3)).toEqual(["c0", "c3", "c6"])
    expect(start).toContain('<option value="~/work/alpha" selected>')
    expect(start).toMatch(/in 40 conversations of ~\/work\/alpha: [\d,]+ requests/)
    expect(start).toMatch(/Most expensive: <a href="[^"]*\/c\/c81\/money">Task 81 of the lexer<\/a>, \$117\.00\./)
  })

  it("is sorted by each column in both directions, and what was not read yet is last", async () => {
    expect(ids(await page("/conversations?sort=cost"))[0]).toBe("c107")
    expect(ids(await page("/conversations?sort=cost&order=ascending"))[0]).toBe("c0")
    expect(ids(await page("/conversations?sort=requests"))[0]).toBe("c119")
    expect(ids(await page("/conversations?sort=tokens&order=ascending"))[1]).toBe("c1")
    for (const order of ["ascending", "descending"]) {
      const last = await page(`/conversations?sort=cost&order=${order}&page=5`)
      expect(ids(last).at(-1)).toBe("c5")
      expect(last).toContain("not read yet")
    }
  })

  it("is searched, filtered by project, and divided into pages of 25", async () => {
    const all = await page("/conversations")
    expect(ids(all)).toHaveLength(25)
    expect(all).toContain("1 to 25 of 120")
    expect(ids(await page("/conversations?page=5"))).toHaveLength(20)
    const found = ids(await page("/conversations?q=PARSER+alpha"))
    expect(found).toHaveLength(20)
    expect(ids(await page("/conversations?q=parser&project=~%2Fwork%2Falpha"))).toEqual(found)
    expect(await page("/conversations?q=nowhere")).toContain("No conversation has all of these words.")
    expect(ids(await page("/conversations?project=elsewhere&sort=nothing"))).toHaveLength(25)
  })
})

describe("BEY-10 the list of conversations in a browser", needs("browser"), () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  it.each(size([100], [0, 1, 100]))("fits a phone and a wide screen: %i conversations", async (count) => {
    const trial = await startTrial(listSource(LISTED.slice(0, count)))
    for (const [width, colorScheme] of [
      [375, "dark"],
      [1_280, "light"],
    ] as const) {
      const { tab, complaints } = await openTab(browser, trial, { colorScheme, viewport: { width, height: 800 } })
      await tab.goto(`${trial.base}/conversations`)
      const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect({ width, overflow, complaints, findings: await findings(tab) }).toEqual({
        ...{ width, overflow: 0, complaints: [], findings: [] },
      })
      await picture(tab, `conversations-${count}-${colorScheme}-${width}`)
      await tab.context().close()
    }
    await trial.page.close()
  })

  it("is searched and sorted with the keyboard and without a script", async () => {
    const trial = await startTrial(listSource(LISTED))
    const { tab } = await openTab(browser, trial, { javaScriptEnabled: false })
    const focusOn = async (selector: string) => {
      for (let presses = 0; presses < 40; presses++) {
        if (await tab.locator(selector).evaluate((one) => one === document.activeElement)) return
        await tab.keyboard.press("Tab")
      }
      throw new Error(`The keyboard does not reach ${selector}.`)
    }
    await focusOn("#list-search")
    await tab.keyboard.type("lexer")
    await tab.keyboard.press("Enter")
    await tab.waitForURL(/q=lexer/)
    await focusOn("#sort-cost")
    await tab.keyboard.press("Enter")
    await tab.waitForURL(/sort=cost/)
    expect(await tab.locator("tbody tr").first().innerText()).toContain("Task 81 of the lexer")
    await trial.page.close()
  })
})

describe("BEY-10 costs of listed conversations", () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "strata-list-"))
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  const env = () => ({ STRATA_HOME: dir })
  const made = async (project: string, rounds: number): Promise<MadeConversation> => {
    const cwd = join(dir, "work", project)
    mkdirSync(cwd, { recursive: true })
    return makeConversation({ dir, cwd, rounds, isOwned: true, texts: [`${project} has ${rounds} rounds`] })
  }
  const openIndex = (all: readonly MadeConversation[]) =>
    new ConversationIndex({
      ...{ env: env(), store: fileStore({ root: dir }) },
      namespaces: async () => [...new Set(all.map(({ file }) => basename(dirname(file))))],
    })

  it("are those of strata usage, for conversations of several projects", async () => {
    const all = [await made("alpha", 2), await made("beta", 5)]
    const index = openIndex(all)
    const listed = await index.conversations()
    await index.close()
    const usage = openUsage({ env: env(), home: dir })
    const { read } = await usage.update()
    const rows = new Map(usage.list().rows.map((row) => [row.id, row]))
    await usage.close()
    expect(read).toBe(0) // the index has them already
    expect(listed.map(({ title }) => title).sort()).toEqual(["alpha has 2 rounds", "beta has 5 rounds"])
    for (const { id, directory, usage: found } of listed) {
      expect(found?.dollars).toBeGreaterThan(0)
      expect({ dollars: found?.dollars, requests: found?.requests, directory }).toEqual({
        ...{ dollars: rows.get(id)!.dollars, requests: rows.get(id)!.turns, directory: rows.get(id)!.project },
      })
    }
  })

  it("are read once for each change: an unchanged journal is not opened, and a deleted one is gone", async () => {
    const all = [await made("alpha", 2), await made("alpha", 3)]
    const [first, second] = all as [MadeConversation, MadeConversation]
    const touch = () => utimesSync(first.file, 1_700_000_000, 1_700_000_000)
    touch()
    const before = openIndex(all)
    const listed = await before.conversations()
    await before.close()
    const { size } = statSync(first.file)
    writeFileSync(first.file, Buffer.alloc(size, "x"), { flag: "r+" }) // nothing could be read from it now
    touch()
    const after = openIndex(all)
    expect(await after.conversations()).toEqual(listed)
    expect(after.remaining).toBe(0)
    expect(await after.conversations()).toEqual(listed)
    rmSync(second.file)
    expect((await after.conversations()).map(({ id }) => id)).toEqual([first.id])
    await after.close()
  })
})
