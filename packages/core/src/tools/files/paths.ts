/**
 * Resolves paths before permissions are checked: relative to the working directory, with `~` as the home directory and all symbolic links
 * followed. Paths of files that do not exist yet are resolved too, so the check covers what would be created.
 */
import type { Stats } from "node:fs"
import { readdir, readlink, realpath, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import type { ToolContext } from "../tool.ts"
import { codeOf, FileError, isMissing, toFileError } from "./file-error.ts"
import { similarityTo } from "./similarity.ts"

/** A path as the model wrote it, and the real path. */
export interface Target {
  /** The path as the model wrote it. Results use it. */
  readonly inputPath: string
  /** Absolute path with symbolic links resolved. */
  readonly path: string
}

type PathContext = Pick<ToolContext, "directory" | "env">

const MAX_LINKS = 40 // limit on Linux
const MAX_SUGGESTIONS = 3
const MIN_SIMILARITY = 0.5

export async function resolveTarget(inputPath: string, context: PathContext): Promise<Target> {
  if (inputPath.includes("\0"))
    throw new FileError(`${JSON.stringify(inputPath)} contains a zero byte, which no path can.`)
  try {
    return { inputPath, path: await followLinks(resolve(context.directory.get(), expandHome(inputPath, context))) }
  } catch (error) {
    throw toFileError(inputPath, error)
  }
}

/** The shortest form of a path as seen from the working directory. */
export function shortPath(path: string, directory: string): string {
  const relativePath = relative(directory, path)
  if (relativePath === "") return "."
  return relativePath === ".." || relativePath.startsWith(`..${sep}`) || isAbsolute(relativePath) ? path : relativePath
}

function expandHome(given: string, { env }: PathContext): string {
  return given === "~" || given.startsWith("~/") ? join(env.HOME ?? homedir(), given.slice(1)) : given
}

async function followLinks(path: string, followed = 0): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isMissing(error) || dirname(path) === path) throw error
  }
  const place = join(await followLinks(dirname(path), followed), basename(path))
  const target = await linkTarget(place)
  if (target === undefined) return place
  if (followed === MAX_LINKS) throw new FileError(`${path}: its symbolic links lead in a circle.`)
  return followLinks(resolve(dirname(place), target), followed + 1)
}

/** Target of a symbolic link, even if it does not exist. `undefined` if the path is not a link. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path)
  } catch (error) {
    if (isMissing(error) || codeOf(error) === "EINVAL") return undefined // the path does not exist or is not a link
    throw error
  }
}

/** Stats of a target. Throws if it does not exist. */
export async function statTarget(target: Target, directory: string): Promise<Stats> {
  try {
    return await stat(target.path)
  } catch (error) {
    throw isMissing(error) ? await missingFile(target, directory) : toFileError(target.inputPath, error)
  }
}

/** Creates the error for a missing file, with similar names as suggestions. */
export async function missingFile({ inputPath, path }: Target, directory: string): Promise<FileError> {
  const { parent, name, names } = await nearestDirectory(path)
  const similarity = similarityTo(name)
  const similar = names
    .map((other) => ({ other, score: similarity(other) }))
    .filter(({ score }) => score >= MIN_SIMILARITY)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ other }) => shortPath(join(parent, other), directory))
  const where = isAbsolute(inputPath) ? "" : ` The working directory is ${directory}.`
  const suggestion = similar.length > 0 ? ` Did you mean ${similar.join(" or ")}?` : ""
  const gap = parent === dirname(path) ? "" : ` Of its path only ${parent} exists.`
  return new FileError(`${inputPath} does not exist.${gap}${where}${suggestion}`)
}

/** The nearest existing ancestor of a path, its entries, and the name that is missing in it. */
async function nearestDirectory(path: string): Promise<{ parent: string; name: string; names: readonly string[] }> {
  const parent = dirname(path)
  try {
    return { parent, name: basename(path), names: await readdir(parent) }
  } catch (error) {
    if (isMissing(error) && parent !== path) return nearestDirectory(parent)
    return { parent, name: basename(path), names: [] } // not readable, so there are no suggestions
  }
}
