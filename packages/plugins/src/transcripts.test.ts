import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { transcriptOf } from "./transcripts.ts"

const root = mkdtempSync(join(tmpdir(), "strata-transcripts-"))
afterAll(() => rmSync(root, { recursive: true }))

describe("transcriptOf", () => {
  it.each([
    ["claude-code", ".claude/projects/-project", "0-1.jsonl", {}],
    ["pi", ".pi/agent/sessions/--project--", "2026-11-17T02-15-31-368Z_0-1.jsonl", {}],
    ["pi", "own/sessions/--project--", "2026-11-17T02-15-31-368Z_0-1.jsonl", { PI_CODING_AGENT_DIR: "own" }],
    ["pi", "flat", "2026-11-17T02-15-31-368Z_0-1.jsonl", { PI_CODING_AGENT_SESSION_DIR: "flat" }],
  ] as const)("finds a session of %s in %s (BEY-16)", async (client, directory, name, set) => {
    const home = mkdtempSync(join(root, "home-"))
    mkdirSync(join(home, directory), { recursive: true })
    writeFileSync(join(home, directory, name), "")
    const env = Object.fromEntries(Object.entries(set).map(([key, value]) => [key, join(home, value)]))
    expect(await transcriptOf(client, "0-1", { HOME: home, ...env })).toBe(join(home, directory, name))
    expect(await transcriptOf(client, "0-2", { HOME: home, ...env })).toBeUndefined()
    expect(await transcriptOf(client, "../0-1", { HOME: home, ...env })).toBeUndefined()
  })
})
