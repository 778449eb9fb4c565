/** Writing pages to real files. */

import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { html } from "@strata/page"
import { expect, onTestFinished, test } from "vitest"
import type { Terminal } from "../display/terminal.ts"
import { writePage } from "./file.ts"

test("PERM-1 a page follows no link that someone put in the place of its draft", async () => {
  const folder = mkdtempSync(join(tmpdir(), "strata-page-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const mine = join(folder, "mine.txt")
  writeFileSync(mine, "mine")
  symlinkSync(mine, join(folder, `.page.html.${process.pid}.draft`))
  const terminal = { complain: () => undefined } as unknown as Terminal
  await expect(writePage(join(folder, "page.html"), html`<p>hello</p>`, terminal)).rejects.toThrow("cannot be written")
  expect(readFileSync(mine, "utf8")).toBe("mine")
})
