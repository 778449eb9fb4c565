/**
 * Which session of this machine and which of the remote are the same. A session that went on here and elsewhere is two: on each side, the other
 * one has a name that is made from the first line in which they differ, so that all machines give it the same name.
 */
import { hash } from "node:crypto"

export interface SessionPair {
  /** Ids on the two sides. */
  readonly here: string
  readonly there: string
}

const DIGITS = 8

/** The name of a session that went on from another. */
const branchName = (id: string, line: Buffer): string =>
  `${id}-elsewhere-${hash("sha256", line, "hex").slice(0, DIGITS)}`

export type Compared =
  | { readonly state: "same" | "ours-longer" | "theirs-longer" }
  /** Both went on. The first lines in which they differ. */
  | { readonly state: "parted"; readonly ours: Buffer; readonly theirs: Buffer }

export function compared(ours: Buffer, theirs: Buffer): Compared {
  if (ours.equals(theirs)) return { state: "same" }
  if (ours.length > theirs.length && ours.subarray(0, theirs.length).equals(theirs)) return { state: "ours-longer" }
  if (theirs.length > ours.length && theirs.subarray(0, ours.length).equals(ours)) return { state: "theirs-longer" }
  const [mine, other] = [linesIn(ours), linesIn(theirs)]
  const at = mine.findIndex((line, index) => other[index] === undefined || !line.equals(other[index]))
  return { state: "parted", ours: mine[at]!, theirs: other[at] ?? Buffer.alloc(0) }
}

interface Sides {
  /** Lines of a session, by id. */
  readonly here: ReadonlyMap<string, Buffer>
  readonly there: ReadonlyMap<string, Buffer>
}

export function pairsOf({ here, there }: Sides): readonly SessionPair[] {
  const pairs: SessionPair[] = []
  for (const [id, lines] of here) {
    const theirs = there.get(id)
    const outcome = theirs && compared(lines, theirs)
    if (outcome?.state !== "parted") continue
    pairs.push({ here: id, there: branchName(id, outcome.ours) }, { here: branchName(id, outcome.theirs), there: id })
  }
  const paired = { here: new Set(pairs.map((pair) => pair.here)), there: new Set(pairs.map((pair) => pair.there)) }
  for (const id of new Set([...here.keys(), ...there.keys()]))
    if (!paired.here.has(id) && !paired.there.has(id)) pairs.push({ here: id, there: id })
  return pairs.sort((a, b) => (a.here < b.here ? -1 : 1))
}

/** Without their ends. */
function linesIn(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at)
    const stop = end === -1 ? bytes.length : end
    lines.push(bytes.subarray(at, stop))
    at = stop + 1
  }
  return lines
}
