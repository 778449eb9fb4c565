/** Words that are identifiers, and words that only machines write. */

const RANDOM = /[a-z\d]{20}/i
const LINKING = new Set(
  "of to the in and by on a an or for up at as is it per no non re so vs be if do with from out off all own well one two".split(
    " ",
  ),
)

/** camelCase, Two Humps, snake_case, SCREAMING_CASE, kebab-case of three parts, and letters with digits. */
export function isIdentifier(word: string): boolean {
  if (!/^[$@]?[\p{L}\p{N}_$~#%+-]+$/u.test(word) || looksRandom(word)) return false
  if (/^[$@]\w{2,}$/.test(word)) return true
  if (/[\p{L}\p{N}]_[\p{L}\p{N}]|^_+[\p{L}]\w|[a-z\d]_$|\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}{2}/u.test(word))
    return !/^[A-Z]+s$/.test(word)
  if (/\p{L}/u.test(word) && /\d/.test(word))
    return word.length >= 2 && !/^\d+(?:st|nd|rd|th)$/i.test(word) && !/^[A-Za-z]-\d$/.test(word)
  const parts = word.split("-")
  return parts.length >= 3 && parts.every((part) => part.length >= 2 && !LINKING.has(part.toLowerCase()))
}

/** Base64, tokens, ids: a long run in which letters of both cases and digits alternate. */
export function looksRandom(word: string): boolean {
  if (!RANDOM.test(word)) return false
  let changes = 0
  for (let at = 1; at < word.length; at++)
    if (classOf(word.charCodeAt(at)) !== classOf(word.charCodeAt(at - 1))) changes++
  return changes > word.length / 2
}

function classOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return 1
  if (code >= 0x41 && code <= 0x5a) return 2
  return 3
}
