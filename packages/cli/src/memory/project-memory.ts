/** The memory of the project that a directory belongs to. */
import { realpath } from "node:fs/promises"
import { localUser, openMemoryBank, type ProjectBank } from "@strata/core"
import type { CommandCall } from "../command.ts"

export interface ProjectMemoryOptions extends Pick<CommandCall, "cwd" | "env"> {
  /** Records nothing: an agent at work records its own writes, and they must not be taken for the user's. */
  readonly readOnly?: boolean
}

export async function openProjectBank({ cwd, env, readOnly = false }: ProjectMemoryOptions): Promise<ProjectBank> {
  return openMemoryBank({ cwd: await realpath(cwd).catch(() => cwd), env, owner: localUser, readOnly })
}
