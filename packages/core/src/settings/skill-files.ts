/**
 * The skills of a project: the content of their `SKILL.md`, so that the user can decide whether to trust them. Their descriptions are sent
 * to the model with the first request. What a skill means is decided in `tools/`.
 */
import { readdir, realpath } from "node:fs/promises"
import { join, relative, sep } from "node:path"
import { readPlainFile, realPath } from "../base/files.ts"
import { repositoryRoot } from "../base/git.ts"
import { escapeInvisible } from "../base/text.ts"
import type { AgentFile } from "./agent-files.ts"

export const SKILL_FILE = "SKILL.md"
export const MAX_SKILL_BYTES = 256 * 1024 // instructions have a few kilobytes; larger texts belong in separate files
export const MAX_SKILLS = 100 // per directory: each is listed in the first request

/** Folders with skills of a project: in its directory first, then at the root of its repository. */
export const projectSkillFolders = (cwd: string, home: string | undefined): readonly string[] =>
  [...new Set([cwd, repositoryRoot(cwd, { home })])].flatMap((directory) =>
    [".strata", ".claude"].map((name) => join(directory, name, "skills")),
  )

export interface SkillFileLocations {
  readonly root: string
  readonly home: string | undefined
  readonly cwd: string
}

/** Files that cannot be read are not trusted. They are reported when skills are loaded. */
export async function projectSkillFiles({ root, home, cwd }: SkillFileLocations): Promise<readonly AgentFile[]> {
  const own = [join(root, "skills"), ...(home ? [join(home, ".claude", "skills")] : [])].map((path) => realPath(path))
  const folders = [...new Set(projectSkillFolders(cwd, home).flatMap((folder) => realPath(folder) ?? []))]
  const project = resolveLinks(repositoryRoot(cwd, { home }))
  const within = [project, ...(home ? [resolveLinks(home)] : [])]
  const found: AgentFile[] = []
  for (const folder of folders) {
    if (own.includes(folder) || !folder.startsWith(project + sep)) continue // a folder that leads out of the project is ignored
    const names = await readdir(folder).catch(() => [])
    for (const name of names.toSorted().slice(0, MAX_SKILLS)) {
      try {
        const directory = await realpath(join(folder, name))
        const path = await realpath(join(directory, SKILL_FILE))
        if (!path.startsWith(directory + sep) || !within.some((place) => path.startsWith(place + sep))) continue
        const text = (await readPlainFile(path, MAX_SKILL_BYTES)).toString("utf8")
        found.push({ path, name: escapeInvisible(relative(cwd, join(folder, name))), text })
      } catch {} // not a skill
    }
  }
  return found
}

const resolveLinks = (path: string): string => realPath(path) ?? path
