/**
 * Updates the picture of the dashboard in the README: runs the demo, opens its journal in a page and takes a screenshot.
 *
 *     npm run picture
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startPage } from "@strata/page/server"
import { BROWSER, launch } from "../../packages/page/test/browser.ts"

const ROOT = join(import.meta.dirname, "..", "..")
const PICTURES = join(ROOT, "docs", "pictures")
const SIZE = { width: 1_280, height: 720 }

if (BROWSER === undefined) process.exit(1)
const place = mkdtempSync(join(tmpdir(), "strata-picture-"))
try {
  const demo = ["packages/cli/src/main.ts", "demo", "--fast", "--keep", "--turns", "80"]
  const { stdout, status } = spawnSync(process.execPath, demo, {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: place, NO_COLOR: "1" },
  })
  if (status !== 0) throw new Error(`The demo failed: ${stdout}`)
  const file = longest(place)
  const page = await startPage({
    source: {
      name: "The demo",
      conversations: async () => [],
      find: async (id) => (id === "demo" ? { id, title: "strata demo", location: { file } } : undefined),
    },
  })
  const browser = await launch()
  mkdirSync(PICTURES, { recursive: true })
  for (const colorScheme of ["light", "dark"] as const) {
    const tab = await browser.newPage({ viewport: SIZE, colorScheme })
    await tab.goto(page.addressOf("demo"))
    await tab.waitForSelector(".live.on")
    await tab.locator("rect.slice").nth(45).hover()
    await tab.screenshot({ path: join(PICTURES, `dashboard-${colorScheme}.png`) })
  }
  await browser.close()
  await page.close()
} finally {
  rmSync(place, { recursive: true, force: true })
}

/** The largest journal, which is that of the first conversation. */
function longest(directory: string): string {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl") && !entry.parentPath.includes("subagents"))
    .map((entry) => join(entry.parentPath, entry.name))
  return files.toSorted((a, b) => statSync(b).size - statSync(a).size)[0]!
}
