/** Opens the memory of a directory's project. */
import { realpath } from "node:fs/promises"
import { localUser, openMemoryBank, type ProjectBank } from "@strata/core"
import type { CommandCall } from "../command.ts"

export interface ProjectMemoryOptions extends Pick<CommandCall, "cwd" | "env"> {
  /** Opens without recording edits: a working agent records its own writes, which must not be attributed to the user. */
  readonly readOnly?: boolean
}

export async function openProjectBank({ cwd, env, readOnly = false }: ProjectMemoryOptions): Promise<ProjectBank> {
  return openMemoryBank({ cwd: await realpath(cwd).catch(() => cwd), env, owner: localUser, readOnly })
}
