/**
 * Measures how well the audit of summaries works: the share of planted false claims and omissions that it finds, and its false alarms on
 * truthful summaries and on recorded ones. Invented facts are planted where a part of the conversation cannot be read: an image, a PDF,
 * hidden thinking. A flagged claim of a recorded summary is printed, so that a reader can judge it.
 *
 *     npm run score:audit [-- --summaries 10000] [-- --inventions 200] [-- folder with recordings]
 */
import { existsSync } from "node:fs"
import { parseArgs } from "node:util"
import type { Message } from "@strata/core"
import { summarize } from "../../packages/core/src/model/offline/summary.ts"
import { usageTotal } from "../../packages/core/src/tokens/context-size.ts"
import { recordedConversations, TUNING_RECORDINGS } from "./recordings.ts"
import { sample } from "./score-audit/conversations.ts"
import { INVENTION_KINDS } from "./score-audit/inventions.ts"
import {
  type AuditTally,
  distortAll,
  emptyTally,
  inventAll,
  plantAll,
  readable,
  SeedRange,
} from "./score-audit/measure.ts"
import { UNREADABLE_KINDS, withUnreadable } from "./score-audit/unreadable.ts"
import { recordedCompactions } from "./score-compaction/recorded-compactions.ts"
import { isSummary, textSent } from "./score-compaction/statements.ts"

const SEEDS_PER_RECORDING = 3
const SHORTEST_SUMMARY = 500 // characters: a model does not write shorter ones
const MAX_AT_START = 0.5 // share of the tokens at the boundary; in complete recordings the first request has at most a third
const TRANSCRIPT_NOTE = /\nIf you need specific details from before[\s\S]*$/ // added by the program, not by the model

const { values, positionals } = parseArgs({
  options: { summaries: { type: "string", default: "10000" }, inventions: { type: "string", default: "200" } },
  allowPositionals: true,
})
const wanted = Number(values.summaries)
const folder = positionals[0] ?? TUNING_RECORDINGS

interface Alarms {
  claims: number
  flagged: number
  unchecked: number
}

const noAlarms = (): Alarms => ({ claims: 0, flagged: 0, unchecked: 0 })

const generated = { tally: emptyTally(), alarms: noAlarms() }
let planted = 0
for (let seed = 1; planted < wanted; seed++) {
  const { messages, summary } = sample(seed)
  const range = new SeedRange(messages)
  count(range, summary, generated.alarms)
  planted += plantAll(range, { summary, seed, tally: generated.tally })
}
print(`Generated conversations: ${planted} summaries with a planted claim or omission`, generated.tally)
printAlarms("truthful summaries of them", generated.alarms)

if (!existsSync(folder))
  console.log(`\nThere are no recordings in ${folder}, so only generated conversations were measured.`)
else {
  const extractive = { tally: emptyTally(), alarms: noAlarms() }
  const recorded = noAlarms()
  const written: RecordedSummary[] = []
  const distorted = emptyTally()
  const flagged: string[] = []
  let [ranges, partial] = [0, 0]
  for (const recording of recordedConversations(folder)) {
    for (const { before, older, after, tokensBefore } of recordedCompactions(recording)) {
      const messages = before.slice(older)
      if (startsInside(messages, tokensBefore)) {
        partial++
        continue
      }
      const range = new SeedRange(messages, [recording.cwd ?? ""])
      const summary = summarize(readable(messages))
      ranges++
      count(range, summary, extractive.alarms)
      for (let seed = 1; seed <= SEEDS_PER_RECORDING; seed++)
        plantAll(range, { summary, seed, tally: extractive.tally })
      const found = after.find(isSummary)
      const text = found ? textSent(found).replace(TRANSCRIPT_NOTE, "") : ""
      if (recording.format === "codex" || text.length < SHORTEST_SUMMARY) continue // codex preserves messages and has no summary
      flagged.push(...count(range, text, recorded))
      distortAll(range, text, distorted)
      written.push({ messages, text, extraTexts: [recording.cwd ?? ""] })
    }
  }
  print(`\nRecorded conversations: ${ranges} ranges, extractive summaries`, extractive.tally)
  if (partial > 0) console.log(`  left out, because the recording lacks most of the range: ${partial}`)
  printAlarms("truthful extractive summaries of them", extractive.alarms)
  printAlarms("recorded summaries", recorded)
  print("\nRecorded summaries with one distorted sentence", distorted)
  console.log("\nFlagged in recorded summaries as they are:")
  for (const each of flagged) console.log(`    ${each}`)
  if (written.length > 0) measureUnreadable(written)
}

interface RecordedSummary {
  readonly messages: readonly Message[]
  readonly text: string
  readonly extraTexts: readonly string[]
}

/** Measures invented facts, and false alarms without any, over the same ranges with unreadable content. */
function measureUnreadable(summaries: readonly RecordedSummary[]): void {
  const each = Math.ceil(Number(values.inventions) / (summaries.length * UNREADABLE_KINDS.length))
  const all = emptyTally()
  let from = 0
  console.log(
    `\nOne invented fact in a recorded summary, over ${summaries.length} ranges of which a part cannot be read`,
  )
  for (const kind of UNREADABLE_KINDS) {
    const [tally, alarms] = [emptyTally(), noAlarms()]
    for (const { messages, text, extraTexts } of summaries) {
      const range = new SeedRange(withUnreadable(messages, kind), extraTexts)
      count(range, text, alarms)
      inventAll(range, { summary: text, from, count: each, tally })
      from += each
    }
    const rows = [...tally.planted.values()]
    printRow(kind, sumOf(rows))
    printAlarms(`${kind}: recorded summaries`, alarms)
    for (const [name, { planted: more, caught }] of tally.planted) {
      const row = all.planted.get(name) ?? { planted: 0, caught: 0 }
      all.planted.set(name, { planted: row.planted + more, caught: row.caught + caught })
    }
    all.missed.push(...tally.missed.map((missed) => `${kind}, ${missed}`))
  }
  print(`of ${INVENTION_KINDS.length} kinds`, all)
  printRow("together", sumOf([...all.planted.values()]))
}

interface Row {
  readonly planted: number
  readonly caught: number
}

function sumOf(rows: readonly Row[]): Row {
  const add = (name: keyof Row) => rows.reduce((sum, row) => sum + row[name], 0)
  return { planted: add("planted"), caught: add("caught") }
}

/**
 * Whether the recording begins inside the range, so that its first request has most of the tokens that the boundary replaces. Claims of the
 * summary about earlier messages cannot be checked then.
 */
function startsInside(messages: readonly Message[], tokensBefore: number): boolean {
  const first = messages.find((message) => message.type === "assistant")
  const usage = first?.type === "assistant" ? first.message.usage : undefined
  return usage !== undefined && tokensBefore > 0 && usageTotal(usage) > tokensBefore * MAX_AT_START
}

function count(range: SeedRange, summary: string, alarms: Alarms): readonly string[] {
  const { claims, unchecked } = range.audit(summary)
  const wrong = claims.filter(({ isSupported }) => !isSupported)
  alarms.claims += claims.length
  alarms.unchecked += unchecked.length
  alarms.flagged += wrong.length
  return wrong.map((claim) => `${claim.class}: ${claim.text.slice(0, 120)}`)
}

function print(title: string, { planted: rows, missed }: AuditTally): void {
  console.log(title)
  for (const [name, row] of rows) printRow(name, row)
  for (const each of missed) console.log(`    missed: ${each.slice(0, 160)}`)
}

function printRow(name: string, { planted: all, caught }: Row): void {
  console.log(`  ${name.padEnd(34)} ${`${caught} of ${all}`.padStart(14)}  ${((100 * caught) / all).toFixed(1)}%`)
}

function printAlarms(what: string, { claims, flagged, unchecked }: Alarms): void {
  const share = claims === 0 ? 0 : (100 * flagged) / claims
  const marked = unchecked === 0 ? "" : `, ${unchecked} marked as unchecked`
  console.log(`  false alarms on ${what}: ${flagged} of ${claims} claims (${share.toFixed(2)}%)${marked}`)
}
