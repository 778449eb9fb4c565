/**
 * Pairs sessions of this machine with those of the remote. A session that was continued on both sides becomes two: on each side, the other
 * version gets a name derived from the first line in which they differ, so that all machines choose the same name.
 */
import { hash } from "node:crypto"

export interface SessionPair {
  /** Ids of the session on the two sides. */
  readonly here: string
  readonly there: string
}

const DIGITS = 8

/** Name of the other side's version of a session that both sides continued. */
const branchName = (id: string, line: Buffer): string =>
  `${id}-elsewhere-${hash("sha256", line, "hex").slice(0, DIGITS)}`

export type LineComparison =
  | { readonly state: "same" | "ours-longer" | "theirs-longer" }
  /** Both sides were continued. Has the first lines in which they differ. */
  | { readonly state: "diverged"; readonly ours: Buffer; readonly theirs: Buffer }

export function compareLines(ours: Buffer, theirs: Buffer): LineComparison {
  if (ours.equals(theirs)) return { state: "same" }
  if (ours.length > theirs.length && ours.subarray(0, theirs.length).equals(theirs)) return { state: "ours-longer" }
  if (theirs.length > ours.length && theirs.subarray(0, ours.length).equals(ours)) return { state: "theirs-longer" }
  const [mine, other] = [splitLines(ours), splitLines(theirs)]
  const at = mine.findIndex((line, index) => other[index] === undefined || !line.equals(other[index]))
  return { state: "diverged", ours: mine[at]!, theirs: other[at] ?? Buffer.alloc(0) }
}

interface SessionSides {
  /** Lines of each session, by id. */
  readonly here: ReadonlyMap<string, Buffer>
  readonly there: ReadonlyMap<string, Buffer>
}

export function pairSessions({ here, there }: SessionSides): readonly SessionPair[] {
  const pairs: SessionPair[] = []
  for (const [id, lines] of here) {
    const theirs = there.get(id)
    const outcome = theirs && compareLines(lines, theirs)
    if (outcome?.state !== "diverged") continue
    pairs.push({ here: id, there: branchName(id, outcome.ours) }, { here: branchName(id, outcome.theirs), there: id })
  }
  const paired = { here: new Set(pairs.map((pair) => pair.here)), there: new Set(pairs.map((pair) => pair.there)) }
  for (const id of new Set([...here.keys(), ...there.keys()]))
    if (!paired.here.has(id) && !paired.there.has(id)) pairs.push({ here: id, there: id })
  return pairs.sort((a, b) => (a.here < b.here ? -1 : 1))
}

/** Splits into lines without line ends. */
function splitLines(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at)
    const stop = end === -1 ? bytes.length : end
    lines.push(bytes.subarray(at, stop))
    at = stop + 1
  }
  return lines
}
