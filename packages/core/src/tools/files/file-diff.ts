/** Unified diffs of two texts: short for the model, whole for a person who decides. */
import { structuredPatch } from "diff"
import { countLines, withPlainEnds } from "./line-endings.ts"
import { shortenLine } from "./numbered-lines.ts"

const CONTEXT_LINES = 3
const MAX_DIFF_CHARACTERS_PER_LINE = 300
const DIFF_MS = 300 // after this, two texts have so little in common that a diff says nothing

export interface TextChange {
  readonly before: string
  readonly after: string
  /** Lines of the diff shown. */
  readonly maxLines: number
}

/** The hunks without a file header. Empty if only line endings differ. */
export function diffOf({ before, after, maxLines }: TextChange): string {
  const [old, fresh] = [withPlainEnds(before), withPlainEnds(after)]
  const hunks = hunksOf(old, fresh)
  if (hunks === undefined) {
    return `[too different for a diff: ${countLines(old)} before, ${countLines(fresh)} after]`
  }
  const lines = hunks.map((line) => shortenLine(line, MAX_DIFF_CHARACTERS_PER_LINE))
  const rest = lines.length - maxLines
  return rest > 0 ? [...lines.slice(0, maxLines), `[${rest} more lines of diff]`].join("\n") : lines.join("\n")
}

/** Everything that changes, for a person who decides about it. Nothing is cut or left out. */
export function wholeDiffOf({ before, after }: Pick<TextChange, "before" | "after">): string {
  const [old, fresh] = [withPlainEnds(before), withPlainEnds(after)]
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
