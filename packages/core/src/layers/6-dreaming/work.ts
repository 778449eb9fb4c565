/**
 * Whether there is anything for a dream to do, found out without a lock, a write or a request: the memory changed since the last dream, and
 * a rule has something to repair, or a reader might find what rules do not.
 */
import { hash } from "node:crypto"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import type { MemoryBank } from "../../memory/bank.ts"
import { namedThings } from "../../memory/claims.ts"
import { INDEX_FILE, isTopicFile } from "../../memory/file-names.ts"
import { isCurrent, type Memory } from "../../memory/memory.ts"
import { keysOf } from "../../memory/relation.ts"
import { checkConsolidation } from "./check.ts"
import { type DreamPlaces, readJson, writeWhole } from "./dream-places.ts"
import { isLogSince } from "./memory-copy.ts"

export interface WorkPlace {
  readonly bank: MemoryBank
  readonly files: MemoryFiles
  readonly project: string
  readonly places: DreamPlaces
  readonly now: Date
  readonly last?: Date | undefined
}

export async function hasWork({ bank, files, project, places, now, last }: WorkPlace): Promise<boolean> {
  const memories = await bank.all()
  const { texts, hasLogs } = await readAll(files, last)
  if (memories.length === 0 && !hasLogs) return false
  const known = await readJson<{ print: string }>(places.consolidated)
  if (known?.print === printOf(texts) && !hasLogs) return false
  const before = memories.filter(({ file }) => texts.has(file))
  const projectHas = (path: string) => existsSync(join(project, path))
  const checked = await checkConsolidation({ base: texts, before, changed: new Map(), now, projectHas })
  return checked.state === "refused" || checked.texts.size > 0 || hasLogs || isWorthReading(before)
}

/** What memories say, in one word. The index follows them. */
export function printOf(texts: ReadonlyMap<string, string>): string {
  const listed = [...texts].filter(([path]) => path !== INDEX_FILE).map((one) => JSON.stringify(one))
  return hash("sha256", listed.sort().join("\n"))
}

/** After a dream: the same memory needs no second one. */
export const noteConsolidated = (places: DreamPlaces, texts: ReadonlyMap<string, string>): Promise<void> =>
  writeWhole(places.consolidated, `${JSON.stringify({ print: printOf(texts) })}\n`)

/** Two memories have a word in common, or one names something that the project may no longer have. */
function isWorthReading(memories: readonly Memory[]): boolean {
  const seen = new Set<string>()
  for (const memory of memories.filter(isCurrent)) {
    const keys = keysOf(memory)
    if (keys.some((key) => seen.has(key)) || namedThings(`${memory.description}\n${memory.body}`).length > 0)
      return true
    for (const key of keys) seen.add(key)
  }
  return false
}

async function readAll(files: MemoryFiles, last: Date | undefined) {
  const texts = new Map<string, string>()
  let hasLogs = false
  for (const { path, isClosed } of await files.list()) {
    hasLogs ||= isLogSince(path, last)
    if (isClosed || (!isTopicFile(path) && path !== INDEX_FILE)) continue
    const text = await files.read(path).catch(() => undefined)
    if (text !== undefined) texts.set(path, text)
  }
  return { texts, hasLogs }
}
