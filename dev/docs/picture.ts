/**
 * Makes the pictures of the README and the documentation from real runs: the demo in a terminal, its journal in the dashboard, and the
 * usage of recorded conversations. It takes about five minutes.
 *
 *     npm run picture
 *     npm run picture -- demo
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { openUsage } from "@strata/page"
import { startPage } from "@strata/page/server"
import type { Page } from "playwright-core"
import { startWorker } from "../../packages/cli/src/usage/workers.ts"
import { BROWSER, launch } from "../../packages/page/test/browser.ts"
import { startUsageTrial } from "../../packages/page/test/usage-trial.ts"
import { drawDemo } from "./demo-film.ts"
import { PICTURE_NAMES, PICTURES, type PictureName, ROOT, recordHash } from "./made-from.ts"

const DASHBOARD_SIZE = { width: 1_280, height: 745 }
const USAGE_SIZE = { width: 1_280, height: 680 } // ends before the footnotes
const HOVERED_TURN = 45
const RECORDINGS = join(ROOT, "..", "shared", "data", "transcripts") // as the tests expect them

/** Each makes a picture with a directory for its temporary files, or returns why it cannot. */
const MAKERS: Readonly<Record<PictureName, (place: string) => Promise<string | undefined>>> = {
  demo: makeDemo,
  dashboard: makeDashboard,
  usage: makeUsage,
}

const { positionals } = parseArgs({ allowPositionals: true })
const unknown = positionals.find((name) => !Object.hasOwn(MAKERS, name))
if (unknown !== undefined) throw new Error(`There is no picture "${unknown}". Choose from ${PICTURE_NAMES.join(", ")}.`)
const temporary = mkdtempSync(join(tmpdir(), "strata-picture-"))
process.once("exit", () => rmSync(temporary, { recursive: true, force: true, maxRetries: 3 }))
process.once("SIGINT", () => process.exit(130)) // so that the exit handlers run
for (const name of PICTURE_NAMES.filter((name) => positionals.length === 0 || positionals.includes(name))) {
  const problem = await MAKERS[name](mkdtempSync(join(temporary, `${name}-`)))
  if (problem === undefined) recordHash(name)
  console.log(problem === undefined ? `${name}: made` : `${name}: not made, the old picture stays. ${problem}`)
}

async function makeDemo(place: string): Promise<undefined> {
  writeFileSync(join(PICTURES, "demo.svg"), drawDemo(place))
}

async function makeDashboard(place: string): Promise<string | undefined> {
  const demo = ["packages/cli/src/main.ts", "demo", "--fast", "--keep", "--turns", "80"]
  const { stdout, status } = spawnSync(process.execPath, demo, {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: place, NO_COLOR: "1" },
  })
  if (status !== 0) throw new Error(`The demo failed: ${stdout}`)
  const file = findLargestJournal(place)
  const page = await startPage({
    source: {
      name: "The demo",
      conversations: async () => [],
      find: async (id) => (id === "demo" ? { id, title: "strata demo", location: { file } } : undefined),
    },
  })
  try {
    return await takeScreenshots("dashboard", {
      ...{ address: page.addressOf("demo"), size: DASHBOARD_SIZE },
      prepare: (tab) => tab.locator("rect.slice").nth(HOVERED_TURN).hover(),
    })
  } finally {
    await page.close()
  }
}

/** The largest journal is that of the first conversation. */
function findLargestJournal(directory: string): string {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl") && !entry.parentPath.includes("subagents"))
    .map((entry) => join(entry.parentPath, entry.name))
  return files.toSorted((a, b) => statSync(b).size - statSync(a).size)[0]!
}

/** Uses public conversations, because made-up ones would have made-up savings. */
async function makeUsage(place: string): Promise<string | undefined> {
  if (!existsSync(RECORDINGS)) return "It shows the recorded conversations in ../shared/data/transcripts."
  const usage = openUsage({ env: {}, home: place, dirs: [RECORDINGS], onlyDirs: true, startWorker })
  try {
    await usage.update()
    await usage.replay({ signal: new AbortController().signal, isInBackground: false })
    const { page } = await startUsageTrial(usage)
    try {
      return await takeScreenshots("usage", { address: page.address, size: USAGE_SIZE })
    } finally {
      await page.close()
    }
  } finally {
    await usage.close()
  }
}

interface Screenshots {
  readonly address: string
  readonly size: { readonly width: number; readonly height: number }
  readonly prepare?: (tab: Page) => Promise<void>
}

/** Writes a light and a dark picture. */
async function takeScreenshots(name: string, { address, size, prepare }: Screenshots): Promise<string | undefined> {
  if (BROWSER === undefined) return "It needs Chromium."
  const browser = await launch()
  try {
    for (const colorScheme of ["light", "dark"] as const) {
      const tab = await browser.newPage({ viewport: size, colorScheme })
      await tab.goto(address)
      await tab.waitForSelector(".live.on")
      await prepare?.(tab)
      await tab.screenshot({ path: join(PICTURES, `${name}-${colorScheme}.png`) })
    }
  } finally {
    await browser.close()
  }
  return undefined
}
