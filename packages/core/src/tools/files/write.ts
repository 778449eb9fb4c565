/** Write: creates a file or replaces its complete content. An existing file must have been read first. */
import * as z from "zod/v4"
import type { Tool } from "../tool.ts"
import { readTextIfPresent, type TextFile } from "./file-content.ts"
import { formatDiff, formatFullDiff } from "./file-diff.ts"
import { ignoreFileError } from "./file-error.ts"
import { enqueueChange } from "./file-queue.ts"
import { countLines, matchLineEndings } from "./line-endings.ts"
import { resolveTarget, shortPath } from "./paths.ts"
import { refuseUnlessKnown, storeText } from "./read-before-write.ts"
import { canEncode, type DecodedText } from "./text-encoding.ts"

const RESULT_DIFF_LINES = 40
const BYTE_ORDER_MARK = "\ufeff"

const inputSchema = z.object({
  file_path: z.string().min(1).describe("The file. Absolute, or relative to the working directory."),
  content: z.string().describe("The whole content of the file."),
})
type WriteInput = z.infer<typeof inputSchema>

export const write: Tool<WriteInput> = {
  name: "Write",
  description: `Writes a whole file: creates it, with its directories, or replaces its content.

- If the file exists, read it first. It must not have changed since.
- To change part of a file, use Edit: it is shorter and cannot lose the rest.
- An existing file keeps its line endings and encoding. Write plain \\n.
- Create only the files that the task needs.`,
  inputSchema,

  async question(input, context) {
    const target = await resolveTarget(input.file_path, context)
    const before = await readTextIfPresent(target, context).catch(ignoreFileError)
    const name = shortPath(target.path, context.directory.get())
    return {
      kind: "write",
      summary: before ? `write ${name}` : `create ${name}`,
      paths: [target.path],
      preview: formatFullDiff({ before: before?.text ?? "", after: input.content }),
    }
  },

  async execute(input, context) {
    const target = await resolveTarget(input.file_path, context)
    return enqueueChange(target.path, async () => {
      const before = await readTextIfPresent(target, context)
      if (before) refuseUnlessKnown({ target, current: before, reads: context.reads })
      const after = before ? withFormatOf(before, input.content) : asNewFile(input.content)
      const recorded = await storeText({ target, before, after, context })
      const size = countLines(after.text)
      const touched = [target.path]
      if (!before) return { content: `Created ${target.inputPath} (${size}).`, touched, ...recorded }
      const diff = formatDiff({ before: before.text, after: after.text, maxLines: RESULT_DIFF_LINES })
      return {
        content: `Updated ${target.inputPath} (${size}).\n${diff || "Its text is the same as before."}`,
        touched,
        ...recorded,
      }
    })
  },
}

/** The new content with the old file's line endings and encoding, or UTF-8 if that encoding lacks a character. */
function withFormatOf({ text, encoding }: TextFile, content: string): DecodedText {
  const fresh = asNewFile(matchLineEndings(text, content))
  return encoding === "utf-8" || !canEncode(encoding, fresh.text) ? fresh : { ...fresh, encoding }
}

function asNewFile(content: string): DecodedText {
  return content.startsWith(BYTE_ORDER_MARK)
    ? { text: content.slice(BYTE_ORDER_MARK.length), encoding: "utf-8 with BOM" }
    : { text: content, encoding: "utf-8" }
}
