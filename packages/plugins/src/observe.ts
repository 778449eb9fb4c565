/**
 * Measures what an agent's own compaction lost: names that were used before it, are used again after it, and are missing from its result.
 */
import { compactMessages } from "@strata/core"
import {
  contentOf,
  exactNamesIn,
  isBoundary,
  isMachineText,
  isText,
  isToolUse,
  type Message,
  sentBlocks,
} from "@strata/core/messages"
import { listActiveBranch } from "@strata/transcripts/import"
import { sessionMessages } from "./client-session.ts"
import type { Client, Environment } from "./clients.ts"
import { readTranscript, transcriptOf } from "./transcripts.ts"

export interface ObserveRequest {
  readonly client: Client
  readonly session: string
  /** The complete session in the client's format. Default: the transcript. */
  readonly messages?: readonly unknown[]
}

/** Losses of the newest compaction of a session. */
export interface CompactionLoss {
  /** How many compactions the session has. */
  readonly compactions: number
  /** Number of earlier names that were used again since. */
  readonly usedAgain: number
  /** Those names that were missing after the compaction, newest first. */
  readonly lost: readonly string[]
  /** Number of those names that would be missing after Strata's compaction. */
  readonly lostWithStrata: number
}

const NO_LOSS: CompactionLoss = { compactions: 0, usedAgain: 0, lost: [], lostWithStrata: 0 }

export async function observe(
  { client, session, messages }: ObserveRequest,
  env: Environment,
): Promise<CompactionLoss> {
  const given = messages && sessionMessages(messages, { client, session })
  if (given) return measureLoss(listActiveBranch(given))
  const path = await transcriptOf(client, session, env)
  const imported = path === undefined ? undefined : await readTranscript(path)
  return imported ? measureLoss(listActiveBranch(imported.messages)) : NO_LOSS
}

export async function measureLoss(lines: readonly Message[]): Promise<CompactionLoss> {
  const at = lines.findLastIndex(isBoundary)
  if (at < 0) return NO_LOSS
  const before = lines.slice(0, at)
  const left = messagesAfterCompaction(lines, at)
  if (!left.some((line) => line.type === "user" && line.isCompactSummary)) return NO_LOSS // the compaction was undone
  const since = lines.slice(at + 1).filter((line) => !left.includes(line))
  const { record, messages } = await compactMessages(before.filter((line) => !isBoundary(line)))
  const known = new Set([...record.names.said, ...record.names.typed])
  const used = [...new Set(since.flatMap((line) => namesIn(textAndInputs(line))))].filter((name) => known.has(name))
  const standing = isInText(left.map(textOf).join("\n"))
  const ours = isInText(messages.map((each) => ("uuid" in each ? textOf(each) : each.content)).join("\n"))
  return {
    compactions: lines.filter(isBoundary).length,
    usedAgain: used.length,
    lost: used.filter((name) => !standing(name)).reverse(),
    lostWithStrata: used.filter((name) => !ours(name)).length,
  }
}

/**
 * The context after a compaction: the summary, its attachments, and the tail, which is either referenced in the boundary or copied with its
 * times.
 */
function messagesAfterCompaction(lines: readonly Message[], at: number): readonly Message[] {
  const boundary = lines[at]!
  const kept = new Set(isBoundary(boundary) ? boundary.compactMetadata?.preservedMessages?.uuids : [])
  const times = new Set(lines.slice(0, at).map(({ timestamp }) => timestamp))
  const after = lines.slice(at + 1)
  return [
    ...lines.slice(0, at).filter(({ uuid }) => kept.has(uuid)),
    ...after.filter(
      (line) =>
        times.has(line.timestamp) || line.type === "attachment" || (line.type === "user" && line.isCompactSummary),
    ),
  ]
}

function textAndInputs(line: Message): string {
  if (line.type !== "user" && line.type !== "assistant") return ""
  const texts = contentOf(line).flatMap((block) => {
    if (isText(block)) return isMachineText(block.text) ? [] : block.text
    return isToolUse(block) ? JSON.stringify(block.input) : []
  })
  return texts.join("\n")
}

const textOf = (line: Message): string => JSON.stringify(sentBlocks(line))

const MAX_NAMES = 5_000
const namesIn = (text: string): readonly string[] => exactNamesIn(text, MAX_NAMES).map(({ name }) => name)

/** Matches complete words only. */
function isInText(text: string): (name: string) => boolean {
  const isWord = /[\p{L}\p{N}_]/u
  return (name) => {
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
      if (!isWord.test(text[at - 1] ?? "") && !isWord.test(text[at + name.length] ?? "")) return true
    return false
  }
}
