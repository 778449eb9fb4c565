/** Says once on a machine that there is no sandbox, with the command that installs one. */
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Sandbox, sandboxSentence, systemSandbox } from "@strata/core/agent"

type SandboxMode = Parameters<typeof sandboxSentence>[0]

/** `root`: Strata's directory, which remembers that it was said. */
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
    return [] // it was said, or the directory cannot be written, which is said elsewhere
  }
  return [sandboxSentence(mode, sandbox)]
}
