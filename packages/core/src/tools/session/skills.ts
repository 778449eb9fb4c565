/**
 * Skills: directories with a `SKILL.md` that tells how something is done. They are listed by name and description; the text is read when
 * a skill is used. A skill is what lies in its directory: a link that leads out of it is refused.
 */
import { readdir, readFile, realpath, stat } from "node:fs/promises"
import { basename, join, sep } from "node:path"
import { reasonOf } from "../../base/errors.ts"
import type { Attachment } from "../../messages/attachments.ts"

export interface Skill {
  readonly name: string
  readonly description: string
  /** Where its files are, links followed. */
  readonly directory: string
  /** Its `SKILL.md`, links followed. */
  readonly path: string
}

export interface SkillProblem {
  readonly path: string
  readonly why: string
}

export interface LoadedSkills {
  /** By name. Of two with the same name the one in the earlier directory. */
  readonly skills: readonly Skill[]
  /** What looks like a skill and cannot be used. */
  readonly problems: readonly SkillProblem[]
}

const SKILL_FILE = "SKILL.md"
const MOST_BYTES = 256 * 1024 // instructions, not a book; what is larger belongs in files beside it

export async function loadSkills(directories: readonly string[]): Promise<LoadedSkills> {
  const found = (await Promise.all(directories.map(skillsIn))).flat()
  const skills = new Map<string, Skill>()
  const problems: SkillProblem[] = []
  for (const item of found) {
    if ("why" in item) problems.push(item)
    else if (!skills.has(item.name)) skills.set(item.name, item)
  }
  return { skills: [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), problems }
}

/** What the model is told at the start of a conversation. */
export function skillListing(skills: readonly Skill[]): Attachment {
  return { type: "skill_listing", skills: skills.map(({ name, description }) => ({ name, description })) }
}

/** The instructions, as they are on disk now, without the frontmatter. */
export async function readSkill({ path, directory }: Skill): Promise<string> {
  return split(await readInside(path, directory)).body.trim()
}

async function skillsIn(directory: string): Promise<readonly (Skill | SkillProblem)[]> {
  let root: string
  let names: readonly string[]
  try {
    root = await realpath(directory)
    names = (await readdir(root)).sort()
  } catch (error) {
    return isMissing(error) ? [] : [{ path: directory, why: reasonOf(error) }]
  }
  return (await Promise.all(names.map((name) => skillAt(join(root, name))))).flat()
}

async function skillAt(directory: string): Promise<readonly (Skill | SkillProblem)[]> {
  const file = join(directory, SKILL_FILE)
  try {
    const path = await realpath(file)
    const { name = basename(directory), description = "" } = await describe(await readInside(path, directory))
    return [{ name, description, directory, path }]
  } catch (error) {
    return isMissing(error) ? [] : [{ path: file, why: reasonOf(error) }]
  }
}

async function readInside(file: string, directory: string): Promise<string> {
  const path = await realpath(file)
  if (!path.startsWith(directory + sep)) throw new Error(`it leads out of its directory, to ${path}`)
  const { size } = await stat(path)
  if (size > MOST_BYTES) throw new Error(`it has ${size} bytes, more than ${MOST_BYTES}`)
  return readFile(path, "utf8")
}

async function describe(text: string): Promise<{ readonly name?: string; readonly description?: string }> {
  const { frontmatter } = split(text)
  if (frontmatter === undefined) return {}
  const { parse } = await import("yaml")
  const given: unknown = parse(frontmatter)
  const { name, description } = (given ?? {}) as { name?: unknown; description?: unknown }
  return {
    ...(typeof name === "string" && name.trim() !== "" ? { name: name.trim() } : {}),
    ...(typeof description === "string" ? { description: description.replace(/\s+/g, " ").trim() } : {}),
  }
}

function split(text: string): { readonly frontmatter?: string; readonly body: string } {
  const match = /^\uFEFF?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/.exec(text)
  return match ? { frontmatter: match[1] ?? "", body: text.slice(match[0].length) } : { body: text }
}

/** Files beside the skills are no skills either. */
function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === "ENOENT" || code === "ENOTDIR"
}
