/**
 * Converts a Strata journal into a recorded conversation: its active branch, abandoned branches, and the costs of its agents. Works on
 * bytes alone.
 */

import { type DecisionEntry, isMessage } from "@strata/core"
import { spendingOf } from "@strata/core/agent"
import type { DecisionOf } from "@strata/core/store"
import { describeJournalDamage, type Entry, isDecision, isJournal, readJournalBytes } from "@strata/core/store"
import { ParentLinks } from "@strata/core/views"
import type { Transcript } from "./transcript.ts"

const JOURNAL_FORMAT = "strata"

/** The bytes of a journal and the costs recorded in its agents' journals. It can be processed in a thread that has no store. */
export interface JournalCopy {
  readonly bytes: Uint8Array
  readonly agentUsage: readonly AgentUsage[]
}

export interface NamedJournal extends JournalCopy {
  readonly id: string
  /** Name for display: a path, or a URI in a store. */
  readonly file: string
}

/** A response of an agent, in the form in which its lead records it. */
export type AgentUsage = DecisionEntry & DecisionOf<"spent">

export function journalTranscript({ file, id, bytes, agentUsage }: NamedJournal): Transcript {
  const understood: Record<string, number> = {}
  const notUnderstood: Record<string, number> = {}
  const { entries: all, damaged, ...found } = readJournalBytes(asBuffer(bytes))
  for (const entry of all) understood[kindOf(entry)] = (understood[kindOf(entry)] ?? 0) + 1
  for (const { why } of damaged) notUnderstood[why] = (notUnderstood[why] ?? 0) + 1
  const links = new ParentLinks()
  for (const entry of all) links.add(entry)
  const places = links.placesOn(links.path())
  const session = all.findLast((entry) => isDecision(entry) && entry.subtype === "session")
  const { title, model, cwd } = (session ?? {}) as { title?: string; model?: string; cwd?: string }
  const entries = all.filter((entry) => places(entry) === "on-path")
  const aside = all.filter((entry) => places(entry) !== "on-path")
  const abandoned = aside.filter((entry) => isMessage(entry) && !entry.isSidechain).length
  const missing = missingUsage(agentUsage, all)
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
        ...describeJournalDamage({ damagedLines: damaged, damagedCount: damaged.length, ...found }),
      ],
    },
    entries,
    aside: [...aside, ...missing],
  }
}

const kindOf = (entry: Entry) => (isDecision(entry) ? `strata:${entry.subtype}` : entry.type)
const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, one) => all + one, 0)

/** Bytes received from another thread are plain arrays, not buffers. */
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Costs of sub-agents that the conversation's journal lacks: if a process dies, the last responses are only in the agent's own journal. */
function missingUsage(spent: readonly AgentUsage[], entries: readonly Entry[]): readonly AgentUsage[] {
  const recorded = new Set(entries.flatMap(responseIn))
  return spent.filter(({ responseId }) => !recorded.has(responseId))
}

/** Costs recorded in an agent's journal. A fork's journal begins with a copy of its parent's, which the parent paid for. */
export function readAgentUsage(agent: string, bytes: Buffer): readonly AgentUsage[] {
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
