/** The memory of the project that a directory belongs to: the same from every worktree and subdirectory of a repository. */
import { realpath } from "node:fs/promises"
import type { MemoryBank, MemoryFiles, ProjectIdentity, Store } from "@strata/core/internal"
import { localPerson } from "@strata/core/internal/base/owner"
import { readSettings } from "@strata/core/internal/base/settings"
import { trustOf } from "@strata/core/internal/base/trust"
import { projectDirectories } from "@strata/core/internal/conversation/project-directories"
import { fileStore } from "@strata/core/internal/journal/file/file-store"
import { defaultRoot } from "@strata/core/internal/journal/file/layout"
import { openBank } from "@strata/core/internal/memory/bank"
import { overlayOf } from "@strata/core/internal/memory/overlays"
import { projectIdentity } from "@strata/core/internal/memory/project-identity"
import type { Call } from "../command.ts"

export interface MemoryPlace {
  readonly root: string
  readonly store: Store
  readonly identity: ProjectIdentity
  /** The memory of this worktree, if it is kept apart; otherwise the project's. */
  readonly bank: MemoryBank
  /** The memory of the project. */
  readonly shared: MemoryBank
  readonly files: MemoryFiles
  /** Names of the project's directories in the store that may have conversations. */
  readonly projects: readonly string[]
}

export interface MemoryPlaceOptions extends Pick<Call, "cwd" | "env"> {
  /** Records nothing: an agent at work records its own writes, and they must not be taken for the person's. */
  readonly readOnly?: boolean
}

export async function openMemoryPlace({ cwd, env, readOnly = false }: MemoryPlaceOptions): Promise<MemoryPlace> {
  const root = defaultRoot(env)
  const store = fileStore({ root })
  const identity = await projectIdentity(cwd)
  const files = store.memories!({ project: identity.name })
  const shared = openBank({ files, readOnly })
  const own = await ownFiles({ root, cwd, env }, identity, files)
  const bank = own ? openBank({ files: own, readOnly }) : shared
  const projects = await projectDirectories({
    root,
    identity: identity.name,
    cwd: await realpath(cwd),
    owner: localPerson,
  })
  return { root, store, identity, bank, shared, files, projects }
}

/** The memory that a worktree keeps apart. A conversation there begins it. */
async function ownFiles(
  { root, cwd, env }: Pick<Call, "cwd" | "env"> & { readonly root: string },
  { worktree }: ProjectIdentity,
  files: MemoryFiles,
): Promise<MemoryFiles | undefined> {
  if (!worktree) return undefined
  const overlay = overlayOf(files, worktree)
  if ((await files.list(overlay.folder)).length === 0) return undefined
  const reading = await readSettings({ home: root, cwd, env })
  const trust = await trustOf(root, reading)
  const { values } = reading.settings({ trusted: trust.state !== "untrusted" })
  return values.worktreeMemory === "overlay" ? overlay.files : undefined
}
