/** Every line of every real recording is accounted for, and the result is a conversation that can be continued. */
import { describe, expect, test } from "vitest"
import { flatten } from "../../../core/src/messages/flatten.ts"
import { type RepairRule, sinceLastBoundary } from "../../../core/src/messages/messages.ts"
import { needs } from "../../../core/test/needs.ts"
import {
  CLAUDE_CODE_FILES,
  CODEX_FILES,
  importReal,
  OPENHANDS_FILES,
  PI_FILES,
  realTranscript,
  SWE_AGENT_FILES,
  WHERE_THEY_ARE,
} from "../../../core/test/real-transcripts.ts"
import { isWhole } from "../../../core/test/size.ts"
import { listActiveBranch } from "./active-branch.ts"
import { importTranscript } from "./import-file.ts"
import type { ImportReport } from "./importer.ts"

const FORMATS = [
  { format: "claude-code", files: CLAUDE_CODE_FILES, records: countLines },
  { format: "codex", files: CODEX_FILES, records: countLines },
  { format: "pi", files: PI_FILES, records: countLines },
  { format: "swe-agent", files: SWE_AGENT_FILES, records: countOfTrajectory },
  { format: "openhands", files: OPENHANDS_FILES, records: countOfOutput },
]

/** Maximum number of repairs since the last boundary, with the reason. Files that are not listed need no repairs. */
const EXPECTED_REPAIRS: Readonly<Record<string, Partial<Record<RepairRule, number>>>> = {
  // the model began responses with empty lines
  "entireio-cli/43-2b48f6b6e6-0.jsonl": { "empty-text": 4 },
  // the file begins in the middle; one call was answered only after the next response had begun
  "episodic-memory/large-conversation.jsonl": {
    "starts-with-assistant": 1,
    "unanswered-tool-use": 1,
    "orphan-tool-result": 1,
  },
  // `finish` ends a run and is never answered: twice, the third run was truncated
  "openhands/multi_swe_bench_example_output.jsonl": { "unanswered-tool-use": 2 },
  // the user interrupted
  "pi-mono/before-compaction.jsonl": { "unanswered-tool-use": 1, "unsigned-thinking": 1 },
  // sixteen parallel calls in a response that failed, two in interrupted ones
  "pi-mono/large-session.jsonl": { "unanswered-tool-use": 18 },
}

describe(`JRN-6: ${WHERE_THEY_ARE}`, needs("transcripts"), () => {
  for (const { format, files, records } of FORMATS) {
    describe.each(files)("%s", (name) => {
      test(`is recognised as ${format} and has messages`, () => {
        for (const conversation of importReal(name)) {
          expect(conversation.format).toBe(format)
          expect(conversation.messages.length).toBeGreaterThan(20)
        }
      })

      test("counts every line once and understands all of them", () => {
        const reports = importReal(name).map(({ report }) => report)
        expect(sum(reports.map(({ lines }) => lines))).toBe(records(realTranscript(name).text))
        for (const report of reports) {
          expect(countedLines(report)).toBe(report.lines)
          expect(report.notUnderstood).toEqual({})
        }
      })

      test.runIf(isWhole)("gives the same every time, with unique uuids and parents that stand before", () => {
        expect(importTranscript(realTranscript(name))).toEqual(importReal(name))
        for (const { messages } of importReal(name)) {
          const seen = new Set<string>()
          for (const { uuid, parentUuid } of messages) {
            expect(seen.has(uuid)).toBe(false)
            expect(parentUuid === null || seen.has(parentUuid)).toBe(true)
            seen.add(uuid)
          }
        }
      })

      test("MSG-2: flattens into a request with no more repairs than are explained", () => {
        const repairs: Partial<Record<RepairRule, number>> = {}
        for (const { messages } of importReal(name)) {
          const flat = flatten(sinceLastBoundary(listActiveBranch(messages)))
          expect(flat.messages[0]?.role).toBe("user")
          expect(flat.messages.length).toBeGreaterThan(10)
          for (const { rule } of flat.repairs) repairs[rule] = (repairs[rule] ?? 0) + 1
        }
        const expected = EXPECTED_REPAIRS[name] ?? {}
        for (const [rule, count] of Object.entries(repairs)) {
          expect(count, rule).toBeLessThanOrEqual(expected[rule as RepairRule] ?? 0)
        }
      })
    })
  }
})

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

const countedLines = ({ understood, notUnderstood }: ImportReport) =>
  sum([...Object.values(understood), ...Object.values(notUnderstood)])

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line.trim() !== "")
}

function countLines(text: string): number {
  return linesOf(text).length
}

function countOfTrajectory(text: string): number {
  const document = JSON.parse(text) as { history: unknown[]; trajectory: unknown[] }
  return document.history.length + document.trajectory.length + Object.keys(document).length - 2
}

function countOfOutput(text: string): number {
  return sum(linesOf(text).map((line) => 1 + (JSON.parse(line) as { history: unknown[] }).history.length))
}
