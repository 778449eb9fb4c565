/** What an agent's own compaction lost: names that were used before it, are used again after it, and are not in what it left. */
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
import { mainPath } from "@strata/transcripts/import"
import { linesOf } from "./client-session.ts"
import type { Client, Environment } from "./clients.ts"
import { readTranscript, transcriptOf } from "./transcripts.ts"

export interface ObserveRequest {
  readonly client: Client
  readonly session: string
  /** The whole session, as its client gives it. Default: the transcript. */
  readonly messages?: readonly unknown[]
}

/** About the newest compaction of a session. */
export interface Observed {
  /** How many compactions the session has. */
  readonly compactions: number
  /** Names from before that were used since. */
  readonly usedAgain: number
  /** Those of them that were not in what the compaction left, the newest first. */
  readonly lost: readonly string[]
  /** How many of them would not be in what Strata leaves. */
  readonly lostWithStrata: number
}

const NOTHING: Observed = { compactions: 0, usedAgain: 0, lost: [], lostWithStrata: 0 }

export async function observe({ client, session, messages }: ObserveRequest, env: Environment): Promise<Observed> {
  const given = messages && linesOf(messages, { client, session })
  if (given) return observed(mainPath(given))
  const path = await transcriptOf(client, session, env)
  const imported = path === undefined ? undefined : await readTranscript(path)
  return imported ? observed(mainPath(imported.messages)) : NOTHING
}

export async function observed(lines: readonly Message[]): Promise<Observed> {
  const at = lines.findLastIndex(isBoundary)
  if (at < 0) return NOTHING
  const before = lines.slice(0, at)
  const left = leftBehind(lines, at)
  if (!left.some((line) => line.type === "user" && line.isCompactSummary)) return NOTHING // it was taken back
  const since = lines.slice(at + 1).filter((line) => !left.includes(line))
  const { record, messages } = await compactMessages(before.filter((line) => !isBoundary(line)))
  const known = new Set([...record.names.said, ...record.names.typed])
  const used = [...new Set(since.flatMap((line) => namesIn(saidOrTyped(line))))].filter((name) => known.has(name))
  const standing = isInText(left.map(textOf).join("\n"))
  const ours = isInText(messages.map((each) => ("uuid" in each ? textOf(each) : each.content)).join("\n"))
  return {
    compactions: lines.filter(isBoundary).length,
    usedAgain: used.length,
    lost: used.filter((name) => !standing(name)).reverse(),
    lostWithStrata: used.filter((name) => !ours(name)).length,
  }
}

/** The summary, what came with it, and the kept messages: named in the boundary, or copied with their times. */
function leftBehind(lines: readonly Message[], at: number): readonly Message[] {
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

function saidOrTyped(line: Message): string {
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

/** Whole, not as a part of a longer word. */
function isInText(text: string): (name: string) => boolean {
  const isWord = /[\p{L}\p{N}_]/u
  return (name) => {
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
      if (!isWord.test(text[at - 1] ?? "") && !isWord.test(text[at + name.length] ?? "")) return true
    return false
  }
}
