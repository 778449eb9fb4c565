/** Whether Strata manages or only observes in a project: what the person said there last, in a small file of Strata's directory. */
import { hash, randomUUID } from "node:crypto"
import { mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { strataDirectory } from "@strata/core"
import type { Call } from "../command.ts"

export type Mode = "manage" | "observe"

interface Project extends Pick<Call, "env"> {
  /** With symlinks followed. */
  readonly directory: string
}

const fileOf = ({ env, directory }: Project): string =>
  join(strataDirectory(env), "wrapped", `${hash("sha256", directory, "hex")}.json`)

export async function rememberedMode(project: Project): Promise<Mode | undefined> {
  try {
    const { mode, directory } = JSON.parse(await readFile(fileOf(project), "utf8")) as Record<string, unknown>
    return directory === project.directory && (mode === "manage" || mode === "observe") ? mode : undefined
  } catch {
    return undefined
  }
}

export async function rememberMode(mode: Mode, project: Project): Promise<void> {
  const path = fileOf(project)
  const draft = `${path}.${randomUUID()}.draft`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(draft, `${JSON.stringify({ directory: project.directory, mode })}\n`, { mode: 0o600, flag: "wx" })
  await rename(draft, path)
}
