/** Unified diffs of two texts: shortened for the model, complete for the user who approves a change. */
import { structuredPatch } from "diff"
import { countLines, normalizeLineEndings } from "./line-endings.ts"
import { shortenLine } from "./numbered-lines.ts"

const CONTEXT_LINES = 3
const MAX_DIFF_CHARACTERS_PER_LINE = 300
const DIFF_MS = 300 // after this time, the texts differ so much that a diff is useless

export interface TextChange {
  readonly before: string
  readonly after: string
  /** Maximum lines of the diff. */
  readonly maxLines: number
}

/** Formats the hunks without a file header. Empty if only line endings differ. */
export function formatDiff({ before, after, maxLines }: TextChange): string {
  const [old, fresh] = [normalizeLineEndings(before), normalizeLineEndings(after)]
  const hunks = hunksOf(old, fresh)
  if (hunks === undefined) {
    return `[too different for a diff: ${countLines(old)} before, ${countLines(fresh)} after]`
  }
  const lines = hunks.map((line) => shortenLine(line, MAX_DIFF_CHARACTERS_PER_LINE))
  const rest = lines.length - maxLines
  return rest > 0 ? [...lines.slice(0, maxLines), `[${rest} more lines of diff]`].join("\n") : lines.join("\n")
}

/** Formats the complete diff for the user who approves the change. Nothing is cut or omitted. */
export function formatFullDiff({ before, after }: Pick<TextChange, "before" | "after">): string {
  const [old, fresh] = [normalizeLineEndings(before), normalizeLineEndings(after)]
  return (hunksOf(old, fresh) ?? [...signed("-", old), ...signed("+", fresh)]).join("\n")
}

function hunksOf(old: string, fresh: string): readonly string[] | undefined {
  const patch = structuredPatch("", "", old, fresh, "", "", { context: CONTEXT_LINES, timeout: DIFF_MS })
  return patch?.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ])
}

const signed = (sign: string, text: string): readonly string[] =>
  text === ""
    ? []
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => sign + line)
