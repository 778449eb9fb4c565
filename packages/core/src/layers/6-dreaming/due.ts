/**
 * Decides whether a dream is due. First whether it is time, starting with the cheapest condition: the first one that is not met ends the
 * check, with a readable reason. Then whether there is anything to do. The permit is the last condition and is taken elsewhere.
 */

import { hash } from "node:crypto"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import type { MemoryBank } from "../../memory/bank.ts"
import { findNamedCode } from "../../memory/code-references.ts"
import { memoryKeys } from "../../memory/facts/relation.ts"
import { INDEX_FILE, isTopicFile } from "../../memory/file-names.ts"
import { isCurrentMemory, type Memory } from "../../memory/memory.ts"
import { checkConsolidation } from "./check/check.ts"
import { isLogSince } from "./copy.ts"
import { DREAM_FILES, type DreamContext, readJson, writeStateFile } from "./state-files.ts"
import type { PastConversation } from "./transcripts.ts"

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** Condition that is not met. */
export type DreamGate =
  | "switched-off"
  | "too-soon"
  | "scanned-lately"
  | "too-few-conversations"
  /** Today's limit of memory work is used up. */
  | "daily-limit"

export type GateResult =
  | { readonly open: true; readonly last?: Date; readonly conversations: number }
  /** `reason` is a sentence for the user. */
  | { readonly open: false; readonly gate: DreamGate; readonly reason: string }

export interface GateFigures {
  readonly isOn: boolean
  readonly gapHours: number
  readonly rescanMinutes: number
  readonly conversations: number
}

interface GateInput extends DreamContext {
  /** Lists the conversations of the project. */
  readonly conversations: () => Promise<readonly PastConversation[]>
  /** The current conversation, which does not count. */
  readonly conversation?: string
}

const closed = (gate: DreamGate, reason: string): GateResult => ({ open: false, gate, reason })

/** Checks all conditions. `look`: does not count as a scan, and ignores the minimum time between scans. */
export async function checkGates(
  place: GateInput,
  figures: GateFigures,
  { look = false }: { readonly look?: boolean } = {},
): Promise<GateResult> {
  if (!figures.isOn)
    return closed("switched-off", "Dreaming is switched off (the switch dreaming, or the setting memory).")
  const { permit, stateFiles, clock } = place
  const now = clock.now().getTime()
  const { last } = await permit.state()
  const waitHours = last ? figures.gapHours - (now - last.getTime()) / HOUR_MS : 0
  if (last && waitHours > 0)
    return closed(
      "too-soon",
      `The last dream was on ${formatMinute(last)}. The next one is possible in ${formatHours(waitHours)} (dream-interval: ${figures.gapHours} hours).`,
    )
  if (!look) {
    const scanned = await lastScan(stateFiles)
    const waited = scanned ? (now - scanned.getTime()) / MINUTE_MS : Number.POSITIVE_INFINITY
    if (waited >= 0 && waited < figures.rescanMinutes)
      return closed(
        "scanned-lately",
        `The conversations were counted ${Math.floor(waited)} minutes ago (dream-check-interval: every ${figures.rescanMinutes} minutes).`,
      )
    await writeStateFile(stateFiles, DREAM_FILES.scanned, `${clock.now().toISOString()}\n`)
  }
  const conversations = await countActiveSince(place, last ?? new Date(0))
  if (conversations < figures.conversations)
    return closed(
      "too-few-conversations",
      `${conversations} other conversations were active since the last dream. It takes ${figures.conversations} (dream-conversations).`,
    )
  return { open: true, conversations, ...(last ? { last } : {}) }
}

const formatMinute = (time: Date): string =>
  `${time.toISOString().slice(0, "2026-01-01T00:00".length).replace("T", " ")} UTC`
const formatHours = (count: number): string =>
  count < 1 ? `${Math.ceil(count * 60)} minutes` : `${Math.ceil(count)} hours`

/** Number of other conversations with activity since then. Opens no journal. */
async function countActiveSince({ conversations, conversation }: GateInput, since: Date): Promise<number> {
  const others = (await conversations()).filter(({ id }) => id !== conversation)
  return others.filter(({ touched }) => new Date(touched) > since).length
}

async function lastScan(notes: MemoryFiles): Promise<Date | undefined> {
  const [found] = await notes.readAll({ folders: [], paths: [DREAM_FILES.scanned] })
  if (!found) return undefined
  const noted = new Date(found.text?.trim() || found.modified)
  return Number.isNaN(noted.getTime()) ? undefined : noted
}

interface WorkCheckInput extends Omit<DreamContext, "clock" | "permit"> {
  readonly bank: MemoryBank
  readonly project: string
  readonly now: Date
  readonly last?: Date | undefined
}

/**
 * Whether a dream has anything to do: the memory has changed since the last dream, and either a rule has something to repair or a model
 * might find more. Needs no lock, write or request.
 */
export async function hasWork({ bank, files, stateFiles, project, now, last }: WorkCheckInput): Promise<boolean> {
  const memories = await bank.all()
  const { texts, hasLogs } = await readAll(files, last)
  if (memories.length === 0 && !hasLogs) return false
  const known = await readJson<{ print: string }>(stateFiles, DREAM_FILES.consolidated)
  if (known?.print === fingerprintOf(texts) && !hasLogs) return false
  const before = memories.filter(({ file }) => texts.has(file))
  const projectHas = (path: string) => existsSync(join(project, path))
  const checked = await checkConsolidation({ base: texts, before, changed: new Map(), now, projectHas })
  return checked.state === "refused" || checked.texts.size > 0 || hasLogs || isWorthReading(before)
}

/** Hash of the memories. The index is derived from them. */
function fingerprintOf(texts: ReadonlyMap<string, string>): string {
  const listed = [...texts].filter(([path]) => path !== INDEX_FILE).map((one) => JSON.stringify(one))
  return hash("sha256", listed.sort().join("\n"))
}

/** Records the memories after a dream, so that unchanged memories need no second one. */
export const recordConsolidated = (notes: MemoryFiles, texts: ReadonlyMap<string, string>): Promise<void> =>
  writeStateFile(notes, DREAM_FILES.consolidated, `${JSON.stringify({ print: fingerprintOf(texts) })}\n`)

/** Whether a model might find something: two memories share a key, or one names something that may no longer exist in the project. */
function isWorthReading(memories: readonly Memory[]): boolean {
  const seen = new Set<string>()
  for (const memory of memories.filter(isCurrentMemory)) {
    const keys = memoryKeys(memory)
    if (keys.some((key) => seen.has(key)) || findNamedCode(`${memory.description}\n${memory.body}`).length > 0)
      return true
    for (const key of keys) seen.add(key)
  }
  return false
}

async function readAll(files: MemoryFiles, last: Date | undefined) {
  const listed = await files.list()
  const isWanted = (path: string) => isTopicFile(path) || path === INDEX_FILE
  const paths = listed.filter(({ path, isUnlistable }) => !isUnlistable && isWanted(path)).map(({ path }) => path)
  const read = paths.length === 0 ? [] : await files.readAll({ folders: [], paths })
  const texts = new Map(read.flatMap(({ path, text }) => (text === undefined ? [] : [[path, text] as const])))
  return { texts, hasLogs: listed.some(({ path }) => isLogSince(path, last)) }
}
