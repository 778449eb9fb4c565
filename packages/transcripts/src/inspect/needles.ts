/**
 * The names that the marks look for: identifiers, numbers, hashes, addresses and versions. These patterns are on purpose not those of the
 * product: a measurement with the product's own rule would find whatever that rule finds.
 */

const PATTERNS: readonly RegExp[] = [
  /(?<!\w)https?:\/\/[^\s"'`<>()[\]{}|\\]+/g, // addresses
  /\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?|\b[\w.+-]+@[\w-]+\.[\w.]+\b/g,
  /\bv?\d+\.\d+\.\d+(?:-[\w.]+)?\b/g, // versions
  /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b/g, // hashes
  /\b\d{1,3}(?:,\d{3})+\b|(?<![\w.,]|\d-)\d{3,9}\b(?![.,]?\w|-\d)|(?<=:)\d{3,6}(?=-\d)/g, // numbers, lines of files; not parts of dates
  /\b[a-z][a-z0-9]*[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*|\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b/g, // identifiers
]
const TRAILING_PUNCTUATION = /[.,:;!?-]+$/

export function needlesIn(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  let rest = text
  for (const pattern of PATTERNS) {
    rest = rest.replace(pattern, (match) => {
      found.add(match.replace(TRAILING_PUNCTUATION, ""))
      return " " // a part of an address is not a name of its own
    })
  }
  return found
}

/** Whether a text has a name: with nothing of a word on either side. */
export function nameFinder(text: string): (name: string) => boolean {
  const words = new Set(text.match(/\w+/g))
  return (name) => (/^\w+$/.test(name) ? words.has(name) : hasWhole(name, text))
}

function hasWhole(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!/\w/.test(text[at - 1] ?? "") && !/\w/.test(text[at + name.length] ?? "")) return true
  return false
}
