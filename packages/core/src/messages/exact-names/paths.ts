/** Names from paths: the last parts, so that a path is recognisable and short. */

import { isIdentifier, looksRandom } from "./identifiers.ts"
import type { ExactName } from "./name.ts"

const LONGEST_PART = 80 // characters
const SHORT_PATH = 24 // characters; it stays whole
const FILE = /^[^.\s][^\s]*\.[a-z][a-z\d]{0,7}$|^\.[a-z][\w.-]*$|^[A-Z][a-z]+file$/i
const NATURAL = /^\p{L}+(?:-\p{L}+)*$/u

/** "and/or", "read/write" and ratios are not paths: one begins with ~, . or /, has three parts, or names a file. */
export function pathNames(word: string): readonly ExactName[] {
  const separator = word.includes("/") ? "/" : "\\"
  const path =
    separator === "\\" && !/^[A-Za-z]:|^\\\\|^\.{1,2}\\/.test(word) && /\\[nrt"]/.test(word) ? unescaped(word) : word
  if (path !== word) return path.split(/\s+/).flatMap((part) => (part === "" ? [] : pathNames(part)))
  const parts = word.split(/[\\/]/).filter((part) => part !== "" && part !== "." && part !== ".." && part !== "~")
  const last = parts.at(-1)
  if (last === undefined || last.length > LONGEST_PART || looksRandom(last)) return []
  const names: ExactName[] = []
  if (!/\p{L}/u.test(last) && parts.length < 3) return []
  const isRooted = /^[~./\\]|^[A-Za-z]:/.test(word)
  if (parts.length === 1 && !isRooted) {
    if (FILE.test(last) || isIdentifier(last)) names.push({ name: last, kind: FILE.test(last) ? "path" : "identifier" })
    return names
  }
  const isPath = isRooted || parts.length > 2 || FILE.test(last) || /[\d_]|[a-z][A-Z]/.test(word)
  if (!isPath || (parts.length <= 3 && !isRooted && parts.every((part) => NATURAL.test(part) && part.length < 3)))
    return []
  return [{ name: word.length <= SHORT_PATH ? word : parts.slice(-2).join(separator), kind: "path" }]
}

/** Text with the line breaks and quotes of JSON in it. */
const unescaped = (word: string) => word.replace(/\\+[nrt"]/g, " ")
