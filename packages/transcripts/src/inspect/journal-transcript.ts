/** A journal of ours as a recorded conversation: its path, what left it, and what its agents spent. Computed from bytes alone. */

import { type DecisionEntry, isMessage } from "@strata/core"
import { spendingOf } from "@strata/core/agent"
import type { DecisionOf } from "@strata/core/store"
import { damageSentences, type Entry, isDecision, isJournal, readJournalBytes } from "@strata/core/store"
import { Links } from "@strata/core/views"
import type { Transcript } from "./transcript.ts"

const JOURNAL_FORMAT = "strata"

/** The bytes of a journal, and what its agents' journals say that they spent. Another thread can read them, which has no store. */
export interface JournalCopy {
  readonly bytes: Uint8Array
  readonly spent: readonly AgentSpending[]
}

export interface NamedJournal extends JournalCopy {
  readonly id: string
  /** What people know it by: a path, or its name in a store. */
  readonly file: string
}

/** A response of an agent, as its lead would note it. */
export type AgentSpending = DecisionEntry & DecisionOf<"spent">

export function journalTranscript({ file, id, bytes, spent }: NamedJournal): Transcript {
  const understood: Record<string, number> = {}
  const notUnderstood: Record<string, number> = {}
  const { entries: all, damaged, ...found } = readJournalBytes(asBuffer(bytes))
  for (const entry of all) understood[kindOf(entry)] = (understood[kindOf(entry)] ?? 0) + 1
  for (const { why } of damaged) notUnderstood[why] = (notUnderstood[why] ?? 0) + 1
  const links = new Links()
  for (const entry of all) links.add(entry)
  const places = links.placesOn(links.path())
  const session = all.findLast((entry) => isDecision(entry) && entry.subtype === "session")
  const { title, model, cwd } = (session ?? {}) as { title?: string; model?: string; cwd?: string }
  const entries = all.filter((entry) => places(entry) === "on-path")
  const aside = all.filter((entry) => places(entry) !== "on-path")
  const abandoned = aside.filter((entry) => isMessage(entry) && !entry.isSidechain).length
  const missing = unrecorded(spent, all)
  const hasUndone = entries.some((entry) => isDecision(entry) && entry.subtype === "undone")
  return {
    file,
    format: JOURNAL_FORMAT,
    id,
    ...(title === undefined ? {} : { title }),
    ...(model === undefined ? {} : { model }),
    ...(cwd === undefined ? {} : { cwd }),
    report: {
      lines: sum(understood) + sum(notUnderstood),
      understood,
      notUnderstood,
      notes: [
        ...(abandoned > 0
          ? [`messages on abandoned branches${hasUndone ? " or of undone compactions" : ""}: ${abandoned}`]
          : []),
        ...(missing.length > 0 ? [`responses of sub-agents that only their own journals have: ${missing.length}`] : []),
        ...damageSentences({ damagedLines: damaged, damagedCount: damaged.length, ...found }),
      ],
    },
    entries,
    aside: [...aside, ...missing],
  }
}

const kindOf = (entry: Entry) => (isDecision(entry) ? `strata:${entry.subtype}` : entry.type)
const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, one) => all + one, 0)

/** Bytes from another thread are no buffers. */
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/**
 * What a journal's sub-agents spent and the journal does not say: a process that dies leaves the last responses only in the agent's own
 * journal.
 */
function unrecorded(spent: readonly AgentSpending[], entries: readonly Entry[]): readonly AgentSpending[] {
  const recorded = new Set(entries.flatMap(responseIn))
  return spent.filter(({ responseId }) => !recorded.has(responseId))
}

/** What the journal of an agent says that it spent. A fork's begins with a copy of its parent's, which the parent paid for. */
export function agentSpending(agent: string, bytes: Buffer): readonly AgentSpending[] {
  if (!isJournal(bytes)) return []
  const { entries } = readJournalBytes(bytes)
  const first = entries.findLastIndex((entry) => isDecision(entry) && entry.subtype === "branched") + 1
  return entries.slice(first).flatMap((entry) => {
    const spending = spendingOf(entry, agent)
    const place = { uuid: `${agent}:${entry.uuid}`, parentUuid: null, timestamp: entry.timestamp }
    return spending ? [{ ...spending, ...place }] : []
  })
}

function responseIn(entry: Entry): readonly string[] {
  if (isDecision(entry)) return entry.subtype === "spent" ? [entry.responseId] : []
  return entry.type === "assistant" ? [entry.message.id ?? entry.uuid] : []
}
