/**
 * L4-29 on recorded work. After one and after two compactions, the request lists which files were created, changed and deleted and which
 * commands failed last. An independent analysis of the recorded tool calls must give the same. Effects of shell commands on files are not
 * computed twice: the test only checks that a command names each path it may have written.
 */
import { resolve } from "node:path"
import { describe, expect, test } from "vitest"
import { listActiveBranch } from "../../../../transcripts/src/import/active-branch.ts"
import { writeImported } from "../../../../transcripts/src/import/into-journal.ts"
import { manualClock, projectName } from "../../../src/base/clock.ts"
import type { Conversation } from "../../../src/conversation/conversation.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import { textOf, toBlocks } from "../../../src/messages/blocks.ts"
import { openCompacting } from "../../compacting.ts"
import { needs } from "../../needs.ts"
import {
  CLAUDE_CODE_FILES,
  CODEX_FILES,
  importReal,
  OPENHANDS_FILES,
  PI_FILES,
  WHERE_THEY_ARE,
} from "../../real-transcripts.ts"
import {
  callsIn,
  fatesFrom,
  lastFailed,
  mayBeWrittenByShell,
  prefixOf,
  READ_ONLY,
  unquoted,
} from "../../recorded-calls.ts"
import { size } from "../../size.ts"
import { SUMMARISER, summariser } from "../../summariser.ts"

const WINDOW = 20_000_000 // larger than any recording: they are compacted manually
const CWD = "/nowhere"
const RECORD = 100_000 // tokens: all files and commands fit; omissions of a small record are counted (facts-properties.test.ts)

describe(`L4-29 ${WHERE_THEY_ARE}, compacted twice`, needs("transcripts"), () => {
  test.each([...size([], [...CLAUDE_CODE_FILES, ...CODEX_FILES, ...PI_FILES]), ...OPENHANDS_FILES])(
    "%s: the files",
    async (name) => {
      for (const [at, { messages, cwd = "/" }] of importReal(name).entries()) {
        const calls = callsIn(listActiveBranch(messages))
        const isShells = mayBeWrittenByShell(calls)
        const byTools = (fates: ReadonlyMap<string, string>) =>
          [...fates].filter(([path, fate]) => fate !== READ_ONLY && !isShells(path)).toSorted()
        const fates = [...fatesFrom(calls)].map(([path, fate]) => [resolved(path, cwd), fate] as const)
        const expected = byTools(new Map(fates))
        for (const facts of await factsOf(name, at)) {
          const shown = filesIn(facts)
          expect(byTools(shown)).toEqual(expected)
          for (const [path, fate] of shown) if (fate === "Deleted:") expect(isShells(path), path).toBe(true)
        }
      }
    },
  )

  test.each(CLAUDE_CODE_FILES)("%s: the commands whose last run failed", async (name) => {
    const failed = lastFailed(callsIn(listActiveBranch(importReal(name)[0]!.messages)))
    for (const facts of await factsOf(name, 0)) {
      const { shown, leftOut } = failuresIn(facts)
      expect(shown.filter((command) => !failed.includes(command))).toEqual([])
      // a long list omits and counts the oldest; for test runs, successful ones are included
      if (leftOut === 0) expect(shown.toSorted()).toEqual(failed.toSorted())
      else expect(shown.length + leftOut).toBeGreaterThanOrEqual(failed.length)
    }
  })
})

/** Recordings of Windows have paths that begin with a drive. */
const resolved = (path: string, cwd: string) => (/^[A-Za-z]:/.test(path) ? path : resolve(cwd, path))

const known = new Map<string, Promise<readonly string[]>>()

/** The facts in the request after the first or the second compaction. Each conversation is compacted once for all tests. */
function factsOf(name: string, at: number): Promise<readonly string[]> {
  const key = `${name} ${at}`
  const facts = known.get(key) ?? compactTwice(name, at)
  known.set(key, facts)
  return facts
}

async function compactTwice(name: string, at: number): Promise<readonly string[]> {
  const store = memoryStore()
  const id = `recording-${at}`
  await writeImported(importReal(name)[at]!, {
    store,
    project: projectName(CWD),
    clock: manualClock(),
    source: name,
    id,
  })
  const chat = await openCompacting({
    ...{ store, id, cwd: CWD, window: WINDOW, summariser: summariser({ window: WINDOW }) },
    settings: {
      models: { [SUMMARISER]: { window: WINDOW } },
      switches: { "compact-audit": false }, // audits the summary, not these facts
      figures: { "record-limit": RECORD },
    },
  })
  await chat.compact()
  const first = await carriedFacts(chat)
  const usage = { input_tokens: 200_000, output_tokens: 5 }
  await chat.add({ role: "user", content: "Go on." })
  const content = [{ type: "text", text: "Done." }]
  await chat.record({ id: "msg_then", model: SUMMARISER, content, stop_reason: "end_turn", usage })
  await chat.compact()
  const second = await carriedFacts(chat)
  await chat.close()
  return [first, second]
}

async function carriedFacts(chat: Conversation): Promise<string> {
  const { messages } = await chat.prepare()
  const texts = messages.flatMap(({ content }) => toBlocks(content)).map((block) => textOf([block]))
  return texts.find((text) => text.includes("## What the user said")) ?? ""
}

/** Excludes files that were only read, because the oldest of them may be omitted. */
function filesIn(facts: string): ReadonlyMap<string, string> {
  const fates = new Map<string, string>()
  let heading = ""
  for (const line of sectionOf(facts, "Files")) {
    if (!line.startsWith("- ")) heading = line
    else if (/^(?:Created|Changed|Deleted):$/.test(heading)) fates.set(unquoted(line.slice(2)), heading)
  }
  return fates
}

function failuresIn(facts: string): { readonly shown: readonly string[]; readonly leftOut: number } {
  const lines = [
    ...sectionOf(facts, "Commands whose last run failed"),
    ...sectionOf(facts, "Tests, as they ended last"),
  ]
  const shown = lines.flatMap((line) => /^- failed.*? \(result in message \S+\): (.*)$/.exec(line)?.[1] ?? [])
  const leftOut = lines
    .map((line) => Number(/^\[(\d+) older/.exec(line)?.[1] ?? 0))
    .reduce((sum, count) => sum + count, 0)
  return { shown: shown.map((command) => prefixOf(unquoted(command))), leftOut }
}

/** Sections of the record begin with a line of their own. Quoted text comes before them, in fences. */
function sectionOf(facts: string, title: string): readonly string[] {
  const lines = facts.split("\n")
  const start = lines.lastIndexOf(`## ${title}`)
  if (start < 0) return []
  const length = lines.slice(start + 1).findIndex((line) => line === "" || line.startsWith("</"))
  return lines.slice(start + 1, length < 0 ? undefined : start + 1 + length)
}
