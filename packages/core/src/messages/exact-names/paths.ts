/** Names from paths: the last parts, so that a path is recognisable and short. */

import { isIdentifier, looksRandom } from "./identifiers.ts"
import type { ExactName } from "./name.ts"

const LONGEST_PART = 80 // characters
const SHORT_PATH = 24 // characters; it stays whole
const FILE = /^[^.\s][^\s]*\.[a-z][a-z\d]{0,7}$|^\.[a-z][\w.-]*$|^[A-Z][a-z]+file$/i
const EXTENSIONS = new Set(
  (
    "ts tsx js jsx mjs cjs mts cts py pyi ipynb go mod sum rs rb java kt kts scala swift c h cc cpp hpp cs fs php pl lua r jl dart ex exs erl hs clj vue svelte " +
    "md mdx txt rst adoc pdf doc docx xls xlsx csv tsv json jsonl json5 yaml yml toml ini cfg conf env xml html htm css scss less svg png jpg jpeg gif webp ico " +
    "sh bash zsh fish ps1 bat sql db sqlite log lock map proto graphql tf hcl gradle properties plist diff patch zip gz tar tgz wasm bin exe dll so dylib traj snap tmpl tpl"
  ).split(" "),
)
const HIDDEN = /^\.[a-z][\w.-]{2,}$/i
const NATURAL = /^\p{L}+(?:-\p{L}+)*$/u

/** `main.go`, `.gitignore`, and not `session.prompt`; an ending alone, such as `.ts`, is not a file. */
export function isFileName(word: string): boolean {
  const ending = word.slice(word.lastIndexOf(".") + 1)
  if (EXTENSIONS.has(ending.toLowerCase())) return word.length > ending.length + 1 || ending === "env"
  return HIDDEN.test(word)
}

/** "and/or", "read/write" and ratios are not paths: one begins with ~, . or /, has three parts, or names a file. */
export function pathNames(word: string): readonly ExactName[] {
  const separator = word.includes("/") ? "/" : "\\"
  const path =
    separator === "\\" && !/^[A-Za-z]:|^\\\\|^\.{1,2}\\/.test(word) && /\\[nrt"]/.test(word) ? unescaped(word) : word
  if (path !== word) return path.split(/\s+/).flatMap((part) => (part === "" ? [] : pathNames(part)))
  const parts = word.split(/[\\/]/).filter((part) => part !== "" && part !== "." && part !== ".." && part !== "~")
  const last = parts.at(-1)
  if (last === undefined || last.length > LONGEST_PART || looksRandom(last)) return []
  if (!/\p{L}/u.test(last) && parts.length < 3) return []
  const isRooted = /^[~./\\]|^[A-Za-z]:/.test(word)
  const isRelative = /^\.{1,2}[\\/]/.test(word)
  if (parts.length === 1 && (!isRooted || isRelative)) {
    if (FILE.test(last)) return [{ name: last, kind: "path" }]
    return isIdentifier(last) ? [{ name: last, kind: "identifier" }] : []
  }
  if (parts.length === 2 && !isRooted && parts.every((part) => !FILE.test(part) && isIdentifier(part)))
    return parts.map((name) => ({ name, kind: "identifier" as const })) // "one of loadAll/saveAll"
  const isPath = isRooted || parts.length > 2 || FILE.test(last) || /[\d_]|[a-z][A-Z]/.test(word)
  if (!isPath || (parts.length <= 3 && !isRooted && parts.every((part) => NATURAL.test(part) && part.length < 3)))
    return []
  const isShort = word.length <= SHORT_PATH && !isRelative
  return [{ name: isShort ? word : parts.slice(-2).join(separator), kind: "path" }]
}

/** Text with the line breaks and quotes of JSON in it. */
const unescaped = (word: string) => word.replace(/\\+[nrt"]/g, " ")
