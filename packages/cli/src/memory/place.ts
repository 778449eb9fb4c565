/** The memory of the project that a directory belongs to: the same from every worktree and subdirectory of a repository. */
import { realpath } from "node:fs/promises"
import type { MemoryBank, ProjectIdentity, Store } from "@strata/core/internal"
import { localPerson } from "@strata/core/internal/base/owner"
import { projectDirectories } from "@strata/core/internal/conversation/project-directories"
import { fileStore } from "@strata/core/internal/journal/file/file-store"
import { defaultRoot } from "@strata/core/internal/journal/file/layout"
import { openBank } from "@strata/core/internal/memory/bank"
import { projectIdentity } from "@strata/core/internal/memory/project-identity"
import type { Call } from "../command.ts"

export interface MemoryPlace {
  readonly root: string
  readonly store: Store
  readonly identity: ProjectIdentity
  readonly bank: MemoryBank
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
  const bank = openBank({ files: store.memories!({ project: identity.name }), readOnly })
  const projects = await projectDirectories({
    root,
    identity: identity.name,
    cwd: await realpath(cwd),
    owner: localPerson,
  })
  return { root, store, identity, bank, projects }
}
