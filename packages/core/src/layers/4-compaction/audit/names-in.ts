/** Finds the exact names in a text, with their places: paths, identifiers, hashes and versions. */
import { exactNamesIn, type NameKind } from "../../../messages/exact-names.ts"
import { ESCAPE } from "./text.ts"

export type NameClass = "paths" | "identifiers" | "hashes" | "versions"

export interface Name {
  readonly class: NameClass
  readonly text: string
  readonly at: number
}

// Each pattern tries a run of characters once: none may begin inside a run, and no part repeats what another part could match.
const URL = /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s`"'<>)\]]+/giu
const PATH =
  /(?<![\w./@~$*{}<>+-])(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/]?[\w.@+-]+)?(?:[\\/][\w.@+-]+)+\/?(?![\w*{}<>$/\\-])/gu
const FILE = /(?<![\w./@~$*{}<>+-])[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w*{}<>$/(-])/gu
const UUID = /(?<![\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])/giu
const HASH = /(?<![\w-])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}(?![\w-])/gu
const VERSION = /(?<![\w.-])v?\d+\.\d+(?:\.\d+)*(?:-[a-z]+[.\d]*)?(?![\w-])(?!\.\d)/giu
const IDENTIFIER =
  /(?<![\w./@$<-])(?:[A-Za-z]+(?:_[A-Za-z0-9]+)+|_{1,2}[A-Za-z][a-z0-9]*[_A-Z]\w*|[a-z]+[0-9]*[A-Z][A-Za-z0-9]*|[A-Z]+[a-z0-9]+[A-Z][A-Za-z0-9]*|[A-Z]{2,}-\d+)(?![\w])/gu

/** Kinds of exact names for which no pattern above is needed: nothing is checked but whether they occur. */
const OTHER_KINDS: ReadonlySet<NameKind> = new Set(["flag", "error", "ticket", "address"])

const ENDING = /\.(?:[a-z]{1,5}|[a-z]{1,3}\d|\d[a-z]{1,2})$/i
const ABBREVIATION = /^(?:e\.g|i\.e|etc|vs|a\.k\.a|node\.js|vue\.js|next\.js|d\.h)\.?$/i

/** The end of a sentence is not part of a name. */
const trim = (found: string): string => found.replace(/[.,;:'")\]]+$/, "")

export function namesIn(given: string): readonly Name[] {
  const text = given.replace(ESCAPE, "  ") // of the same length, so that places stay
  const names: Name[] = []
  const taken = new Uint8Array(text.length) // 1 where a character belongs to a name
  const take = (name: NameClass, found: string, at: number) => {
    const trimmed = trim(found)
    if (trimmed === "" || taken.subarray(at, at + trimmed.length).includes(1)) return
    taken.fill(1, at, at + trimmed.length)
    names.push({ class: name, text: trimmed, at })
  }
  for (const { 0: found, index } of text.matchAll(URL)) take("paths", found, index)
  for (const { 0: found, index } of text.matchAll(PATH))
    if (!found.includes("...") && isPath(trim(found), text, index)) take("paths", found, index)
  for (const { 0: found, index } of text.matchAll(FILE)) if (isFile(trim(found))) take("paths", found, index)
  for (const { 0: found, index } of text.matchAll(UUID)) take("hashes", found, index)
  for (const { 0: found, index } of text.matchAll(HASH)) take("hashes", found, index)
  for (const { 0: found, index } of text.matchAll(VERSION)) if (isVersion(found)) take("versions", found, index)
  for (const { 0: found, index } of text.matchAll(IDENTIFIER)) take("identifiers", found, index)
  for (const { name, kind } of exactNamesIn(text)) {
    if (!OTHER_KINDS.has(kind)) continue
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) take("identifiers", name, at)
  }
  return names.sort((a, b) => a.at - b.at)
}

/** `read/write` is a choice between words. A path has an ending, a root, more than one slash, or code marks around it. */
function isPath(found: string, text: string, at: number): boolean {
  if (/^[\d/.:-]+$/.test(found)) return false
  const last = found.split(/[\\/]/).filter(Boolean).at(-1) ?? ""
  if (ENDING.test(last) && !/^\d/.test(last)) return true
  if (/^(?:~|\.{1,2})?[\\/]/.test(found)) return found.split(/[\\/]/).filter(Boolean).length > 1
  return text[at - 1] === "`" && text[at + found.length] === "`" && /[\\/]/.test(found)
}

const isFile = (found: string): boolean => ENDING.test(found) && !ABBREVIATION.test(found) && !/\.\d+$/.test(found)
const isVersion = (found: string): boolean => /^v/i.test(found) || (found.match(/\./g)?.length ?? 0) > 1
