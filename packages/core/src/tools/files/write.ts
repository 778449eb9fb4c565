/** Write: writes a whole file, new or in place of an old one. An existing file must have been read first. */
import { z } from "zod/v4"
import type { Tool } from "../tool.ts"
import { readTextIfPresent, type TextFile } from "./file-content.ts"
import { diffOf, wholeDiffOf } from "./file-diff.ts"
import { nothingOnFileError } from "./file-error.ts"
import { inTurn } from "./file-turns.ts"
import { refuseUnlessKnown, storeText } from "./known-file.ts"
import { countLines, withEndsOf } from "./line-endings.ts"
import { resolveTarget, shortPath } from "./paths.ts"
import { canHold, type Decoded } from "./text-encoding.ts"

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
    const before = await readTextIfPresent(target, context).catch(nothingOnFileError)
    const name = shortPath(target.path, context.directory.get())
    return {
      kind: "write",
      summary: before ? `write ${name}` : `create ${name}`,
      paths: [target.path],
      preview: wholeDiffOf({ before: before?.text ?? "", after: input.content }),
    }
  },

  async execute(input, context) {
    const target = await resolveTarget(input.file_path, context)
    return inTurn(target.path, async () => {
      const before = await readTextIfPresent(target, context)
      if (before) refuseUnlessKnown({ target, current: before, reads: context.reads })
      const after = before ? inTheWayOf(before, input.content) : asNewFile(input.content)
      const recorded = await storeText({ target, before, after, context })
      const size = countLines(after.text)
      const touched = [target.path]
      if (!before) return { content: `Created ${target.given} (${size}).`, touched, ...recorded }
      const diff = diffOf({ before: before.text, after: after.text, maxLines: RESULT_DIFF_LINES })
      return {
        content: `Updated ${target.given} (${size}).\n${diff || "Its text is the same as before."}`,
        touched,
        ...recorded,
      }
    })
  },
}

/** New content with the old file's line endings and encoding, or UTF-8 where that encoding lacks a character. */
function inTheWayOf({ text, encoding }: TextFile, content: string): Decoded {
  const fresh = asNewFile(withEndsOf(text, content))
  return encoding === "utf-8" || !canHold(encoding, fresh.text) ? fresh : { ...fresh, encoding }
}

function asNewFile(content: string): Decoded {
  return content.startsWith(BYTE_ORDER_MARK)
    ? { text: content.slice(BYTE_ORDER_MARK.length), encoding: "utf-8 with BOM" }
    : { text: content, encoding: "utf-8" }
}
