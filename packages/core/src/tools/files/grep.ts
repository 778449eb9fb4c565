/** Grep: searches file contents with ripgrep. It follows no symbolic links, so it remains inside the permitted path. */
import { sep } from "node:path"
import * as z from "zod/v4"
import { MAX_RESULT_CHARACTERS } from "../result-size.ts"
import type { Tool } from "../tool.ts"
import { FileError } from "./file-error.ts"
import { NEVER_ENTERED } from "./git-ignore.ts"
import { newestFirst } from "./newest-first.ts"
import { OmittedFiles } from "./omitted-files.ts"
import { resolveTarget, shortPath, statTarget } from "./paths.ts"
import { type RipgrepOutput, ripgrepProgram, runRipgrep } from "./ripgrep.ts"

const DEFAULT_LINES = 250
const SHORT_CHARACTERS = 40_000 // limit if results are not offloaded
const MAX_COLUMNS = 500
const MAX_FILES_SORTED = 10_000
const SEARCH_MS = 20_000

const lineCount = z.number().int().min(0)
const inputSchema = z.object({
  pattern: z.string().min(1).describe("A regular expression (Rust syntax; look-around and backreferences work too)."),
  path: z.string().min(1).optional().describe("A file or directory. The working directory where it is left out."),
  output_mode: z
    .enum(["files", "content", "count"])
    .optional()
    .describe(
      "files: names only, the newest first (default). content: matching lines. count: matching lines per file.",
    ),
  glob: z.string().min(1).optional().describe("Only files whose name fits, for example `*.ts` or `!*.test.ts`."),
  type: z.string().min(1).optional().describe("Only files of a language, for example `ts`, `py`, `rust`."),
  "-i": z.boolean().optional().describe("Upper and lower case are the same."),
  "-n": z.boolean().optional().describe("Line numbers in content mode. On where it is left out."),
  "-A": lineCount.optional().describe("Lines shown after each match, in content mode."),
  "-B": lineCount.optional().describe("Lines shown before each match, in content mode."),
  "-C": lineCount.optional().describe("Lines shown before and after each match, in content mode."),
  multiline: z.boolean().optional().describe("A match may span lines, and `.` matches line ends."),
  head_limit: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe(`Lines of output at most. ${DEFAULT_LINES} where it is left out.`),
})
type GrepInput = z.infer<typeof inputSchema>

/** `program` is resolved on first use, so that a platform without ripgrep lacks only this tool. */
export function createGrep({
  program,
  timeoutMs = SEARCH_MS,
}: {
  program?: string
  timeoutMs?: number
} = {}): Tool<GrepInput> {
  return {
    name: "Grep",
    description: `Searches the contents of files with a regular expression (ripgrep).

- Begin with output_mode "files" to see where something is, then look closer with "content" or Read.
- Characters with a meaning in regular expressions must be escaped to be found as they are: \`interface\\{\\}\`, \`foo\\(\`.
- Narrow the search with path, glob or type.
- What git ignores and binary files are left out, unless path names the ignored file or directory itself.
- Prefer this to grep or rg in a shell.`,
    inputSchema,
    shortResult: SHORT_CHARACTERS,
    readOnly: true,

    async question(input, context) {
      const { path } = await resolveTarget(input.path ?? ".", context)
      const where = shortPath(path, context.directory.get())
      return { kind: "read", summary: `search ${JSON.stringify(input.pattern)} in ${where}`, paths: [path] }
    },

    async execute(input, context) {
      const directory = context.directory.get()
      const root = await resolveTarget(input.path ?? ".", context)
      const stats = await statTarget(root, directory)
      if (!stats.isFile() && !stats.isDirectory()) {
        throw new FileError(`${root.inputPath} is neither a file nor a directory: it was not opened.`) // a pipe would block it
      }
      const mode = input.output_mode ?? "files"
      const maxLines = input.head_limit ?? DEFAULT_LINES
      const omitted = new OmittedFiles(context, root.path)
      const output = await runRipgrep({
        program: program ?? (await ripgrepProgram()),
        args: [...argumentsFor(input), "--", root.path],
        cwd: directory,
        env: context.env,
        signal: context.signal,
        timeoutMs,
        max:
          mode === "files"
            ? { lines: MAX_FILES_SORTED, characters: Infinity }
            : { lines: maxLines, characters: context.offloadsResults?.() ? MAX_RESULT_CHARACTERS : SHORT_CHARACTERS },
        skip: (line) => line !== GROUP_SEPARATOR && omitted.has(line.split("\0", 1)[0]!),
      })
      if (output.problem !== undefined && output.lines.length === 0) throw patternError(input, output.problem)
      const lines = mode === "files" ? await newestFirst(output.lines) : dropStraySeparators(output.lines)
      const displayed = lines.slice(0, maxLines).map((line) => fromDirectory(withSeparator(line), directory))
      return { content: describeFound({ displayed, found: lines.length, output, mode, timeoutMs, omitted }) }
    },
  }
}

export const grep = createGrep()

/** Builds ripgrep's arguments. Each value is attached to its option, so that nothing the model writes can become a separate option. */
function argumentsFor(input: GrepInput): readonly string[] {
  const mode = input.output_mode ?? "files"
  const isContent = mode === "content"
  const number = (name: "-A" | "-B" | "-C") => (isContent && input[name] !== undefined ? [`${name}${input[name]}`] : [])
  return [
    "--no-config",
    "--hidden",
    "--no-require-git",
    "--no-messages",
    "--color=never",
    "--no-heading",
    "--with-filename",
    "--engine=auto",
    `--max-columns=${MAX_COLUMNS}`,
    "--max-columns-preview",
    ...(mode === "files" ? [] : ["--null"]),
    ...(mode === "files" ? ["--files-with-matches"] : mode === "count" ? ["--count"] : []),
    ...(isContent ? [input["-n"] === false ? "--no-line-number" : "--line-number"] : []),
    ...[...number("-C"), ...number("-A"), ...number("-B")],
    ...(input["-i"] ? ["--ignore-case"] : []),
    ...(input.multiline ? ["--multiline", "--multiline-dotall"] : []),
    ...(input.glob === undefined ? [] : [`--glob=${input.glob}`]),
    ...NEVER_ENTERED.map((name) => `--glob=!${name}`),
    ...(input.type === undefined ? [] : [`--type=${input.type}`]),
    `--regexp=${input.pattern}`,
  ]
}

const GROUP_SEPARATOR = "--"

/** Removes separators that no longer separate groups, after lines of omitted files were removed. */
const dropStraySeparators = (lines: readonly string[]): readonly string[] =>
  lines
    .filter((line, at) => line !== GROUP_SEPARATOR || ![undefined, GROUP_SEPARATOR].includes(lines[at + 1]))
    .filter((line, at) => at > 0 || line !== GROUP_SEPARATOR)

/** Replaces the zero byte that ends a path with ripgrep's usual separator. The zero byte prevents confusing one path with another. */
const withSeparator = (line: string): string =>
  line.replace(/\0(?=(?:\d+([:-]))?)/, (_, after: string | undefined) => after ?? ":")

/** Makes the path at the start of a line relative to the directory. Separators between groups have no path. */
function fromDirectory(line: string, directory: string): string {
  const prefix = directory.endsWith(sep) ? directory : `${directory}${sep}`
  return (line.startsWith(prefix) ? line.slice(prefix.length) : line).toWellFormed()
}

function patternError({ pattern, type }: GrepInput, problem: string): FileError {
  if (/unrecognized file type/.test(problem)) {
    return new FileError(`"${type}" is not a file type ripgrep knows. Use glob instead, for example \`*.${type}\`.`)
  }
  const reasons = problem.match(/^(?:error|PCRE2): .*$/gm) // each engine reports its own reason, along with a drawing of the pattern
  return new FileError(
    `ripgrep cannot search for ${pattern}\n${reasons?.join("\n") ?? problem}\n` +
      "To search for a character that regular expressions use, put a backslash before it.",
  )
}

interface GrepResult {
  readonly displayed: readonly string[]
  readonly found: number
  readonly output: RipgrepOutput
  readonly mode: "files" | "content" | "count"
  readonly timeoutMs: number
  readonly omitted: OmittedFiles
}

function describeFound({ displayed, found, output, mode, timeoutMs, omitted }: GrepResult): string {
  const unit = mode === "content" ? "lines" : "files"
  const isCut = found > displayed.length || output.stopped === "enough"
  const notes = [
    ...(isCut
      ? [`[The first ${displayed.length} ${unit}; there are more. Narrow the search, or raise head_limit.]`]
      : []),
    ...(output.stopped === "time"
      ? [`[The search was stopped after ${timeoutMs / 1_000} s: there may be more. Narrow it.]`]
      : []),
    ...omitted.notes(),
  ]
  return [...(displayed.length > 0 ? displayed : ["No matches."]), ...notes].join("\n")
}
