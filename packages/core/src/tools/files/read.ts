/**
 * Read: shows a file's lines with numbers, an image, or a PDF. It limits its results and explains how to continue. It does not repeat a
 * file if the model still has the complete result of an earlier read.
 */
import * as z from "zod/v4"
import type { Block } from "../../messages/blocks.ts"
import { listMedia, MEDIA_LIMITS, type MediaItem, planWithholding } from "../../messages/media.ts"
import { createEstimator } from "../../tokens/estimate.ts"
import type { FileRead, Tool, ToolContext, ToolOutput } from "../tool.ts"
import { readContent } from "./file-content.ts"
import { FileError } from "./file-error.ts"
import { describeBinary, detectKind, formatBytes, type ImageType } from "./file-kind.ts"
import { linesOf } from "./line-endings.ts"
import { MAX_LINE_CHARACTERS, numberLines } from "./numbered-lines.ts"
import { resolveTarget, shortPath, type Target } from "./paths.ts"
import { decodeText } from "./text-encoding.ts"

const DEFAULT_LINES = 2_000
const MAX_CHARACTERS = 100_000
const MAX_TOKENS = 25_000
// The tool does not know the model, so it estimates for the model family that needs the most tokens.
const estimator = createEstimator("claude-5")

const inputSchema = z.object({
  file_path: z.string().min(1).describe("The file. Absolute, or relative to the working directory."),
  offset: z.number().int().min(0).optional().describe("The first line to show, counted from 1. Only for long files."),
  limit: z.number().int().min(1).optional().describe(`How many lines to show. Default: ${DEFAULT_LINES}.`),
})
type ReadInput = z.infer<typeof inputSchema>

export const read: Tool<ReadInput> = {
  name: "Read",
  description: `Shows a file from disk.

- Text comes with line numbers: the number, a tab, the line. The numbers are not part of the file.
- Without offset and limit it shows the file from the start, up to ${DEFAULT_LINES} lines or ${MAX_TOKENS} tokens. If there is more, the result ends with the offset to continue from.
- Lines over ${MAX_LINE_CHARACTERS} characters are cut and marked as cut.
- Images (PNG, JPEG, GIF, WebP) and PDF documents are shown as images and documents. Notebooks are shown as JSON.
- A file must be read before Edit or Write may change it. If you need several files, read them in one response.
- It reads files, not directories. Use Glob to find files and Grep to find places in them.
- If the result says that the file is unchanged, the earlier result is still correct.`,
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
    const file = { given: target.inputPath, bytes }
    const kind = detectKind(bytes)
    const touched = [target.path]
    if (kind.kind === "image") return { content: imageBlocks(file, kind.mediaType), touched }
    if (kind.kind === "pdf") return { content: documentBlocks(file), touched }
    const decoded = decodeText(bytes)
    if (decoded === undefined) {
      throw new FileError(
        `${target.inputPath} is not text (${describeBinary(bytes, target.path)}). Look into it with a program made for it.`,
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
  const page = pageLines(linesOf(content), input)
  if (page.first > 1 && page.shown.length === 0) {
    throw new FileError(`${target.inputPath} has ${page.total} lines: none from offset ${page.first} on.`)
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
  return { content: page.total === 0 ? `[${target.inputPath} is empty.]` : textOfPage(page), touched }
}

/** Whether an earlier read showed the same lines. Edit and Write also record the content, but no result shows it. */
function showsTheSame(earlier: FileRead, { content, range }: Pick<FileRead, "content"> & { range: FileRead["range"] }) {
  return (
    earlier.toolUseId !== undefined &&
    earlier.content === content &&
    earlier.range?.offset === range?.offset &&
    earlier.range?.limit === range?.limit
  )
}

/** Note for an unchanged file, in brackets to distinguish it from the text of the file. */
function unchanged({ inputPath }: Target, { range, toolUseId, at }: FileRead): string {
  const subject = range
    ? `Lines ${range.offset}-${range.offset + range.limit - 1} of ${inputPath} are`
    : `${inputPath} is`
  return `[${subject} unchanged since you read it at ${at} (call ${toolUseId}). That result still holds and is not repeated here.]`
}

interface FilePage {
  /** Number of the first line on the page. */
  readonly first: number
  readonly shown: readonly string[]
  readonly total: number
}

function pageLines(lines: readonly string[], { offset = 1, limit = DEFAULT_LINES }: ReadInput): FilePage {
  const first = Math.max(1, offset)
  const requested = numberLines(lines.slice(first - 1, first - 1 + limit), first)
  return { first, shown: fitLines(requested), total: lines.length }
}

/** The first lines, as many as fit in one result. */
function fitLines(lines: readonly string[]): readonly string[] {
  let fitting = lines
  for (let load = loadOf(fitting); load > 1 && fitting.length > 1; load = loadOf(fitting)) {
    fitting = fitting.slice(0, Math.max(1, Math.floor(fitting.length / load)))
  }
  return fitting
}

/** Size of a result as a fraction of its limits: 1 is the maximum. */
function loadOf(lines: readonly string[]): number {
  const characters = lines.reduce((sum, line) => sum + line.length + 1, 0) / MAX_CHARACTERS
  return characters > 1 ? characters : Math.max(characters, estimator.text(lines.join("\n")) / MAX_TOKENS)
}

function textOfPage({ first, shown, total }: FilePage): string {
  const last = first + shown.length - 1
  const rest = last < total ? [`[Lines ${first}-${last} of ${total}. To go on: offset ${last + 1}.]`] : []
  return [...shown, ...rest].join("\n")
}

/** An image or PDF to show as a block. If the API would refuse it, an error gives the reason and an alternative. */
interface MediaFile {
  readonly given: string
  readonly bytes: Buffer
}

function imageBlocks({ given, bytes }: MediaFile, mediaType: ImageType): readonly Block[] {
  const source = { type: "base64", media_type: mediaType, data: bytes.toString("base64") } as const
  const block: Block = { type: "image", source }
  const { item, refusal } = judge(block)
  const advice = "Make a smaller copy with a command, for example `magick IN -resize 1600x1600 OUT.png`, and read that."
  if (item.pixels === undefined) {
    throw refused({
      given,
      bytes,
      subject: mediaType,
      why: "its header is damaged, so the API would refuse it",
      advice: "",
    })
  }
  if (refusal !== undefined) throw refused({ given, bytes, subject: mediaType, why: refusal, advice })
  return [{ type: "text", text: `${given}: ${mediaType}, ${item.pixels.width}×${item.pixels.height} pixels` }, block]
}

/** A PDF is sent completely, because splitting it into pages needs another program. */
function documentBlocks({ given, bytes }: MediaFile): readonly Block[] {
  const source = { type: "base64", media_type: "application/pdf", data: bytes.toString("base64") } as const
  const block: Block = { type: "document", source }
  const { refusal } = judge(block)
  const advice = "Take its text with a command, for example `pdftotext -f 1 -l 20 IN.pdf -`."
  if (refusal !== undefined) throw refused({ given, bytes, subject: "application/pdf", why: refusal, advice })
  return [{ type: "text", text: `${given}: PDF document, ${formatBytes(bytes.length)}` }, block]
}

/** Checks the block with the rules that apply to every request. */
function judge(block: Block): { readonly item: MediaItem; readonly refusal: string | undefined } {
  const message = { role: "user" as const, content: [block] }
  const items = listMedia({ type: "user", uuid: "read", parentUuid: null, timestamp: "", message })
  return { item: items[0]!, refusal: planWithholding(items, new Set(), MEDIA_LIMITS)[0]?.why }
}

interface Refusal extends MediaFile {
  readonly subject: string
  readonly why: string
  readonly advice: string
}

function refused({ given, bytes, subject, why, advice }: Refusal): FileError {
  return new FileError(
    `${given} (${subject}, ${formatBytes(bytes.length)}) cannot be shown: ${why}. ${advice}`.trimEnd(),
  )
}
