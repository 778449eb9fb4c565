/**
 * Whether something stands in a text: word for word, whatever its line breaks. All marks ask through this, so that a recorded
 * compaction and one of ours are held against the same rule.
 */

/** White space is not part of what was said: a run of it counts as one blank. */
export const plain = (text: string): string => text.replace(/\s+/g, " ").trim()

const BEFORE = /\w[.-]?$/ // `bar.go` does not stand in `foo-bar.go`; it does in `/cmd/bar.go` and behind `--`
const AFTER = /^[/.-]?\w/ // nor in `bar.go.orig` or `bar.go/x`; it does before the full stop of a sentence

/** `piece` in `text`, both made plain before: not as a part of a longer word, name or path. */
export function stands(piece: string, text: string): boolean {
  if (piece === "") return false
  const [isOpen, isClosed] = [!/^[\w/]/.test(piece), !/\w$/.test(piece)] // nothing beside a bracket makes it a longer word
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + 1)) {
    const end = at + piece.length
    const begins = isOpen || !BEFORE.test(text.slice(Math.max(0, at - 2), at))
    if (begins && (isClosed || !AFTER.test(text.slice(end, end + 2)))) return true
  }
  return false
}
