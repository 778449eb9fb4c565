/** Edit: makes an exact replacement in a file that was read and has not changed since. */
import * as z from "zod/v4"
import type { Tool, ToolContext } from "../tool.ts"
import { readTextIfPresent, type TextFile } from "./file-content.ts"
import { formatFullDiff } from "./file-diff.ts"
import { FileError, ignoreFileError } from "./file-error.ts"
import { enqueueChange } from "./file-queue.ts"
import { countLines, linesOf, normalizeLineEndings } from "./line-endings.ts"
import { numberLines } from "./numbered-lines.ts"
import { missingFile, resolveTarget, shortPath, type Target } from "./paths.ts"
import { refuseUnlessKnown, storeText } from "./read-before-write.ts"
import { similarityTo } from "./similarity.ts"
import { canEncode, type DecodedText } from "./text-encoding.ts"
import { type ReplaceResult, replaceText } from "./text-replacement.ts"

const SNIPPET_CONTEXT_LINES = 3
const MAX_SNIPPETS = 3
const MAX_SNIPPET_LINES = 40
const MAX_LINES_NAMED = 10
const LINE_NUMBER = /^\s*\d+\t/

const inputSchema = z.object({
  file_path: z.string().min(1).describe("The file. Absolute, or relative to the working directory."),
  old_string: z.string().describe("The text to replace, exactly as the file has it. Empty only to create a file."),
  new_string: z.string().describe("The text to put in its place. Taken literally."),
  replace_all: z.boolean().optional().describe("Replace every occurrence instead of exactly one."),
})
type EditInput = z.infer<typeof inputSchema>

export const edit: Tool<EditInput> = {
  name: "Edit",
  description: `Replaces text in a file, exactly.

- Read the file first. It must not have changed since.
- old_string must match the file exactly, including indentation, and without the line numbers that Read adds.
- old_string must occur exactly once. If it occurs more often, add the lines around it, or set replace_all to change every occurrence (for a rename, for example).
- new_string is taken literally. The rest of the file stays the same, including line endings and encoding.
- An empty old_string creates a new file with new_string as its content.`,
  inputSchema,

  async question(input, context) {
    const target = await resolveTarget(input.file_path, context)
    const name = shortPath(target.path, context.directory.get())
    const preview = await renderPreview({ target, input, context }).catch(ignoreFileError)
    return { kind: "write", summary: `edit ${name}`, paths: [target.path], ...(preview && { preview }) }
  },

  async execute(input, context) {
    const target = await resolveTarget(input.file_path, context)
    return enqueueChange(target.path, async () => {
      const before = await readTextIfPresent(target, context)
      if (!before && input.old_string !== "") throw await missingFile(target, context.directory.get())
      const after = before ? changeText({ target, before, input, reads: context.reads }) : createText(input)
      const recorded = await storeText({ target, before, after, context })
      const content = before ? describeChange(target, after) : describeNewFile(target, after)
      return { content, touched: [target.path], ...recorded }
    })
  },
}

interface EditResult extends DecodedText {
  readonly places: Extract<ReplaceResult, { state: "replaced" }>["places"]
}

interface EditContext {
  readonly target: Target
  readonly before: TextFile
  readonly input: EditInput
}

function createText({ new_string }: EditInput): EditResult {
  if (new_string === "") throw new FileError("old_string and new_string are both empty: there is nothing to do.")
  return { text: new_string, encoding: "utf-8", places: [] }
}

function changeText({ target, before, input, reads }: EditContext & Pick<ToolContext, "reads">): EditResult {
  refuseNoOp({ target, before, input })
  refuseUnlessKnown({ target, current: before, reads })
  const after = applyReplacement({ target, before, input })
  if (!canEncode(before.encoding, after.text)) {
    throw new FileError(
      `${target.inputPath} is encoded in Latin-1, which lacks characters of new_string. Nothing was changed. ` +
        "Use other characters, or convert the file to UTF-8 first (iconv -f latin1 -t utf8).",
    )
  }
  return { ...after, encoding: before.encoding }
}

function refuseNoOp({ target, before, input }: EditContext): void {
  if (normalizeLineEndings(input.old_string) === normalizeLineEndings(input.new_string)) {
    throw new FileError("old_string and new_string are the same: there is nothing to change.")
  }
  if (input.old_string === "" && before.text !== "") {
    throw new FileError(
      `${target.inputPath} exists and is not empty, so an empty old_string has no place in it. Nothing was changed. ` +
        "Give the text to replace; or use Write to replace the whole file.",
    )
  }
}

function applyReplacement({ target, before, input }: EditContext): Omit<EditResult, "encoding"> {
  if (input.old_string === "") {
    return { text: input.new_string, places: [{ line: 1, lines: linesOf(input.new_string).length }] }
  }
  const all = input.replace_all ?? false
  const replaced = replaceText(before.text, { old: input.old_string, replacement: input.new_string, all })
  if (replaced.state === "missing") throw notFoundError({ target, before, input })
  if (replaced.state === "ambiguous") {
    const { lines } = replaced
    const named = `${lines.slice(0, MAX_LINES_NAMED).join(", ")}${lines.length > MAX_LINES_NAMED ? ", …" : ""}`
    throw new FileError(
      `old_string is in ${target.inputPath} ${lines.length} times (lines ${named}), so it is not clear which one is meant. ` +
        "Nothing was changed. Add lines around it to old_string, or set replace_all.",
    )
  }
  return replaced
}

function notFoundError({ target, before, input }: EditContext): FileError {
  const problem = `old_string is not in ${target.inputPath}. Nothing was changed.`
  const lines = linesOf(input.old_string)
  if (lines.length > 0 && lines.every((line) => LINE_NUMBER.test(line))) {
    return new FileError(
      `${problem} It begins with line numbers, which Read shows but the file does not have: leave them out.`,
    )
  }
  const nearest = nearestLines(before.text, input.old_string)
  if (nearest === undefined) return new FileError(`${problem} Nothing like it is there either: read the file again.`)
  const hint = nearest.onlySpaceDiffers
    ? "Only the white space differs from these lines"
    : "These lines are the most like it"
  return new FileError(`${problem} ${hint}:\n${nearest.shown.join("\n")}`)
}

interface PreviewInput extends Pick<EditContext, "target" | "input"> {
  readonly context: ToolContext
}

/** Diff for the permission question. `undefined` if the edit would fail. */
async function renderPreview({ target, input, context }: PreviewInput): Promise<string | undefined> {
  const before = await readTextIfPresent(target, context)
  if (!before && input.old_string !== "") return undefined
  if (before) refuseNoOp({ target, before, input })
  const after = before ? applyReplacement({ target, before, input }).text : input.new_string
  return formatFullDiff({ before: before?.text ?? "", after })
}

const describeNewFile = ({ inputPath }: Target, { text }: EditResult) => `Created ${inputPath} (${countLines(text)}).`

function describeChange({ inputPath }: Target, { text, places }: EditResult): string {
  const lines = linesOf(text)
  const snippets = places.slice(0, MAX_SNIPPETS).map((place) => snippetAt(lines, place))
  const more = places.length > MAX_SNIPPETS ? [`[${places.length - MAX_SNIPPETS} more places]`] : []
  const where = places.length > 1 ? ` in ${places.length} places` : ""
  return `Updated ${inputPath}${where}. It now reads:\n${[...snippets, ...more].join("\n…\n")}`
}

function snippetAt(lines: readonly string[], place: EditResult["places"][number]): string {
  const from = Math.max(1, place.line - SNIPPET_CONTEXT_LINES)
  const shown = lines.slice(from - 1, place.line - 1 + place.lines + SNIPPET_CONTEXT_LINES)
  const rest = shown.length - MAX_SNIPPET_LINES
  const more = rest > 0 ? [`[${rest} more lines]`] : []
  return [...numberLines(shown.slice(0, MAX_SNIPPET_LINES), from), ...more].join("\n")
}

/** Finds the lines that are most similar to a text that the file does not contain, so that the next edit succeeds. */
const MAX_LINES_SHOWN = 12
const MAX_LINES_SEARCHED = 20_000
const MAX_CHARACTERS_COMPARED = 300 // per line
const MIN_SIMILARITY = 0.5

interface NearestLines {
  readonly shown: readonly string[]
  /** Whether the lines differ only in leading and trailing white space. */
  readonly onlySpaceDiffers: boolean
}

/** Locates the best match of the longest requested line, and returns as many lines around it as were requested. */
function nearestLines(text: string, wanted: string): NearestLines | undefined {
  const lines = linesOf(text)
  const wantedLines = linesOf(wanted)
  const anchor = longestOf(wantedLines)
  const best = mostSimilar(lines, wantedLines[anchor] ?? "")
  if (best === undefined) return undefined
  const from = Math.max(0, best - anchor)
  const found = lines.slice(from, from + wantedLines.length)
  return {
    shown: numberLines(found.slice(0, MAX_LINES_SHOWN), from + 1),
    onlySpaceDiffers: wantedLines.every((line, i) => line.trim() === found[i]?.trim()),
  }
}

function longestOf(lines: readonly string[]): number {
  return lines.reduce((longest, line, at) => (line.trim().length > lines[longest]!.trim().length ? at : longest), 0)
}

function mostSimilar(lines: readonly string[], wanted: string): number | undefined {
  const similarity = similarityTo(wanted.slice(0, MAX_CHARACTERS_COMPARED))
  let best: { readonly at: number; readonly score: number } | undefined
  for (const [at, line] of lines.slice(0, MAX_LINES_SEARCHED).entries()) {
    const score = similarity(line.slice(0, MAX_CHARACTERS_COMPARED))
    if (score > (best?.score ?? MIN_SIMILARITY)) best = { at, score }
  }
  return best?.at
}
