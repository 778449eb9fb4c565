/** Reports a missing sandbox once per machine, with the command that installs one. */
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Sandbox, sandboxSentence, systemSandbox } from "@strata/core/agent"

type SandboxMode = Parameters<typeof sandboxSentence>[0]

/** The notice, if it was not shown before. `root` is Strata's directory, which records that. */
export async function sandboxNotice(
  mode: SandboxMode,
  root: string,
  find: () => Promise<Sandbox> = systemSandbox,
): Promise<readonly string[]> {
  if (mode === "off") return []
  const sandbox = await find()
  if (sandbox.state === "ready") return []
  try {
    await mkdir(root, { recursive: true, mode: 0o700 })
    await writeFile(join(root, "sandbox-notice"), "", { flag: "wx", mode: 0o600 })
  } catch {
    return [] // already shown, or the directory is not writable, which is reported elsewhere
  }
  return [sandboxSentence(mode, sandbox)]
}
