/** A real browser for tests, as installed on the system. Screenshots are stored as artefacts of `npm run test:all`. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { type Browser, chromium, type Page } from "playwright-core"
import { findChromium } from "../../core/test/needs.ts"
import { isWhole } from "../../core/test/size.ts"

export const BROWSER = findChromium()

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: BROWSER!,
    args: [
      ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ],
  })

const PICTURES = join(import.meta.dirname, "..", "..", "..", "build", "screenshots")

export async function picture(page: Page, name: string): Promise<void> {
  if (!isWhole) return
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: join(PICTURES, `${name}.png`) })
}
