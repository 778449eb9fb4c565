/**
 * Files that the record tells of and the tools no longer know: after a resume they have seen nothing yet. They count as read before
 * everything that was read since (L4-20). A record may come from somebody else, so only what may be read without asking is named.
 */
import { resolve } from "node:path"
import type { Uuid } from "../../../messages/messages.ts"
import type { FileRead } from "../../../tools/tool.ts"
import type { Artifacts } from "../../../views/record/artifacts.ts"

export interface SeenBefore {
  readonly artifacts: Pick<Artifacts, "files">
  /** What relative paths begin at. */
  readonly cwd: string
  /** What the tools know, the oldest first. */
  readonly reads: Iterable<readonly [string, FileRead]>
  /** Messages that stay in view: what they show needs no second showing. */
  readonly kept: ReadonlySet<Uuid>
  readonly mayRead: (path: string) => boolean
}

const MOST_FILES = 50 // the newest: of an imported record hardly any may be there
/** Nothing of its content is known any more; it is read from disk before it is shown. */
const FORGOTTEN: FileRead = { content: "", modifiedMs: 0, at: "" }

/** What the tools know, behind what the record tells; the oldest first. */
export function withSeenBefore(seen: SeenBefore): readonly (readonly [string, FileRead])[] {
  const reads = [...seen.reads]
  const known = new Set(reads.map(([path]) => path))
  const before = [...seen.artifacts.files]
    .filter(([, { deleted, last }]) => !deleted && !seen.kept.has(last))
    .map(([path]) => resolve(seen.cwd, path))
    .filter((path) => !known.has(path) && seen.mayRead(path))
    .slice(-MOST_FILES)
  return [...before.map((path) => [path, FORGOTTEN] as const), ...reads]
}
