/** The memory of the project that a directory belongs to. */
import { realpath } from "node:fs/promises"
import { localUser, openMemoryBank, type ProjectBank } from "@strata/core"
import type { Call } from "../command.ts"

export interface MemoryPlace extends Pick<Call, "cwd" | "env"> {
  /** Records nothing: an agent at work records its own writes, and they must not be taken for the person's. */
  readonly readOnly?: boolean
}

export async function openProjectBank({ cwd, env, readOnly = false }: MemoryPlace): Promise<ProjectBank> {
  return openMemoryBank({ cwd: await realpath(cwd).catch(() => cwd), env, owner: localUser, readOnly })
}
