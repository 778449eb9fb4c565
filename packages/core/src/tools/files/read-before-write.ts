/**
 * Requires that Edit and Write change a file only if this conversation has read or written it and it has not changed since. No result shows
 * a file after a write, so a later Read returns it again.
 */
import { hash } from "node:crypto"
import { preservedMode } from "../../messages/file-change-record.ts"
import type { ReadState, ToolContext, ToolOutput } from "../tool.ts"
import type { TextFile } from "./file-content.ts"
import { FileError } from "./file-error.ts"
import type { Target } from "./paths.ts"
import { replaceFile } from "./replace-file.ts"
import { type DecodedText, decodeText, encodeText } from "./text-encoding.ts"

interface KnownFileCheck {
  readonly target: Target
  /** The current file. */
  readonly current: TextFile
  readonly reads: ReadState
}

/**
 * Throws unless the file was read and is unchanged. Compares contents, because a touched file has not changed and two changes may share a
 * timestamp.
 */
export function refuseUnlessKnown({ target, current, reads }: KnownFileCheck): void {
  const { inputPath, path } = target
  const seen = reads.get(path)
  if (seen === undefined) {
    throw new FileError(
      `${inputPath} exists and has not been read in this conversation. Nothing was changed. Read it first.`,
    )
  }
  if (seen.content !== current.text) {
    throw new FileError(
      `${inputPath} has changed since it was read (${seen.at}): it was last modified at ${current.stats.mtime.toISOString()}, ` +
        "by the user, a formatter or another program. Nothing was changed. Read it again, then repeat the change.",
    )
  }
}

interface TextToStore {
  readonly target: Target
  readonly before: TextFile | undefined
  readonly after: DecodedText
  readonly context: ToolContext
}

/** Writes the file. If earlier contents are stored, resolves with the change for the journal. */
export async function storeText({
  target,
  before,
  after,
  context,
}: TextToStore): Promise<Pick<ToolOutput, "filesChanged">> {
  const { signal, snapshotFile, reads, clock } = context
  signal.throwIfAborted()
  const bytes = encodeText(after)
  const earlier = before && (await snapshotFile?.(before.bytes))
  const { mtimeMs } = await replaceFile({ target, bytes, ...(before && { before: before.stats }) })
  reads.set(target.path, {
    content: decodeText(bytes)?.text ?? after.text, // as a later read will decode it: half a surrogate pair is lost
    modifiedMs: mtimeMs,
    at: clock.now().toISOString(),
  })
  if (!snapshotFile) return {}
  const change = {
    path: target.path,
    ...(before && earlier && { before: earlier, ...preservedMode(before.stats.mode) }),
    after: hash("sha256", bytes, "hex"),
  }
  return { filesChanged: { files: [], kept: [change] } }
}
