/**
 * What a memory claims about the code: files, options and functions that it names. Each is looked up before the memory is offered
 * as current. A search has limits; what it does not settle is unknown.
 */
import { lstat } from "node:fs/promises"
import { isAbsolute, join, normalize, sep } from "node:path"
import { ripgrepProgram, runRipgrep } from "../tools/files/ripgrep.ts"
import type { Memory } from "./memory.ts"

const MAX_CLAIMS = 20
const SEARCH_MS = 2000
const RIPGREP_OPTIONS = [
  ...[
    "--no-config",
    "--hidden",
    "--no-require-git",
    "--no-messages",
    "--color=never",
    "--no-filename",
    "--no-line-number",
  ],
  ...["--only-matching", "--fixed-strings", "--word-regexp", "--glob=!.git", "--glob=!.strata"],
  "--max-filesize=1M", // larger files are data or generated
]

/** A file, an option or a name that a memory mentions, and whether the code has it. */
export interface CodeReference {
  /** As the memory writes it. */
  readonly text: string
  readonly kind: "file" | "option" | "name"
  readonly state: "current" | "gone" | "unknown"
}

interface ClaimOptions {
  /** The root of the project. */
  readonly directory: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal
  /** For all claims together. */
  readonly timeoutMs?: number
}

/** Looks up what the memory names in the project's files. */
export async function claimsOf(
  memory: Pick<Memory, "description" | "body">,
  options: ClaimOptions,
): Promise<readonly CodeReference[]> {
  const named = namedThings(`${memory.description}\n${memory.body}`).slice(0, MAX_CLAIMS)
  const files = named.filter(({ kind }) => kind === "file")
  const words = named.filter(({ kind }) => kind !== "file")
  const [checked, search] = await Promise.all([
    Promise.all(files.map(async (claim) => ({ ...claim, state: await fileState(claim.text, options) }))),
    searchFor(words.map(needle), options),
  ])
  const states = new Map<string, CodeReference["state"]>([
    ...checked.map(({ text, state }) => [text, state] as const),
    ...words.map((claim) => [claim.text, wordState(needle(claim), search)] as const),
  ])
  return named.map((claim) => ({ ...claim, state: states.get(claim.text)! }))
}

type NamedThing = Pick<CodeReference, "text" | "kind">

/** Paths, options and identifiers in backticks, and paths in plain text. */
export function namedThings(text: string): readonly NamedThing[] {
  const found = new Map<string, NamedThing>()
  const add = (thing: NamedThing | undefined) => thing && !found.has(thing.text) && found.set(thing.text, thing)
  const plain = text.replace(/^(`{3,}|~{3,})[\s\S]*?^\1/gm, "\n")
  for (const [, code] of plain.matchAll(/`([^`\n]{2,200})`/g)) add(thingIn(code!.trim()))
  for (const [path] of plain
    .replace(/`[^`\n]*`|https?:\S+/g, " ")
    .matchAll(/(?<![\w/@.~$-])(?:\.\/)?[\w.-]+(?:\/[\w.-]+)+/g)) {
    const thing = thingIn(path.replace(/[.,;:]+$/, ""))
    if (thing?.kind === "file" && /\.\w{1,8}$/.test(thing.text)) add(thing)
  }
  return [...found.values()]
}

function thingIn(code: string): NamedThing | undefined {
  if (/^--[a-z][\w-]+$/i.test(code)) return { text: code, kind: "option" }
  const path = code.replace(/:\d+(?:[:-]\d+)?$/, "").replace(/#L\d+.*$/, "")
  if (
    /^(?:\.\/)?[\w@.-]+(?:\/[\w@.[\]-]+)*$/.test(path) &&
    (path.includes("/") ? !path.startsWith("@") : isFileName(path))
  )
    return { text: path, kind: "file" }
  const name = /^([A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*)(?:\(\s*[^()]*\))?$/.exec(code)?.[1]
  const isIdentifier = name && (code.endsWith(")") || /[a-z][A-Z]|_|\.|::|#/.test(name)) && name.length >= 3
  return isIdentifier ? { text: code, kind: "name" } : undefined
}

const isFileName = (name: string): boolean =>
  /^[\w-]+(?:\.[\w-]+)*\.(?:[cm]?[jt]sx?|json[c5]?|md|mdx|ya?ml|toml|py|rb|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|php|sh|sql|html|s?css|txt|lock|env|ini|cfg|xml|gradle|proto|vue|svelte)$/i.test(
    name,
  ) || /^(?:Makefile|Dockerfile|Justfile|Rakefile|Gemfile|Procfile)$/.test(name)

/** What must be in a file: the last part of a qualified name. */
const needle = ({ text, kind }: NamedThing): string =>
  kind === "option"
    ? text.replace(/^--/, "")
    : text
        .replace(/\(.*$/s, "")
        .split(/\.|::|#/)
        .at(-1)!

const wordState = (text: string, { found, isComplete }: Search): CodeReference["state"] =>
  found.has(text) ? "current" : isComplete ? "gone" : "unknown"

async function fileState(path: string, { directory }: ClaimOptions): Promise<CodeReference["state"]> {
  const target = normalize(join(directory, path))
  if (isAbsolute(path) || !target.startsWith(normalize(directory) + sep)) return "unknown"
  const exists = await lstat(target).then(
    () => true,
    (error: NodeJS.ErrnoException) => (error.code === "ENOENT" || error.code === "ENOTDIR" ? false : "unknown"),
  )
  if (exists === "unknown") return "unknown"
  // a bare name may be in any folder
  return exists ? "current" : path.includes("/") ? "gone" : "unknown"
}

interface Search {
  readonly found: ReadonlySet<string>
  /** Every file was searched, or everything was found. */
  readonly isComplete: boolean
}

/** Which of the texts occur in the project. */
async function searchFor(given: readonly string[], options: ClaimOptions): Promise<Search> {
  const texts = new Set(given)
  const found = new Set<string>()
  const allFound = new AbortController()
  const note = (line: string) => {
    if (texts.has(line)) found.add(line)
    if (found.size === texts.size) allFound.abort()
    return true
  }
  if (texts.size === 0) return { found, isComplete: true }
  try {
    const output = await runRipgrep({
      program: await ripgrepProgram(),
      args: [...RIPGREP_OPTIONS, ...[...texts].map((text) => `--regexp=${text}`), "--", options.directory],
      cwd: options.directory,
      env: options.env ?? process.env,
      signal: options.signal ? AbortSignal.any([options.signal, allFound.signal]) : allFound.signal,
      timeoutMs: options.timeoutMs ?? SEARCH_MS,
      max: { lines: 1, characters: 1 },
      skip: note,
    })
    return { found, isComplete: output.stopped === undefined && output.problem === undefined }
  } catch {
    return { found, isComplete: allFound.signal.aborted } // no ripgrep here, or stopped
  }
}
