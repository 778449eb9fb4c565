/** Restores files according to a plan. Each file is checked again just before, and left unchanged if it has changed since. */
import { realpath, rm } from "node:fs/promises"
import { errorMessage } from "../base/errors.ts"
import type { Journal } from "../journal/store.ts"
import type { FilesRestored } from "../messages/attachments.ts"
import { type FileChangeRecord, preservedMode } from "../messages/file-change-record.ts"
import type { Uuid } from "../messages/messages.ts"
import { enqueueChange } from "../tools/files/file-queue.ts"
import { replaceFile } from "../tools/files/replace-file.ts"
import type { Engine } from "./engine.ts"
import { contentHash, type FileSnapshots } from "./file-snapshots.ts"
import { type PlannedFile, planRestore, type RestorePlan, readFileOnDisk } from "./plan-restore.ts"

/** Report about restored and skipped files. */
export interface RestoreReport {
  /** Paths relative to the project's directory. */
  readonly restored: readonly string[]
  readonly removed: readonly string[]
  readonly skipped: readonly { readonly name: string; readonly why: string }[]
}

export interface FileRestoreInput {
  readonly plan: RestorePlan
  /** The project's directory with symbolic links resolved. Nothing outside it is written. */
  readonly project: string
  /** Whether to restore files that someone else changed since. */
  readonly overwrite: boolean
  readonly keeper: FileSnapshots
}

export interface RestoreResult {
  readonly report: RestoreReport
  /** Attachment for the journal. */
  readonly attachment: FilesRestored
}

export async function restoreFiles({ plan, project, overwrite, keeper }: FileRestoreInput): Promise<RestoreResult> {
  const done: { readonly file: PlannedFile; readonly outcome: FileOutcome }[] = []
  for (const file of plan.files) {
    const outcome = await enqueueChange(file.path, () => restoreFile(file, { project, overwrite, keeper })).catch(
      (error: unknown): FileOutcome => ({ state: "left", why: errorMessage(error) }),
    )
    done.push({ file, outcome })
  }
  const [restored, removed] = (["restored", "removed"] as const).map((state) =>
    done.filter(({ outcome }) => outcome.state === state).map(({ file }) => file),
  ) as [PlannedFile[], PlannedFile[]]
  const left = done.flatMap(({ file, outcome }) => (outcome.state === "left" ? [{ file, why: outcome.why }] : []))
  return {
    report: {
      restored: restored.map(({ name }) => name),
      removed: removed.map(({ name }) => name),
      skipped: left.map(({ file: { name }, why }) => ({ name, why })),
    },
    attachment: {
      type: "files_restored",
      restored: restored.map(({ path }) => path),
      removed: removed.map(({ path }) => path),
      left: left.map(({ file: { path } }) => path),
      changes: done.flatMap(({ outcome }) => (outcome.state === "left" ? [] : [outcome.change])),
    },
  }
}

type FileOutcome =
  | { readonly state: "restored" | "removed"; readonly change: FileChangeRecord }
  | { readonly state: "left"; readonly why: string }

async function restoreFile(
  file: PlannedFile,
  { project, overwrite, keeper }: Omit<FileRestoreInput, "plan">,
): Promise<FileOutcome> {
  const { path, name, action, content, why = "it cannot be put back" } = file
  if (action === "leave" || (file.needsConsent && !overwrite)) return { state: "left", why }
  const disk = await readFileOnDisk(path, project)
  if (disk.state === "refused") return { state: "left", why: disk.why }
  const found = disk.state === "file" ? disk : undefined
  const now = found && contentHash(found.bytes)
  if (now !== file.now) return { state: "left", why: "it changed just now" }
  const before = found && { before: await keeper.keep(found.bytes), ...preservedMode(found.stats.mode) } // so that the restore can be undone too
  if (now && file.needsConsent && !keeper.keeps(now))
    return { state: "left", why: "someone else changed it, and it is too large to keep what is there now" }
  if (content === undefined) {
    await rm(path)
    return { state: "removed", change: { path, ...before } }
  }
  const { mode } = file
  const like = found ? { before: found.stats } : mode === undefined ? {} : { mode }
  await replaceFile({ target: { inputPath: name, path }, bytes: content, ...like })
  return { state: "restored", change: { path, ...before, after: contentHash(content) } }
}

export async function planConversationRestore(engine: Engine, uuid: Uuid): Promise<RestorePlan> {
  await engine.mustBeMessage(uuid)
  const { record, parts } = engine
  const { journal, views } = record
  const { project } = journal.address
  const agents: Journal[] = []
  try {
    for (const { id } of views.agents.roster.values()) {
      // an agent that never wrote has no journal
      const agent = await parts.store.open({ project, under: record.id, id }, { access: "read" }).catch(() => undefined)
      if (agent) agents.push(agent)
    }
    return await planRestore({ journal, agents, cwd: parts.cwd, uuid })
  } finally {
    for (const agent of agents) await agent.close()
  }
}

export async function restoreAndRecord(
  { record, parts, files }: Engine,
  { plan, overwrite }: Pick<FileRestoreInput, "plan" | "overwrite">,
): Promise<RestoreReport> {
  const { report, attachment } = await restoreFiles({
    plan,
    overwrite,
    project: await realpath(parts.cwd),
    keeper: files,
  })
  if (attachment.changes.length > 0) await record.append([{ type: "attachment", attachment }])
  return report
}
