import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { sandboxNotice } from "./sandbox-notice.ts"

test("PERM-9 that there is no sandbox is reported once, with the command that installs one", async () => {
  const root = mkdtempSync(join(tmpdir(), "strata-notice-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const missing = async () => ({ state: "missing", why: "To have one: sudo apt-get install bubblewrap" }) as const
  const ready = async () => ({ state: "ready", name: "bubblewrap", hasNamespaces: true, prefix: () => [] }) as const
  expect(await sandboxNotice("off", root, missing)).toEqual([])
  expect(await sandboxNotice("unasked", root, ready)).toEqual([])
  expect(await sandboxNotice("unasked", root, missing)).toEqual([
    "This system has no sandbox, so more commands need your approval. To have one: sudo apt-get install bubblewrap",
  ])
  expect(await sandboxNotice("unasked", root, missing)).toEqual([])
})
