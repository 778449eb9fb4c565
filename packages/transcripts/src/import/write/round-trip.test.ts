import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { isMessage } from "../../../../core/src/journal/entries.ts"
import { resultBlocks } from "../../../../core/src/messages/blocks.ts"
import { has, needs } from "../../../../core/test/needs.ts"
import {
  CLAUDE_CODE_FILES,
  CODEX_FILES,
  OPENHANDS_FILES,
  PI_FILES,
  realTranscript,
  SWE_AGENT_FILES,
  WHERE_THEY_ARE,
} from "../../../../core/test/real-transcripts.ts"
import { everyNth } from "../../../../core/test/size.ts"
import { importTranscript } from "../import-file.ts"
import { placedEntries } from "../imported-entries.ts"
import type { ExternalFile, ImportedConversation } from "../importer.ts"
import { exportTranscript } from "./export.ts"
import { OmittedContent } from "./omitted.ts"
import { type ExportStep, listSteps } from "./steps.ts"

const stepsIn = (imported: ImportedConversation) =>
  listSteps(placedEntries(imported).entries.filter(isMessage), new OmittedContent())

/** The content that must be the same: the messages of each speaker, the tool calls with inputs and results, and the compactions. */
function textsIn(steps: readonly ExportStep[]): readonly string[] {
  return steps.flatMap((step): readonly string[] => {
    switch (step.kind) {
      case "results":
        return step.results.map((result) => {
          const texts = resultBlocks(result).flatMap((block) => (block.type === "text" ? block.text : []))
          return `result ${result.tool_use_id}: ${texts.join("\n")}`
        })
      case "compaction":
        return [`compaction: ${textsOf(step.summary)}`]
      case "failure":
        return [`failure: ${step.text}`]
      case "answer":
        return step.blocks.flatMap((block) => {
          if (block.type === "text") return block.text === "" ? [] : `answer: ${block.text}`
          return block.type === "tool_use" ? `call ${block.id} ${block.name} ${JSON.stringify(block.input)}` : []
        })
      default: {
        const text = textsOf(step.blocks)
        return text === "" ? [] : [`${step.kind}: ${text}`]
      }
    }
  })
}

const textsOf = (blocks: readonly { readonly type: string; readonly text?: string }[]) =>
  blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")

function expectRoundTrip(file: ExternalFile): void {
  const imported = importTranscript(file)[0]!
  const about = { ...imported, ...placedEntries(imported) }
  const exported = exportTranscript(about, { to: "claude-code", maskSecrets: false })
  const again = importTranscript({ name: exported.name, text: exported.text })[0]!
  expect(again.format).toBe("claude-code")
  expect(again.report.notUnderstood).toEqual({})
  const [before, after] = [imported, again].map((one) => textsIn(stepsIn(one)))
  expect(before!.length).toBeGreaterThan(0)
  for (const [at, line] of before!.entries())
    if (after![at] !== line) expect(after!.slice(at, at + 3)).toEqual(before!.slice(at, at + 3))
  expect(after).toHaveLength(before!.length)
  expect(again.cwd).toBe(imported.cwd ?? "")
}

const CASES = new URL("../../../../../../shared/data/import-cases/", import.meta.url)

describe("BEY-17: an export is read again with the same messages: import cases", needs("import cases"), () => {
  test.each(has("import cases") ? readdirSync(CASES) : ["a case"])("%s", (name) => {
    expectRoundTrip({ name, text: readFileSync(new URL(name, CASES), "utf8") })
  })
})

describe(`BEY-17: an export is read again with the same messages: ${WHERE_THEY_ARE}`, needs("transcripts"), () => {
  const files = [...CLAUDE_CODE_FILES, ...CODEX_FILES, ...PI_FILES, ...SWE_AGENT_FILES, ...OPENHANDS_FILES]
  test.each(everyNth(files, 5))("%s", (name) => expectRoundTrip(realTranscript(name)))
})
