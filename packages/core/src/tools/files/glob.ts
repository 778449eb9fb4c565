/** Glob: finds files by name. It follows no symbolic links, so it remains inside the permitted directory. */
import type { readdir } from "node:fs"
import { isAbsolute, join } from "node:path"
import { glob as findFiles } from "tinyglobby"
import * as z from "zod/v4"
import type { Tool, ToolContext } from "../tool.ts"
import { FileError } from "./file-error.ts"
import { VisibleFiles } from "./git-ignore.ts"
import { newestFirst } from "./newest-first.ts"
import { OmittedFiles } from "./omitted-files.ts"
import { resolveTarget, shortPath, statTarget, type Target } from "./paths.ts"

const MAX_FILES = 100
const SEARCH_MS = 20_000
const WILDCARD = /[*?[\]{}()\\!]/
const UPWARDS = /(?:^|[/{,(|])\.\.(?:$|[/},)|])/

const inputSchema = z.object({
  pattern: z.string().min(1).describe("For example `**/*.ts`, `src/**/index.{js,ts}` or `*.md`."),
  path: z.string().min(1).optional().describe("The directory to search in. Default: the working directory."),
})
type GlobInput = z.infer<typeof inputSchema>

export const glob: Tool<GlobInput> = {
  name: "Glob",
  description: `Finds files by name, the most recently changed first.

- \`*\` matches within one name, \`**\` any number of directories, \`{a,b}\` either, \`?\` one character. \`*.ts\` finds only files directly in the directory, \`**/*.ts\` also those below it.
- Files that git ignores are left out, and so are .git and node_modules, unless the search starts inside them.
- It lists at most ${MAX_FILES} files.
- To find files by content, use Grep.`,
  inputSchema,
  readOnly: true,

  async question(input, context) {
    const { root } = await searchScope(input, context)
    const where = shortPath(root.path, context.directory.get())
    return { kind: "read", summary: `find ${input.pattern} in ${where}`, paths: [root.path] }
  },

  async execute(input, context) {
    const { root, pattern } = await searchScope(input, context)
    const stats = await statTarget(root, context.directory.get())
    if (!stats.isDirectory()) throw new FileError(`${root.inputPath} is not a directory to search in.`)
    const visible = await VisibleFiles.under(root.path)
    const tooLong = AbortSignal.timeout(SEARCH_MS)
    const found = await findFiles(pattern, {
      cwd: root.path,
      absolute: true,
      dot: true,
      expandDirectories: false,
      followSymbolicLinks: false,
      fs: { readdir: readdirThrough(visible) },
      signal: AbortSignal.any([context.signal, tooLong]),
    })
    context.signal.throwIfAborted()
    const omitted = new OmittedFiles(context, root.path)
    const shown = await newestFirst(found.filter((path) => !omitted.has(path)))
    return { content: describeFound({ found: shown, input, context, omitted, isPartial: tooLong.aborted }) }
  },
}

interface SearchScope {
  readonly root: Target
  /** Pattern relative to the root. */
  readonly pattern: string
}

/** Splits the pattern: the search starts in the directory before the first wildcard. */
async function searchScope({ pattern, path = "." }: GlobInput, context: ToolContext): Promise<SearchScope> {
  const names = pattern.split("/")
  const fixed = names.slice(0, -1).findIndex((name) => WILDCARD.test(name))
  const depth = fixed < 0 ? names.length - 1 : fixed
  const rest = names.slice(depth).join("/")
  if (UPWARDS.test(rest))
    throw new FileError(`${pattern}: ".." is allowed only at the start of a pattern. Set path instead.`)
  const base = names.slice(0, depth).join("/") || (pattern.startsWith("/") ? "/" : "")
  const begin = isAbsolute(base) || base.startsWith("~") ? base : join(path, base)
  return { root: await resolveTarget(begin, context), pattern: rest === "" ? "*" : rest }
}

/** A `readdir` that omits ignored files. The search makes no other file system call. */
function readdirThrough(visible: VisibleFiles): typeof readdir {
  type Callback = (error: unknown, entries: readonly unknown[]) => void
  const through = (directory: string, _options: unknown, done: Callback) => {
    visible.list(directory).then(
      (entries) => done(null, entries),
      (error) => done(error, []),
    )
  }
  return through as unknown as typeof readdir
}

interface GlobResult {
  readonly found: readonly string[]
  readonly input: GlobInput
  readonly context: ToolContext
  readonly isPartial: boolean
  readonly omitted: OmittedFiles
}

function describeFound({ found, input, context, isPartial, omitted }: GlobResult): string {
  const directory = context.directory.get()
  const notes = [
    ...(found.length > MAX_FILES
      ? [`[${MAX_FILES} of ${found.length} files, the newest first. Narrow the pattern to see others.]`]
      : []),
    ...(isPartial
      ? [`[The search was stopped after ${SEARCH_MS / 1_000} s: there may be more. Search in a smaller directory.]`]
      : []),
    ...omitted.notes(),
  ]
  if (found.length === 0) {
    return [`No files match ${input.pattern}. (Files that git ignores and node_modules are left out.)`, ...notes].join(
      "\n",
    )
  }
  return [...found.slice(0, MAX_FILES).map((path) => shortPath(path, directory)), ...notes].join("\n")
}
