/** Facts that a paraphrase would lose: addresses, paths and file names, identifiers, numbers of three digits or more. Not plain words. */

/** In this order: addresses, paths, dotted names, numbers with separators, words. */
const CANDIDATES =
  /https?:\/\/[^\s"'`<>()[\]{}|]+|(?:~|\.{1,2}|[\w@-][\w@.-]*)?(?:\/[\w@.-]+)+|\w[\w-]*(?:\.[\w-]+)+|\d{1,3}(?:,\d{3})+(?![/.-]?\w)|\w+(?:-\w+)*/g
const TRAILING_PUNCTUATION = /[.,:;!?-]+$/
const MEASURE = /^\d+(?:st|nd|rd|th|x|s|m|h|d|k|ms|kb|mb|gb)$/i // "3rd", "10MB": an ordinal or a rough size, not a name
const FILE_NAME = /^\w[\w-]+(?:\.[\w-]+)*\.[a-z]\w{0,5}$/i
const SHORTEST = 3 // characters

export function factsIn(text: string): ReadonlySet<string> {
  const facts = new Set<string>()
  for (const [found] of text.matchAll(CANDIDATES)) {
    const fact = found.replace(TRAILING_PUNCTUATION, "")
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

/** Not "and/or": a path begins with ~, . or /, has more than one slash, or contains a file name. */
const isPath = (text: string): boolean =>
  /[a-z]/i.test(text) && (/^[~./]/.test(text) || text.split("/").length > 2 || /\.\w+$|[\d_]/.test(text))

const isIdentifier = (text: string): boolean =>
  /[a-z]/i.test(text) && !MEASURE.test(text) && /[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z]|\d/.test(text)
