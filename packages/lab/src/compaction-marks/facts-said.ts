/**
 * The exact things in what was said, which no paraphrase can stand for: addresses, paths and file names, identifiers, numbers of three
 * digits and more. A plain word is none.
 */

/** In this order: addresses, paths, dotted names, numbers with separators, words. */
const CANDIDATES =
  /https?:\/\/[^\s"'`<>()[\]{}|]+|(?:~|\.{1,2}|[\w@-][\w@.-]*)?(?:\/[\w@.-]+)+|\w[\w-]*(?:\.[\w-]+)+|\d{1,3}(?:,\d{3})+(?![/.-]?\w)|\w+(?:-\w+)*/g
const PUNCTUATION_BEHIND = /[.,:;!?-]+$/
const MEASURE = /^\d+(?:st|nd|rd|th|x|s|m|h|d|k|ms|kb|mb|gb)$/i // "3rd", "10MB": an ordinal or a rough size, not a name
const FILE_NAME = /^\w[\w-]+(?:\.[\w-]+)*\.[a-z]\w{0,5}$/i
const SHORTEST = 3 // characters

export function factsIn(text: string): ReadonlySet<string> {
  const facts = new Set<string>()
  for (const [found] of text.matchAll(CANDIDATES)) {
    const fact = found.replace(PUNCTUATION_BEHIND, "")
    if (fact.length >= SHORTEST && isFact(fact)) facts.add(fact)
  }
  return facts
}

function isFact(text: string): boolean {
  if (/^https?:/.test(text)) return true
  if (text.includes("/")) return isPath(text)
  if (text.includes(".")) return FILE_NAME.test(text) || isIdentifier(text)
  return /^\d{3,}$|^\d{1,3}(?:,\d{3})+$/.test(text) || isIdentifier(text)
}

/** "and/or" is none: a path begins like one, goes deeper, or has what makes a name one. */
const isPath = (text: string): boolean =>
  /[a-z]/i.test(text) && (/^[~./]/.test(text) || text.split("/").length > 2 || /\.\w+$|[\d_]/.test(text))

const isIdentifier = (text: string): boolean =>
  /[a-z]/i.test(text) && !MEASURE.test(text) && /[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z]|\d/.test(text)
