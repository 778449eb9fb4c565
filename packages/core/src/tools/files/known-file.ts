/**
 * Edit and Write change a file only if this conversation has read or written it, and it has not changed since. After a write no result
 * shows the file, so a later Read does.
 */
import { hash } from "node:crypto"
import { keptMode } from "../../messages/kept-change.ts"
import type { ReadState, ToolContext, ToolOutput } from "../tool.ts"
import type { TextFile } from "./file-content.ts"
import { FileError } from "./file-error.ts"
import type { Target } from "./paths.ts"
import { replaceFile } from "./replace-file.ts"
import { type Decoded, decodeText, encodeText } from "./text-encoding.ts"

interface KnownFileCheck {
  readonly target: Target
  /** The file as it is now. */
  readonly current: TextFile
  readonly reads: ReadState
}

/** Compares the text, not the time: a touched file has not changed, and two changes may share a timestamp. */
export function refuseUnlessKnown({ target, current, reads }: KnownFileCheck): void {
  const { given, path } = target
  const seen = reads.get(path)
  if (seen === undefined) {
    throw new FileError(
      `${given} exists and has not been read in this conversation. Nothing was changed. Read it first.`,
    )
  }
  if (seen.content !== current.text) {
    throw new FileError(
      `${given} has changed since it was read (${seen.at}): it was last modified at ${current.stats.mtime.toISOString()}, ` +
        "by the user, a formatter or another program. Nothing was changed. Read it again, then repeat the change.",
    )
  }
}

interface TextToStore {
  readonly target: Target
  readonly before: TextFile | undefined
  readonly after: Decoded
  readonly context: ToolContext
}

/** Writes the file. Resolves with what the journal records of the change, where earlier contents are kept. */
export async function storeText({
  target,
  before,
  after,
  context,
}: TextToStore): Promise<Pick<ToolOutput, "filesChanged">> {
  const { signal, keepFile, reads, clock } = context
  signal.throwIfAborted()
  const bytes = encodeText(after)
  const earlier = before && (await keepFile?.(before.bytes))
  const { mtimeMs } = await replaceFile({ target, bytes, ...(before && { before: before.stats }) })
  reads.set(target.path, {
    content: decodeText(bytes)?.text ?? after.text, // as a later read will see it: half a surrogate pair does not survive
    modifiedMs: mtimeMs,
    at: clock.now().toISOString(),
  })
  if (!keepFile) return {}
  const change = {
    path: target.path,
    ...(before && earlier && { before: earlier, ...keptMode(before.stats.mode) }),
    after: hash("sha256", bytes, "hex"),
  }
  return { filesChanged: { files: [], kept: [change] } }
}
