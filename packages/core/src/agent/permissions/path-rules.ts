/** Matches paths against patterns in rules. A bare name matches in any directory, as in `.gitignore`. */
import { realpathSync } from "node:fs"
import { dirname, isAbsolute, join, resolve, sep } from "node:path"

export interface PathRoots {
  readonly project: string
  /** Home directory for `~`. `undefined` if unknown. */
  readonly home: string | undefined
  /** Set if the project is a copy: rules about a file also apply to the same file in the other copy. */
  readonly copy?: ProjectCopy | undefined
}

export interface ProjectCopy {
  readonly directory: string
  readonly of: string
}

/** `strict` is for rules that deny or ask: bare names also match outside the project, and case is ignored. */
export function pathFits(pattern: string, path: string, place: PathRoots & { readonly strict: boolean }): boolean {
  const given = (place.strict ? [path, ...copiesOf(path, place.copy)] : [path]).map((one) => one.normalize("NFC"))
  return rootedForms(pattern, place).some((form) => {
    const source = `${globSource(form.normalize("NFC"))}(?:/.*)?`
    const matcher = new RegExp(`^${source}$`, place.strict ? "is" : "s")
    return given.some((one) => matcher.test(one))
  })
}

/** The same file in the copy, or in the original. */
function copiesOf(path: string, copy: ProjectCopy | undefined): readonly string[] {
  if (!copy) return []
  const pairs = [
    [copy.directory, copy.of],
    [copy.of, copy.directory],
  ] as const
  return pairs.flatMap(([from, to]) =>
    path === from || path.startsWith(from + sep) ? [to + path.slice(from.length)] : [],
  )
}

/** Absolute forms of a pattern: as written, and with symbolic links in its literal prefix resolved. */
function rootedForms(
  pattern: string,
  { project, home, strict }: PathRoots & { readonly strict: boolean },
): readonly string[] {
  const trimmed = pattern.replace(/(?<=.)\/+$/, "")
  if (trimmed === "~" || trimmed.startsWith("~/"))
    return home === undefined ? [] : withResolvedPrefix(join(home, trimmed.slice(1)))
  if (trimmed.startsWith("~")) return []
  if (isAbsolute(trimmed)) return withResolvedPrefix(resolve(trimmed.replace(/^\/+/, "/")))
  if (hasParentPart(trimmed)) return strict ? withResolvedPrefix(resolve(escapeGlob(project), trimmed)) : []
  const relative = trimmed.replace(/^(?:\.\/)+/, "")
  const isAnchored = trimmed.startsWith("./") || trimmed.includes("/")
  if (isAnchored && !relative.startsWith("**/")) return [`${escapeGlob(project)}/${relative}`]
  const name = relative.replace(/^(?:\*\*\/)+/, "")
  return [strict ? `/**/${name}` : `${escapeGlob(project)}/**/${name}`]
}

export const hasParentPart = (pattern: string): boolean => pattern.split("/").includes("..")

function withResolvedPrefix(pattern: string): readonly string[] {
  const parts = pattern.split("/")
  const wild = parts.findIndex((part) => /[*?[{]/.test(part))
  const fixed = parts.slice(0, wild < 0 ? parts.length : wild).join("/") || "/"
  const real = realPath(fixed)
  return real === fixed
    ? [pattern]
    : [pattern, [real === "/" ? "" : escapeGlob(real), ...parts.slice(wild < 0 ? parts.length : wild)].join("/")]
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realPath(parent), path.slice(parent === sep ? 1 : parent.length + 1))
  }
}

const escapeGlob = (path: string): string => path.replace(/[*?[\]{}\\]/g, "\\$&")

/**
 * Converts a glob to a regular expression: `**` any directories, `*` and `?` within a name, `{a,b}` alternatives, `[abc]` character sets.
 * Names that start with a dot match too.
 */
function globSource(pattern: string): string {
  const token = /\\(.)|\/\*\*\/|\/\*\*$|\*\*|\*|\?|\[([!^]?)([^\]/]+)\]|\{([^{}]*)\}|[\s\S]/g
  return pattern.replace(token, (found, literal, negation, members, choices) => {
    if (literal !== undefined) return escaped(literal)
    if (found === "/**/") return "/(?:.*/)?"
    if (found === "/**") return "(?:/.*)?"
    if (found === "**") return ".*"
    if (found === "*") return "[^/]*"
    if (found === "?") return "[^/]"
    if (members !== undefined) return `[${negation ? "^/" : ""}${members.replace(/[\\\]^[]/g, "\\$&")}]`
    if (choices !== undefined) return `(?:${choices.split(",").map(globSource).join("|")})`
    return escaped(found)
  })
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
