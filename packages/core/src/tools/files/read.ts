/**
 * Read: a file's lines with their numbers, an image, or a PDF. It limits itself (L1-1), and says how to go on where it stopped. A file
 * whose earlier read is still whole in view is not shown again (LOOP-8).
 */
import { z } from "zod/v4"
import { createEstimator } from "../../tokens/estimate.ts"
import type { FileRead, Tool, ToolContext, ToolOutput } from "../tool.ts"
import { readContent } from "./file-content.ts"
import { FileError } from "./file-error.ts"
import { describeBinary, kindOf } from "./file-kind.ts"
import { linesOf } from "./line-endings.ts"
import { MOST_LINE_CHARACTERS, numberLines } from "./numbered-lines.ts"
import { resolveTarget, shortPath, type Target } from "./paths.ts"
import { documentBlocks, imageBlocks } from "./read-media.ts"
import { decodeText } from "./text-encoding.ts"

const DEFAULT_LINES = 2_000
const MOST_CHARACTERS = 100_000
const MOST_TOKENS = 25_000
// The tool does not know the model: sizes are estimated for the family that takes the most tokens.
const estimator = createEstimator("claude-5")

const inputSchema = z.object({
  file_path: z.string().min(1).describe("The file. Absolute, or relative to the working directory."),
  offset: z.number().int().min(0).optional().describe("The first line to show, counted from 1. Only for long files."),
  limit: z.number().int().min(1).optional().describe(`How many lines to show. ${DEFAULT_LINES} where it is left out.`),
})
type ReadInput = z.infer<typeof inputSchema>

export const read: Tool<ReadInput> = {
  name: "Read",
  description: `Shows a file from disk.

- Text comes with line numbers: the number, a tab, the line. The numbers are not part of the file.
- Without offset and limit it shows the file from the start, up to ${DEFAULT_LINES} lines or ${MOST_TOKENS} tokens. If there is more, the result ends with the offset to go on from.
- Lines over ${MOST_LINE_CHARACTERS} characters are cut, and say so.
- Images (PNG, JPEG, GIF, WebP) and PDF documents are shown as such. Notebooks are shown as the JSON they are.
- A file must be read before Edit or Write may change it. Read several files in one go if you need them all.
- It reads files, not directories: use Glob to find files, Grep to find the place in them.
- If the result says that the file is unchanged, what you were shown earlier still holds.`,
  inputSchema,
  limitsItself: true,
  readOnly: true,

  async question({ file_path }, context) {
    const { path } = await resolveTarget(file_path, context)
    return { kind: "read", summary: `read ${shortPath(path, context.directory.get())}`, paths: [path] }
  },

  async execute(input, context) {
    const target = await resolveTarget(input.file_path, context)
    const { bytes, stats } = await readContent(target, context)
    const file = { given: target.given, bytes }
    const kind = kindOf(bytes)
    const touched = [target.path]
    if (kind.kind === "image") return { content: imageBlocks(file, kind.mediaType), touched }
    if (kind.kind === "pdf") return { content: documentBlocks(file), touched }
    const decoded = decodeText(bytes)
    if (decoded === undefined) {
      throw new FileError(
        `${target.given} is not text (${describeBinary(bytes, target.path)}). Look into it with a program made for it.`,
      )
    }
    return showText({ target, content: decoded.text, modifiedMs: stats.mtimeMs, input, context })
  },
}

interface TextToShow {
  readonly target: Target
  readonly content: string
  readonly modifiedMs: number
  readonly input: ReadInput
  readonly context: ToolContext
}

function showText({ target, content, modifiedMs, input, context }: TextToShow): ToolOutput {
  const page = pageOf(linesOf(content), input)
  if (page.first > 1 && page.shown.length === 0) {
    throw new FileError(`${target.given} has ${page.total} lines: none from offset ${page.first} on.`)
  }
  const touched = [target.path]
  const range = page.shown.length < page.total ? { offset: page.first, limit: page.shown.length } : undefined
  const earlier = context.reads.get(target.path)
  if (earlier && showsTheSame(earlier, { content, range })) return { content: unchanged(target, earlier), touched }

  context.reads.set(target.path, {
    content,
    modifiedMs,
    at: context.clock.now().toISOString(),
    toolUseId: context.toolUseId,
    ...(range && { range }),
  })
  return { content: page.total === 0 ? `[${target.given} is empty.]` : textOfPage(page), touched }
}

/** Only a call's own result shows a file whole; what Edit and Write know of it stands nowhere in one piece. */
function showsTheSame(earlier: FileRead, { content, range }: Pick<FileRead, "content"> & { range: FileRead["range"] }) {
  return (
    earlier.toolUseId !== undefined &&
    earlier.content === content &&
    earlier.range?.offset === range?.offset &&
    earlier.range?.limit === range?.limit
  )
}

/** One line in brackets: whoever looks for a file's text in results must not take this for it. */
function unchanged({ given }: Target, { range, toolUseId, at }: FileRead): string {
  const what = range ? `Lines ${range.offset}-${range.offset + range.limit - 1} of ${given} are` : `${given} is`
  return `[${what} unchanged since you read it at ${at} (call ${toolUseId}). That result still holds and is not repeated here.]`
}

interface Page {
  /** The number of the first line shown. */
  readonly first: number
  readonly shown: readonly string[]
  readonly total: number
}

function pageOf(lines: readonly string[], { offset = 1, limit = DEFAULT_LINES }: ReadInput): Page {
  const first = Math.max(1, offset)
  const wanted = numberLines(lines.slice(first - 1, first - 1 + limit), first)
  return { first, shown: thatFit(wanted), total: lines.length }
}

/** The first of the lines, as many as one result may hold. */
function thatFit(lines: readonly string[]): readonly string[] {
  let fitting = lines
  for (let load = loadOf(fitting); load > 1 && fitting.length > 1; load = loadOf(fitting)) {
    fitting = fitting.slice(0, Math.max(1, Math.floor(fitting.length / load)))
  }
  return fitting
}

/** How full a result would be: 1 is as much as it may hold. */
function loadOf(lines: readonly string[]): number {
  const characters = lines.reduce((sum, line) => sum + line.length + 1, 0) / MOST_CHARACTERS
  return characters > 1 ? characters : Math.max(characters, estimator.text(lines.join("\n")) / MOST_TOKENS)
}

function textOfPage({ first, shown, total }: Page): string {
  const last = first + shown.length - 1
  const rest = last < total ? [`[Lines ${first}-${last} of ${total}. To go on: offset ${last + 1}.]`] : []
  return [...shown, ...rest].join("\n")
}
