import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { companionFiles } from "./companion-files.ts"

const place = mkdtempSync(join(tmpdir(), "strata-companions-"))
afterAll(() => rmSync(place, { recursive: true }))

test.each(["text", "lines"] as const)(
  "JRN-6 finds the agents that a transcript names next to it, from its %s",
  async (from) => {
    const text = `{"uuid":"1","toolUseResult":{"agentId":"a1b2"}}\n{"uuid":"2"}\n`
    const file = join(place, "session.jsonl")
    writeFileSync(file, text)
    writeFileSync(join(place, "agent-a1b2.jsonl"), "{}\n")
    const found = await companionFiles(file, from === "text" ? text : text.split("\n"))
    expect(found.map(({ name }) => name)).toEqual(["agent-a1b2.jsonl"])
  },
)
