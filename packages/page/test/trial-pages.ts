/** Pages over files, for tests: a server as the program starts it, and a tab that complains about everything it should not see. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { type PageSource, type RunningPage, startPage } from "../src/server/start.ts"

export interface TrialPages {
  readonly page: RunningPage
  readonly base: string
}

export async function startTrial(source: PageSource): Promise<TrialPages> {
  const page = await startPage({ source, now: () => new Date("2026-11-17T12:00:00Z") })
  const { origin, pathname } = new URL(page.address)
  return { page, base: `${origin}${pathname.replace(/\/$/, "")}` }
}

export const sourceOf = (
  files: Readonly<Record<string, Omit<NonNullable<Awaited<ReturnType<PageSource["find"]>>>, "id">>>,
): PageSource => ({
  name: "Trial",
  conversations: async () =>
    Object.entries(files).map(([id, { title }]) => ({ id, title, touched: "2026-11-17T11:00:00Z" })),
  find: async (id) => (Object.hasOwn(files, id) ? { id, ...files[id]! } : undefined),
})

export interface Tab {
  readonly tab: Page
  /** Errors, and requests to other origins. */
  readonly complaints: string[]
}

export async function openTab(
  browser: Browser,
  { page, base }: TrialPages,
  options: BrowserContextOptions = {},
): Promise<Tab> {
  const context = await browser.newContext(options)
  const tab = await context.newPage()
  const complaints: string[] = []
  tab.on("console", (message) => message.type() === "error" && complaints.push(message.text()))
  tab.on("pageerror", (error) => complaints.push(error.message))
  tab.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  tab.on("request", (request) => request.url().startsWith(base) || complaints.push(request.url()))
  await tab.goto(page.address)
  return { tab, complaints }
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** What axe-core finds wrong. It is put in by the test, past the page's own policy. */
export async function findings(tab: Page): Promise<readonly string[]> {
  const session = await tab.context().newCDPSession(tab)
  await session.send("Runtime.evaluate", { expression: AXE })
  const { result } = await session.send("Runtime.evaluate", {
    expression:
      "axe.run().then(({ violations }) => JSON.stringify(violations.map((one) => one.id + ': ' + one.nodes[0].html.slice(0, 160))))",
    awaitPromise: true,
    returnByValue: true,
  })
  return JSON.parse(String(result.value)) as readonly string[]
}
