/**
 * Skills: directories with a `SKILL.md` that contains instructions. They are listed by name and description, and read when used. A link
 * that leads out of a skill's directory is refused. A complete skill may be a link to a permitted directory.
 */

import { readdir, realpath } from "node:fs/promises"
import { basename, join, sep } from "node:path"
import { errorReason } from "../../base/errors.ts"
import { readMarkdown, readPlainFile, realPath, statIfReachable } from "../../base/files.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { MAX_SKILL_BYTES, MAX_SKILLS, SKILL_FILE } from "../../settings/skill-files.ts"
import { clip } from "../defaults.ts"

export interface Skill {
  readonly name: string
  readonly description: string
  /** Directory of the skill, with symbolic links resolved. */
  readonly directory: string
  /** Path of its `SKILL.md`, with symbolic links resolved. */
  readonly path: string
  /** Whether the user or the program chose its directory. Other skills belong to a project. */
  readonly isOwn: boolean
}

export type SkillDirectory =
  | string
  | {
      readonly path: string
      /** The project directory that must contain it, after resolving links. Set for skills of a project. */
      readonly within?: string
      /** Further directories that a linked skill may be in, in addition to the directory itself and `within`. */
      readonly links?: readonly string[]
      /** Trusted skills: path of each file and its text when the user trusted it. Other skills are ignored. Default: all skills. */
      readonly trusted?: ReadonlyMap<string, string>
    }

export interface SkillProblem {
  readonly path: string
  readonly why: string
}

export interface LoadedSkills {
  /** Sorted by name. If two have the same name, the one in the earlier directory is used. */
  readonly skills: readonly Skill[]
  /** Skills that cannot be used. */
  readonly problems: readonly SkillProblem[]
}

const NAME_CHARACTERS = 100
const DESCRIPTION_CHARACTERS = 1_024 // maximum in the skill format

export async function loadSkills(directories: readonly SkillDirectory[]): Promise<LoadedSkills> {
  const found = (await Promise.all(directories.map(skillsIn))).flat()
  const skills = new Map<string, Skill>()
  const problems: SkillProblem[] = []
  for (const item of found) {
    if ("why" in item) problems.push(item)
    else if (!skills.has(item.name)) skills.set(item.name, item)
  }
  return { skills: [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), problems }
}

/** The list of skills for the model at the start of a conversation. */
export function skillListing(skills: readonly Skill[]): Attachment {
  return { type: "skill_listing", skills: skills.map(({ name, description }) => ({ name, description })) }
}

/** Reads the current instructions from disk, without the frontmatter. */
export async function readSkill({ path, directory }: Skill): Promise<string> {
  return (await readMarkdown(await readInside(path, directory))).body
}

async function skillsIn(given: SkillDirectory): Promise<readonly (Skill | SkillProblem)[]> {
  const { path: directory, within, links = [], trusted } = typeof given === "string" ? { path: given } : given
  let root: string
  let names: readonly string[]
  try {
    root = await realpath(directory)
    if (within !== undefined && !root.startsWith((await realpath(within)) + sep))
      return [{ path: directory, why: `the directory leads out of the project, to ${root}` }]
    names = (await readdir(root)).sort()
  } catch (error) {
    return isMissing(error) ? [] : [{ path: directory, why: errorReason(error) }]
  }
  const allowed = [...(within === undefined ? [] : [within]), ...links].map((place) => realPath(place) ?? place)
  const skills = await Promise.all(
    names
      .slice(0, MAX_SKILLS)
      .map((name) => skillAt(join(root, name), { isOwn: within === undefined, places: [root, ...allowed], trusted })),
  )
  const isCut = names.length > MAX_SKILLS
  return [
    ...skills.flat(),
    ...(isCut ? [{ path: directory, why: `only the first ${MAX_SKILLS} of this directory count` }] : []),
  ]
}

interface SkillRules {
  readonly isOwn: boolean
  /** Directories that a linked skill may be in. */
  readonly places: readonly string[]
  readonly trusted: ReadonlyMap<string, string> | undefined
}

async function skillAt(
  given: string,
  { isOwn, places, trusted }: SkillRules,
): Promise<readonly (Skill | SkillProblem)[]> {
  const file = join(given, SKILL_FILE)
  try {
    const directory = await realpath(given)
    if (!places.some((place) => directory.startsWith(place + sep)))
      return isPresent(file)
        ? [{ path: given, why: `the link leads to ${directory}, outside the project and your home` }]
        : []
    const path = await realpath(file)
    const text = await readInside(path, directory)
    if (trusted && trusted.get(path) !== text) return [] // the problem was reported when the settings were loaded
    const { name = basename(given), description = "" } = await describe(text)
    if (!/[\p{L}\p{N}]/u.test(name)) throw new Error(`its name is "${name}"; write a word that you can type`)
    return [{ name, description, directory, path, isOwn }]
  } catch (error) {
    return isMissing(error) ? [] : [{ path: file, why: errorReason(error) }]
  }
}

async function readInside(file: string, directory: string): Promise<string> {
  const path = await realpath(file)
  if (!path.startsWith(directory + sep)) throw new Error(`it leads out of its directory, to ${path}`)
  return (await readPlainFile(path, MAX_SKILL_BYTES)).toString("utf8")
}

async function describe(text: string): Promise<{ readonly name?: string; readonly description?: string }> {
  const { values } = await readMarkdown(text)
  const [name, description] = [values?.get("name"), values?.get("description")]
  return {
    ...(typeof name === "string" && name.trim() !== "" ? { name: name.trim().slice(0, NAME_CHARACTERS) } : {}),
    ...(typeof description === "string"
      ? { description: clip(description.replace(/\s+/g, " ").trim(), DESCRIPTION_CHARACTERS) }
      : {}),
  }
}

const isPresent = (file: string): boolean => statIfReachable(file) !== undefined

/** Whether the path is not a skill. A plain file in a skills directory is not a skill. */
function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === "ENOENT" || code === "ENOTDIR"
}
