/**
 * Resolves paths before permissions are checked and before anything happens: relative to the working directory, with `~` as the home
 * directory and every symbolic link followed. Files that do not exist yet are resolved too, so the check covers what would be created.
 */
import type { Stats } from "node:fs"
import { readdir, readlink, realpath, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import type { ToolContext } from "../tool.ts"
import { asFileError, codeOf, FileError, isMissing } from "./file-error.ts"
import { likenessTo } from "./similarity.ts"

/** A file as the model named it, and its real path. */
export interface Target {
  /** As the model wrote it. Results use this name. */
  readonly given: string
  /** Absolute, links followed. */
  readonly path: string
}

type PathContext = Pick<ToolContext, "directory" | "env">

const MAX_LINKS = 40 // what Linux allows
const MAX_SUGGESTIONS = 3
const LIKE_ENOUGH = 0.5

export async function resolveTarget(given: string, context: PathContext): Promise<Target> {
  if (given.includes("\0")) throw new FileError(`${JSON.stringify(given)} contains a zero byte, which no path can.`)
  try {
    return { given, path: await followLinks(resolve(context.directory.get(), expandHome(given, context))) }
  } catch (error) {
    throw asFileError(given, error)
  }
}

/** A path as a person would name it from the working directory. */
export function shortPath(path: string, directory: string): string {
  const way = relative(directory, path)
  if (way === "") return "."
  return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way) ? path : way
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

/** Where a link points, even if nothing is there. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path)
  } catch (error) {
    if (isMissing(error) || codeOf(error) === "EINVAL") return undefined // nothing there, or not a link
    throw error
  }
}

/** The stats of a target, which must exist. */
export async function statTarget(target: Target, directory: string): Promise<Stats> {
  try {
    return await stat(target.path)
  } catch (error) {
    throw isMissing(error) ? await missingFile(target, directory) : asFileError(target.given, error)
  }
}

/** Says that a file does not exist, and suggests similar names. */
export async function missingFile({ given, path }: Target, directory: string): Promise<FileError> {
  const { parent, name, names } = await nearestDirectory(path)
  const likeness = likenessTo(name)
  const alike = names
    .map((other) => ({ other, score: likeness(other) }))
    .filter(({ score }) => score >= LIKE_ENOUGH)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ other }) => shortPath(join(parent, other), directory))
  const where = isAbsolute(given) ? "" : ` The working directory is ${directory}.`
  const suggestion = alike.length > 0 ? ` Did you mean ${alike.join(" or ")}?` : ""
  const gap = parent === dirname(path) ? "" : ` Of its path only ${parent} exists.`
  return new FileError(`${given} does not exist.${gap}${where}${suggestion}`)
}

/** The last existing directory on the way to a path, its entries, and the name that is missing there. */
async function nearestDirectory(path: string): Promise<{ parent: string; name: string; names: readonly string[] }> {
  const parent = dirname(path)
  try {
    return { parent, name: basename(path), names: await readdir(parent) }
  } catch (error) {
    if (isMissing(error) && parent !== path) return nearestDirectory(parent)
    return { parent, name: basename(path), names: [] } // no rights to look: no suggestions
  }
}
