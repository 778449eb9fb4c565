/**
 * Searches a text word for word, ignoring line breaks. All scores use this search, so the same rule applies to recorded compactions and
 * Strata's.
 */

/** Replaces each run of white space by one blank. */
export const plain = (text: string): string => text.replace(/\s+/g, " ").trim()

const BEFORE = /\w[.-]?$/ // `bar.go` is not in `foo-bar.go`, but it is in `/cmd/bar.go` and after `--`
const AFTER = /^[/.-]?\w/ // nor is it in `bar.go.orig` or `bar.go/x`, but it may be before a full stop

/** Whether `needle` is in `text` and not within a longer word, name or path. Both must be plain. */
export function isIn(needle: string, text: string): boolean {
  if (needle === "") return false
  const [isOpen, isClosed] = [!/^[\w/]/.test(needle), !/\w$/.test(needle)] // a bracket is never within a longer word
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
    const end = at + needle.length
    const begins = isOpen || !BEFORE.test(text.slice(Math.max(0, at - 2), at))
    if (begins && (isClosed || !AFTER.test(text.slice(end, end + 2)))) return true
  }
  return false
}
