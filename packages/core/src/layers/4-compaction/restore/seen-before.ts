/**
 * Files that the journal mentions and the tools no longer know: after a resume the tools have read nothing yet. They count as read before
 * everything that was read since. A journal may come from someone else, so only files that may be read without asking are named.
 */
import { resolve } from "node:path"
import type { Uuid } from "../../../messages/messages.ts"
import type { FileRead } from "../../../tools/tool.ts"
import type { Artifacts } from "../../../views/record/artifacts.ts"

export interface SeenBefore {
  readonly artifacts: Pick<Artifacts, "files">
  /** The base of relative paths. */
  readonly cwd: string
  /** What the tools know, the oldest first. */
  readonly reads: Iterable<readonly [string, FileRead]>
  /** Messages that stay in view. What they show is not shown again. */
  readonly kept: ReadonlySet<Uuid>
  readonly mayRead: (path: string) => boolean
}

const MOST_FILES = 50 // the newest: hardly any file of an imported journal may exist here
/** Its content is no longer known. It is read from disk before it is shown. */
const FORGOTTEN: FileRead = { content: "", modifiedMs: 0, at: "" }

/** What the journal mentions, then what the tools know; the oldest first. */
export function withSeenBefore(seen: SeenBefore): readonly (readonly [string, FileRead])[] {
  const reads = [...seen.reads]
  const known = new Set(reads.map(([path]) => path))
  const before = [...seen.artifacts.files]
    .filter(([, { deleted, last, onlyByShell }]) => !deleted && !onlyByShell && !seen.kept.has(last))
    .map(([path]) => resolve(seen.cwd, path))
    .filter((path) => !known.has(path) && seen.mayRead(path))
    .slice(-MOST_FILES)
  return [...before.map((path) => [path, FORGOTTEN] as const), ...reads]
}
