/**
 * Code references in a memory: files, options and functions that it names. Each is looked up before the memory is offered as current.
 * The search is limited; what it cannot decide is unknown.
 */
import { lstat } from "node:fs/promises"
import { isAbsolute, join, normalize, sep } from "node:path"
import { ripgrepProgram, runRipgrep } from "../tools/files/ripgrep.ts"
import type { Memory } from "./memory.ts"

const MAX_REFERENCES = 20
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

/** A file, option or identifier that a memory mentions, and whether the code contains it. */
export interface CodeReference {
  /** As written in the memory. */
  readonly text: string
  readonly kind: "file" | "option" | "name"
  readonly state: "current" | "gone" | "unknown"
}

interface CodeReferenceOptions {
  /** The root of the project. */
  readonly directory: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal
  /** Time limit for all references together. */
  readonly timeoutMs?: number
}

/** Looks up the code references of a memory in the project's files. */
export async function checkCodeReferences(
  memory: Pick<Memory, "description" | "body">,
  options: CodeReferenceOptions,
): Promise<readonly CodeReference[]> {
  const named = findNamedCode(`${memory.description}\n${memory.body}`).slice(0, MAX_REFERENCES)
  const files = named.filter(({ kind }) => kind === "file")
  const others = named.filter(({ kind }) => kind !== "file")
  const [checked, search] = await Promise.all([
    Promise.all(files.map(async (claim) => ({ ...claim, state: await fileState(claim.text, options) }))),
    searchFor(others.map(searchText), options),
  ])
  const states = new Map<string, CodeReference["state"]>([
    ...checked.map(({ text, state }) => [text, state] as const),
    ...others.map((claim) => [claim.text, wordState(searchText(claim), search)] as const),
  ])
  return named.map((claim) => ({ ...claim, state: states.get(claim.text)! }))
}

type NamedCode = Pick<CodeReference, "text" | "kind">

/** Finds paths, options and identifiers in backticks, and paths in plain text. */
export function findNamedCode(text: string): readonly NamedCode[] {
  const found = new Map<string, NamedCode>()
  const add = (thing: NamedCode | undefined) => thing && !found.has(thing.text) && found.set(thing.text, thing)
  const plain = text.replace(/^(`{3,}|~{3,})[\s\S]*?^\1/gm, "\n")
  for (const [, code] of plain.matchAll(/`([^`\n]{2,200})`/g)) add(parseNamedCode(code!.trim()))
  for (const [path] of plain
    .replace(/`[^`\n]*`|https?:\S+/g, " ")
    .matchAll(/(?<![\w/@.~$-])(?:\.\/)?[\w.-]+(?:\/[\w.-]+)+/g)) {
    const thing = parseNamedCode(path.replace(/[.,;:]+$/, ""))
    if (thing?.kind === "file" && /\.\w{1,8}$/.test(thing.text)) add(thing)
  }
  return [...found.values()]
}

function parseNamedCode(code: string): NamedCode | undefined {
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

/** The text to search for: the last part of a qualified name. */
const searchText = ({ text, kind }: NamedCode): string =>
  kind === "option"
    ? text.replace(/^--/, "")
    : text
        .replace(/\(.*$/s, "")
        .split(/\.|::|#/)
        .at(-1)!

const wordState = (text: string, { found, isComplete }: SearchResult): CodeReference["state"] =>
  found.has(text) ? "current" : isComplete ? "gone" : "unknown"

async function fileState(path: string, { directory }: CodeReferenceOptions): Promise<CodeReference["state"]> {
  const target = normalize(join(directory, path))
  if (isAbsolute(path) || !target.startsWith(normalize(directory) + sep)) return "unknown"
  const exists = await lstat(target).then(
    () => true,
    (error: NodeJS.ErrnoException) => (error.code === "ENOENT" || error.code === "ENOTDIR" ? false : "unknown"),
  )
  if (exists === "unknown") return "unknown"
  // a file name without a path may be in any directory
  return exists ? "current" : path.includes("/") ? "gone" : "unknown"
}

interface SearchResult {
  readonly found: ReadonlySet<string>
  /** Whether every file was searched, or everything was found. */
  readonly isComplete: boolean
}

/** Finds out which of the texts occur in the project. */
async function searchFor(requested: readonly string[], options: CodeReferenceOptions): Promise<SearchResult> {
  const texts = new Set(requested)
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
    return { found, isComplete: allFound.signal.aborted } // ripgrep is missing, or was stopped
  }
}
