/**
 * Finds names for measurements: identifiers, numbers, hashes, addresses and versions. The patterns deliberately differ from the product's:
 * a measurement with the product's own rule would miss what that rule misses.
 */

const PATTERNS: readonly RegExp[] = [
  /(?<!\w)https?:\/\/[^\s"'`<>()[\]{}|\\]+/g, // URLs
  /\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?|\b[\w.+-]+@[\w-]+\.[\w.]+\b/g,
  /\bv?\d+\.\d+\.\d+(?:-[\w.]+)?\b/g, // versions
  /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b/g, // hashes
  // numbers and line numbers of files; not parts of dates
  /\b\d{1,3}(?:,\d{3})+\b|(?<![\w.,]|\d-)\d{3,9}\b(?![.,]?\w|-\d)|(?<=:)\d{3,6}(?=-\d)/g,
  /\b[a-z][a-z0-9]*[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*|\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b/g, // identifiers
]
const TRAILING_PUNCTUATION = /[.,:;!?-]+$/

export function findMeasuredNames(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  let rest = text
  for (const pattern of PATTERNS) {
    rest = rest.replace(pattern, (match) => {
      found.add(match.replace(TRAILING_PUNCTUATION, ""))
      return " " // parts of a match are not names of their own
    })
  }
  return found
}

/** Returns a function that tests whether the text contains a name as a complete word. */
export function nameFinder(text: string): (name: string) => boolean {
  const words = new Set(text.match(/\w+/g))
  return (name) => (/^\w+$/.test(name) ? words.has(name) : containsWord(name, text))
}

function containsWord(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!/\w/.test(text[at - 1] ?? "") && !/\w/.test(text[at + name.length] ?? "")) return true
  return false
}
