/**
 * One session kept: what is new since the last time is stored, and the record then names all of it. A file that its owner removed stays
 * kept. Where a file does not continue what was kept, the earlier state stays as a session of its own.
 */
import type { TranscriptFile } from "../places.ts"
import { packFile } from "./packed-file.ts"
import type { Pieces } from "./pieces.ts"
import { earlierKey, type KeptFile, type KeptRecord, keyOf, type Records } from "./record.ts"
import { aboutOf, type FoundFile, filesOf } from "./session-files.ts"

export interface KeepingPlace {
  readonly records: Records
  readonly pieces: Pieces
}

export type KeepOutcome =
  | { readonly state: "unchanged" | "gone" }
  /** `bytes`: of the files that are new or have changed. */
  | { readonly state: "kept" | "due"; readonly isNew: boolean; readonly bytes: number }

export interface SessionToKeep {
  readonly source: TranscriptFile
  readonly now: string
  /** Only say what would be done. */
  readonly dryRun?: boolean
  /** Read every file again, also those that look unchanged: to mend what is damaged. */
  readonly readAll?: boolean
}

export async function keepSession(session: SessionToKeep, { records, pieces }: KeepingPlace): Promise<KeepOutcome> {
  const { source, now, dryRun = false, readAll = false } = session
  const key = keyOf(source.path)
  const before = (await records.find(key)).record
  const found = await filesOf(source.program, source.path)
  if (found.length === 0) return { state: "gone" }
  const known = new Map(before?.files.map((file) => [file.name, file]))
  const changed = found.filter((file) => readAll || !isSame(file, known.get(file.name)))
  if (changed.length === 0) return { state: "unchanged" }
  const outcome = { isNew: before === undefined, bytes: changed.reduce((sum, { size }) => sum + size, 0) }
  if (dryRun) return { state: "due", ...outcome }

  const files: KeptFile[] = []
  let continues = true
  for (const file of found) {
    const kept = known.get(file.name)
    if (kept && !changed.includes(file)) {
      files.push(kept)
      continue
    }
    const packed = await packFile(file, { pieces, before: kept })
    if (packed) files.push(packed.file)
    if (packed && !packed.continues) continues = false
  }
  const [transcript, ...others] = files
  if (transcript?.name !== found[0]!.name) return { state: "gone" } // removed while it was read
  const removed = (before?.files ?? []).filter(({ name }) => !files.some((file) => file.name === name))
  const { program, path, id } = source
  const record: KeptRecord = {
    ...{ version: 1, program, id, path, ...(await aboutOf(path)), keptAt: now },
    files: [transcript, ...others, ...removed],
  }
  await pieces.settle()
  if (before && !continues) await records.write(earlierKey(key, before), before)
  await records.write(key, record)
  return { state: "kept", ...outcome }
}

const isSame = (found: FoundFile, kept: KeptFile | undefined): boolean =>
  kept !== undefined && kept.size === found.size && kept.modifiedMs === found.modifiedMs
