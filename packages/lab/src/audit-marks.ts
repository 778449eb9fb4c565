/**
 * How well the audit of summaries works: the share of planted false claims and omissions that it finds, and its false alarms on truthful
 * summaries and on recorded ones. A flagged claim of a recorded summary is printed, so that a person can judge it.
 *
 *     npm run audit-marks [-- --summaries 10000] [-- folder with recordings]
 */
import { existsSync } from "node:fs"
import { parseArgs } from "node:util"
import type { Message } from "@strata/core"
import { summarise } from "../../core/src/model/offline/summary.ts"
import { usageTotal } from "../../core/src/tokens/context-size.ts"
import { sample } from "./audit-marks/conversations.ts"
import { distortAll, emptyTally, plantAll, Range, readable, type Tally } from "./audit-marks/measure.ts"
import { recordedCompactions } from "./compaction-marks/recorded-compactions.ts"
import { isSummary, textSent } from "./compaction-marks/said.ts"
import { BESIDE_THE_REPOSITORY, recordedConversations } from "./recordings.ts"

const SEEDS_PER_RECORDING = 3
const SHORTEST_SUMMARY = 500 // characters: shorter ones are not a model's
const MOST_AT_START = 0.5 // of the tokens at the boundary; in whole recordings the first request has at most a third
const TRANSCRIPT_NOTE = /\nIf you need specific details from before[\s\S]*$/ // added by the program, not by the model

const { values, positionals } = parseArgs({ options: { summaries: { type: "string" } }, allowPositionals: true })
const wanted = Number(values.summaries ?? 10_000)
const folder = positionals[0] ?? BESIDE_THE_REPOSITORY

interface Alarms {
  claims: number
  flagged: number
}

const generated = { tally: emptyTally(), alarms: { claims: 0, flagged: 0 } }
let planted = 0
for (let seed = 1; planted < wanted; seed++) {
  const { messages, summary } = sample(seed)
  const range = new Range(messages)
  count(range, summary, generated.alarms)
  planted += plantAll(range, { summary, seed, tally: generated.tally })
}
print(`Generated conversations: ${planted} summaries with a planted claim or omission`, generated.tally)
printAlarms("truthful summaries of them", generated.alarms)

if (!existsSync(folder))
  console.log(`\nThere are no recordings in ${folder}, so only generated conversations were measured.`)
else {
  const extractive = { tally: emptyTally(), alarms: { claims: 0, flagged: 0 } }
  const recorded: Alarms = { claims: 0, flagged: 0 }
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
      const range = new Range(messages, [recording.cwd ?? ""])
      const summary = summarise(readable(messages))
      ranges++
      count(range, summary, extractive.alarms)
      for (let seed = 1; seed <= SEEDS_PER_RECORDING; seed++)
        plantAll(range, { summary, seed, tally: extractive.tally })
      const written = after.find(isSummary)
      const text = written ? textSent(written).replace(TRANSCRIPT_NOTE, "") : ""
      if (recording.format === "codex" || text.length < SHORTEST_SUMMARY) continue // codex keeps messages, not a summary
      flagged.push(...count(range, text, recorded))
      distortAll(range, text, distorted)
    }
  }
  print(`\nRecorded conversations: ${ranges} ranges, extractive summaries`, extractive.tally)
  if (partial > 0) console.log(`  left out, because the recording lacks most of the range: ${partial}`)
  printAlarms("truthful extractive summaries of them", extractive.alarms)
  printAlarms("recorded summaries", recorded)
  print("\nRecorded summaries with one distorted sentence", distorted)
  console.log("\nFlagged in recorded summaries as they are:")
  for (const each of flagged) console.log(`    ${each}`)
}

/**
 * Whether the recording begins inside the range: its first request then has most of the tokens that the boundary replaces. What the
 * summary says about the messages before it cannot be checked.
 */
function startsInside(messages: readonly Message[], tokensBefore: number): boolean {
  const first = messages.find((message) => message.type === "assistant")
  const usage = first?.type === "assistant" ? first.message.usage : undefined
  return usage !== undefined && tokensBefore > 0 && usageTotal(usage) > tokensBefore * MOST_AT_START
}

function count(range: Range, summary: string, alarms: Alarms): readonly string[] {
  const { claims } = range.audit(summary)
  const wrong = claims.filter(({ isSupported }) => !isSupported)
  alarms.claims += claims.length
  alarms.flagged += wrong.length
  return wrong.map((claim) => `${claim.class}: ${claim.text.slice(0, 120)}`)
}

function print(title: string, { planted: rows, missed }: Tally): void {
  console.log(title)
  for (const [name, { planted: all, caught }] of rows)
    console.log(`  ${name.padEnd(34)} ${`${caught} of ${all}`.padStart(14)}  ${((100 * caught) / all).toFixed(1)}%`)
  for (const each of missed) console.log(`    missed: ${each.slice(0, 160)}`)
}

function printAlarms(what: string, { claims, flagged }: Alarms): void {
  const share = claims === 0 ? 0 : (100 * flagged) / claims
  console.log(`  false alarms on ${what}: ${flagged} of ${claims} claims (${share.toFixed(2)}%)`)
}
