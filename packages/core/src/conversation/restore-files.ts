/** Puts files back as a plan says. Each file is checked again just before: what changed after the plan is left alone. */
import { realpath, rm } from "node:fs/promises"
import { errorMessage } from "../base/errors.ts"
import type { Journal } from "../journal/store.ts"
import type { FilesRestored } from "../messages/attachments.ts"
import { type FileChangeRecord, preservedMode } from "../messages/file-change-record.ts"
import type { Uuid } from "../messages/messages.ts"
import { enqueueChange } from "../tools/files/file-queue.ts"
import { replaceFile } from "../tools/files/replace-file.ts"
import type { Engine } from "./engine.ts"
import { type FileKeeper, sumOf } from "./file-keeper.ts"
import { onDisk, type PlannedFile, planRestore, type RestorePlan } from "./plan-restore.ts"

/** What was put back, and what was left. */
export interface RestoreReport {
  /** Paths from the project's directory. */
  readonly restored: readonly string[]
  readonly removed: readonly string[]
  readonly left: readonly { readonly name: string; readonly why: string }[]
}

export interface RestoreWork {
  readonly plan: RestorePlan
  /** The project's directory, links followed. Nothing outside it is written. */
  readonly project: string
  /** Also files that someone else changed since. */
  readonly overwrite: boolean
  readonly keeper: FileKeeper
}

export interface Restored {
  readonly report: RestoreReport
  /** For the journal. */
  readonly attachment: FilesRestored
}

export async function restoreFiles({ plan, project, overwrite, keeper }: RestoreWork): Promise<Restored> {
  const done: { readonly file: PlannedFile; readonly outcome: Outcome }[] = []
  for (const file of plan.files) {
    const outcome = await enqueueChange(file.path, () => putBack(file, { project, overwrite, keeper })).catch(
      (error: unknown): Outcome => ({ state: "left", why: errorMessage(error) }),
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
      left: left.map(({ file: { name }, why }) => ({ name, why })),
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

type Outcome =
  | { readonly state: "restored" | "removed"; readonly change: FileChangeRecord }
  | { readonly state: "left"; readonly why: string }

async function putBack(file: PlannedFile, { project, overwrite, keeper }: Omit<RestoreWork, "plan">): Promise<Outcome> {
  const { path, name, does, content, why = "it cannot be put back" } = file
  if (does === "leave" || (file.needsConsent && !overwrite)) return { state: "left", why }
  const disk = await onDisk(path, project)
  if (disk.state === "refused") return { state: "left", why: disk.why }
  const found = disk.state === "file" ? disk : undefined
  const now = found && sumOf(found.bytes)
  if (now !== file.now) return { state: "left", why: "it changed just now" }
  const before = found && { before: await keeper.keep(found.bytes), ...preservedMode(found.stats.mode) } // so that this can be taken back too
  if (now && file.needsConsent && !keeper.keeps(now))
    return { state: "left", why: "someone else changed it, and it is too large to keep what is there now" }
  if (content === undefined) {
    await rm(path)
    return { state: "removed", change: { path, ...before } }
  }
  const { mode } = file
  const like = found ? { before: found.stats } : mode === undefined ? {} : { mode }
  await replaceFile({ target: { given: name, path }, bytes: content, ...like })
  return { state: "restored", change: { path, ...before, after: sumOf(content) } }
}

export async function plannedRestore(engine: Engine, uuid: Uuid): Promise<RestorePlan> {
  await engine.mustBeMessage(uuid)
  const { record, parts } = engine
  const { journal, views } = record
  const { project } = journal.address
  const agents: Journal[] = []
  try {
    for (const { id } of views.agents.roster.values()) {
      // an agent that was started and never wrote has no journal
      const agent = await parts.store.open({ project, under: record.id, id }, { access: "read" }).catch(() => undefined)
      if (agent) agents.push(agent)
    }
    return await planRestore({ journal, agents, cwd: parts.cwd, uuid })
  } finally {
    for (const agent of agents) await agent.close()
  }
}

export async function restored(
  { record, parts, files }: Engine,
  { plan, overwrite }: Pick<RestoreWork, "plan" | "overwrite">,
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
