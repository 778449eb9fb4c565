/**
 * Measures the journal: entries appended per second in each flush mode, and the time to open a long journal. Resuming reads from the last
 * boundary, so a journal ten times as long must open about as fast. Opening is measured in a new process, with its peak memory.
 *
 *     npm run bench -- journal
 */
import { execFileSync } from "node:child_process"
import { stat } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import type { EntryDraft as Draft } from "@strata/core/store"
import { projectName, seededIds } from "../../../packages/core/src/base/clock.ts"
import { namespaceFor } from "../../../packages/core/src/base/owner.ts"
import { openConversation } from "../../../packages/core/src/conversation/open.ts"
import { fileStore } from "../../../packages/core/src/journal/file/file-store.ts"
import type { FlushMode } from "../../../packages/core/src/journal/store.ts"
import { inTemporaryDirectory, isShort, milliseconds, timed } from "../measure.ts"

const MEGABYTE = 1_000_000
const LENGTHS = isShort ? [10 * MEGABYTE, 100 * MEGABYTE] : [100 * MEGABYTE, 1_000 * MEGABYTE]
const RESULT = "The quick brown fox jumps over the lazy dog, and says so in a log line.\n".repeat(80) // 6 KB, a typical tool result

async function appendsPerSecond(root: string, flush: FlushMode, count: number): Promise<number> {
  const journal = await fileStore({ root, flush }).open(
    { project: "bench", id: flush },
    { access: "write", create: true },
  )
  const ids = seededIds(flush)
  const { ms } = await timed(async () => {
    for (let number = 0; number < count; number++) {
      const message = { role: "user" as const, content: `message ${number} ${"x".repeat(500)}` }
      await journal.append([
        { type: "user", uuid: ids.uuid(), parentUuid: null, timestamp: "2026-01-01T00:00:00.000Z", message },
      ])
      if (flush === "turn" && number % 10 === 9) await journal.sync()
    }
  })
  await journal.close()
  return (1000 * count) / ms
}

const open = (directory: string, id: string, compactBefore: () => boolean) =>
  openConversation({
    dir: directory,
    cwd: directory,
    id,
    model: "claude-opus-4-6",
    env: {},
    settings: { flush: "never", models: { "claude-opus-4-6": { window: 2 ** 40 } } },
    layers: [{ name: "compacting", beforeRequest: async () => (compactBefore() ? { drafts: compaction } : undefined) }],
  })

const compaction: readonly Draft[] = [
  { type: "system", subtype: "compact_boundary", compactMetadata: { trigger: "auto", preTokens: 1 } },
  {
    type: "user",
    isCompactSummary: true,
    isMeta: true,
    message: { role: "user", content: "Summary: everything so far." },
  },
]

/** Writes a conversation with a boundary every 5 MB, as with a window of 1M tokens, and 2.5 MB after the last boundary. */
async function writeLong(directory: string, bytes: number): Promise<string> {
  const id = `long-${bytes}`
  let compact = false
  const chat = await open(directory, id, () => compact)
  let written = 0
  let sinceBoundary = 0
  for (let number = 0; written < bytes; number++) {
    const call = `toolu_${number}`
    const content = [{ type: "tool_use", id: call, name: "Read", input: { file_path: `/src/file-${number % 500}.ts` } }]
    const usage = { input_tokens: 10, output_tokens: 50 }
    await chat.record({ id: `msg_${number}`, model: "claude-opus-4-6", content, stop_reason: "tool_use", usage })
    await chat.add({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: call, content: `${number} ${RESULT}` }],
    })
    if (number % 20 === 0)
      await chat.add({ role: "user", content: `Now look at part ${number}. Never touch the tests.` })
    written += RESULT.length
    sinceBoundary += RESULT.length
    if (sinceBoundary < 5 * MEGABYTE || written > bytes - 2.5 * MEGABYTE) continue
    compact = true
    await chat.prepare()
    compact = false
    sinceBoundary = 0
  }
  await chat.close()
  return id
}

/** Runs in a new process: opens the journal, prepares the next request, and prints the time and memory it took. */
async function openAndReport(directory: string, id: string): Promise<void> {
  const { result: chat, ms } = await timed(() => open(directory, id, () => false))
  const { ms: prepareMs } = await timed(() => chat.prepare())
  const peakMegabytes = process.resourceUsage().maxRSS / 1000
  console.log(
    JSON.stringify({ ms, prepareMs, peakMegabytes, read: chat.openResult.read, index: chat.openResult.index }),
  )
  await chat.close()
}

interface Opening {
  readonly ms: number
  readonly prepareMs: number
  readonly peakMegabytes: number
  readonly read: string
}

if (process.argv[2] === "open") await openAndReport(process.argv[3]!, process.argv[4]!)
else {
  await inTemporaryDirectory(async (directory) => {
    console.log("entries of 0.7 KB, appended one at a time, each acknowledged before the next")
    for (const flush of ["never", "turn", "always"] as const) {
      const rate = await appendsPerSecond(directory, flush, flush === "always" ? 500 : 10_000)
      console.log(`  flush ${flush.padEnd(8)}${Math.round(rate).toLocaleString("en-US").padStart(8)} per second`)
    }

    console.log("opening a journal and preparing the next request, in a new process")
    const openings: Opening[] = []
    for (const bytes of LENGTHS) {
      const id = await writeLong(directory, bytes)
      const place = namespaceFor(projectName(directory), undefined)
      const size = await stat(`${directory}/projects/${place}/${id}.jsonl`)
      const output = execFileSync(process.execPath, [fileURLToPath(import.meta.url), "open", directory, id], {
        encoding: "utf8",
      })
      const opening = JSON.parse(output) as Opening
      openings.push(opening)
      console.log(
        `  ${Math.round(size.size / MEGABYTE)
          .toString()
          .padStart(
            5,
          )} MB  open ${milliseconds(opening.ms).padStart(8)}  prepare ${milliseconds(opening.prepareMs).padStart(8)}  peak memory ${Math.round(opening.peakMegabytes)} MB  read: ${opening.read}`,
      )
    }
    console.log(
      `  a journal ten times as long takes ${(openings[1]!.ms / openings[0]!.ms).toFixed(2)} times as long to open`,
    )
  })
}
