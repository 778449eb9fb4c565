/** Opens the memory of a directory's project. */
import { realpath } from "node:fs/promises"
import { localUser, openMemoryBank, type ProjectBank } from "@strata/core"
import type { CommandCall } from "../command.ts"

export interface ProjectMemoryOptions extends Pick<CommandCall, "cwd" | "env"> {
  /** Opens without recording edits: a working agent records its own writes, which must not be attributed to the user. */
  readonly readOnly?: boolean
  /** Owner of the memory. Default: the user. */
  readonly owner?: string | undefined
}

export async function openProjectBank(options: ProjectMemoryOptions): Promise<ProjectBank> {
  const { cwd, env, owner = localUser, readOnly = false } = options
  return openMemoryBank({ cwd: await realpath(cwd).catch(() => cwd), env, owner, readOnly })
}
