/**
 * Expands a word of a command line as bash would: braces, tilde, variables, file patterns. A part whose value is only known when the
 * command runs makes the field unknown.
 */
import type { Word, WordPart } from "unbash"
import type { Disk } from "./disk.ts"

/** One word that the program gets. */
export interface Field {
  /** `undefined`: not known before it runs. */
  readonly text: string | undefined
  /** An unknown field that may be printed: it holds no value of the environment. */
  readonly isPrintable?: boolean
  /** An unknown field that is a path below these places. */
  readonly below?: readonly string[]
}

/** Its value may come from the environment, which holds secrets. */
export const mayHoldSecret = ({ text, isPrintable }: Field): boolean => text === undefined && !isPrintable

export interface Variable {
  readonly text: string | undefined
  readonly isPrintable: boolean
}

export interface Surroundings {
  /** With links followed. `undefined`: a `cd` that is not understood came before. */
  readonly directory: string | undefined
  readonly disk: Disk | undefined
  readonly home: string | undefined
  readonly variable: (name: string) => Variable
  /** A file pattern is matched in this directory. */
  readonly onListed?: (directory: string) => void
}

type Piece =
  | { readonly kind: "text"; readonly text: string; readonly isQuoted: boolean; readonly mayHaveTilde?: boolean }
  | { readonly kind: "variable"; readonly name: string; readonly isQuoted: boolean }
  /** Part of a file pattern. Without a `source`, what it matches cannot be known. */
  | { readonly kind: "glob"; readonly text: string; readonly source: string | undefined }
  | { readonly kind: "unknown"; readonly isPrintable: boolean }

const MOST_FIELDS = 2_000
const MOST_IN_RANGE = 100

export const known = (text: string): Field => ({ text })
const unknown = (isPrintable: boolean): Field => ({ text: undefined, isPrintable })

export function expandWord(word: Word, surroundings: Surroundings): readonly Field[] {
  const fields = alternativesOf(word).flatMap((pieces) => expandPieces(pieces, surroundings))
  return fields.length > MOST_FIELDS ? [unknown(true)] : fields
}

/** Where bash makes exactly one field of a word: an assignment, a redirection. */
export function expandToOne(word: Word, surroundings: Surroundings): Field {
  const fields = expandWord(word, surroundings)
  if (fields.length === 1) return fields[0]!
  return unknown(fields.every(({ text, isPrintable }) => text !== undefined || isPrintable))
}

/** A part of a here-document. */
export function fieldOf(part: WordPart, surroundings: Surroundings): Field {
  const [field = known("")] = expandPieces(piecesOf(part, true), surroundings)
  return field
}

function alternativesOf(word: Word): readonly (readonly Piece[])[] {
  if (!word.parts) return [[literal(word)]]
  let alternatives: readonly (readonly Piece[])[] = [[]]
  for (const part of word.parts) {
    const choices = part.type === "BraceExpansion" ? bracesOf(part.text).map((piece) => [piece]) : [piecesOf(part)]
    alternatives = alternatives.flatMap((before) => choices.map((choice) => [...before, ...choice]))
    if (alternatives.length > MOST_FIELDS) return [[LATER]]
  }
  return alternatives
}

/** Text without quotes around it. A backslash counts as quoting all of it, unless it only continues the line. */
function literal({ text, value }: { readonly text: string; readonly value: string }): Piece {
  const joined = text.replaceAll("\\\n", "")
  const isQuoted = joined !== value
  const mayHaveTilde = /:~/.test(joined) || (isQuoted && /(?:^|=)~/.test(joined))
  return { kind: "text", text: value, isQuoted, ...(mayHaveTilde ? { mayHaveTilde } : {}) }
}

const LATER: Piece = { kind: "unknown", isPrintable: true }
/** It may hold a variable of the environment, which may be a secret. */
const HIDDEN: Piece = { kind: "unknown", isPrintable: false }
/** Inside braces and patterns, which are not taken apart. */
const hasVariable = (text: string): boolean => text.includes("$")

/** Only lists of plain words and ranges of numbers are expanded. */
function bracesOf(text: string): readonly Piece[] {
  const plain = (value: string): Piece => ({ kind: "text", text: value, isQuoted: false })
  const list = /^\{([\w./@:+=-]*(?:,[\w./@:+=-]*)+)\}$/.exec(text)
  if (list) return list[1]!.split(",").map(plain)
  const range = /^\{(0|[1-9]\d{0,3})\.\.(0|[1-9]\d{0,3})\}$/.exec(text)
  const [from, to] = [Number(range?.[1]), Number(range?.[2])]
  if (!range || Math.abs(to - from) > MOST_IN_RANGE) return [hasVariable(text) ? HIDDEN : LATER]
  const step = Math.sign(to - from) || 1
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => plain(String(from + i * step)))
}

function piecesOf(part: WordPart, isQuoted = false): readonly Piece[] {
  switch (part.type) {
    case "Literal":
      return isQuoted ? [{ kind: "text", text: part.value, isQuoted }] : [literal(part)]
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [{ kind: "text", text: part.value, isQuoted: true }]
    case "DoubleQuoted":
    case "LocaleString":
      return [{ kind: "text", text: "", isQuoted: true }, ...part.parts.flatMap((inner) => piecesOf(inner, true))]
    case "Glob":
      return [hasVariable(part.text) ? HIDDEN : { kind: "glob", text: part.text, source: patternOf(part.text) }]
    case "SimpleExpansion":
      return [{ kind: "variable", name: part.text.slice(1), isQuoted }]
    case "ParameterExpansion":
      return part.operation || part.prefix || part.index
        ? [HIDDEN]
        : [{ kind: "variable", name: part.parameter, isQuoted }]
    case "ProcessSubstitution":
      return [{ kind: "text", text: "/dev/fd/63", isQuoted: true }]
    case "ExtendedGlob": // off in bash -c unless a line turns it on
      return [hasVariable(part.text) ? HIDDEN : { kind: "glob", text: part.text, source: undefined }]
    default:
      return [LATER]
  }
}

function expandPieces(given: readonly Piece[], surroundings: Surroundings): readonly Field[] {
  const pieces = withTilde(given, surroundings.home).map((piece) => substituted(piece, surroundings))
  const later = pieces.filter((piece) => piece.kind === "unknown")
  if (later.length > 0) return [unknown(later.every(({ isPrintable }) => isPrintable))]
  const texts = pieces as readonly Exclude<Piece, { kind: "unknown" } | { kind: "variable" }>[]
  const text = texts.map((piece) => piece.text).join("")
  if (texts.some(({ kind }) => kind === "glob")) return matchesOf(texts, text, surroundings)
  const vanishes = text === "" && !texts.some((piece) => piece.kind === "text" && piece.isQuoted)
  return vanishes ? [] : [known(text)]
}

/** A variable with its value, if known. Unquoted, a value with blanks or patterns would be several words. */
function substituted(piece: Piece, { variable }: Surroundings): Piece {
  if (piece.kind !== "variable") return piece
  const { text, isPrintable } = variable(piece.name)
  if (text === undefined || (!piece.isQuoted && /[\s*?[\]\\]/.test(text))) return { kind: "unknown", isPrintable }
  return { kind: "text", text, isQuoted: piece.isQuoted }
}

/** `~` and `~/x` at the start, also after `name=`. Other users' homes, and what follows a colon in an assignment, are not looked up. */
function withTilde(pieces: readonly Piece[], home: string | undefined): readonly Piece[] {
  if (pieces.some((piece) => piece.kind === "text" && piece.mayHaveTilde)) return [LATER, ...pieces]
  const [first, ...rest] = joined(pieces)
  if (first?.kind !== "text" || first.isQuoted) return first ? [first, ...rest] : rest
  const match = /^((?:[A-Za-z_]\w*=)?)~([^/]*)(.*)$/s.exec(first.text)
  if (!match) return [first, ...rest]
  const [, before = "", user, after = ""] = match
  const isOwn = user === "" && (after !== "" || rest.length === 0)
  if (!isOwn || home === undefined) return [LATER, ...rest]
  return [{ kind: "text", text: `${before}${home}${after}`, isQuoted: false }, ...rest]
}

/** Bash takes braces apart before it looks for a tilde, so `{,a}~` begins with one. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const isPlain = (piece: Piece | undefined) => piece?.kind === "text" && !piece.isQuoted
  const end = pieces.findIndex((piece) => !isPlain(piece))
  const plain = (end < 0 ? pieces : pieces.slice(0, end)) as readonly Extract<Piece, { kind: "text" }>[]
  if (plain.length < 2) return pieces
  const text = plain.map((piece) => piece.text).join("")
  return [/:~/.test(text) ? LATER : { kind: "text", text, isQuoted: false }, ...pieces.slice(plain.length)]
}

/** A regular expression for a part of a pattern. Ranges of letters depend on the locale, so only ranges of digits are known. */
function patternOf(text: string): string | undefined {
  if (/^\*+$/.test(text)) return "[^/]*"
  if (text === "?") return "[^/]"
  const set = /^\[([!^]?)((?:[\w., :@%+=~]|\d-\d)+)\]$/.exec(text)
  if (!set) return undefined
  const members = set[2]!.replace(/(\d)-(\d)|[^\w]/g, (found, from) => (from === undefined ? `\\${found}` : found))
  return set[1] === "" ? `[${members}]` : `[^/${members}]`
}

/** Names of files, as bash would find them. Without a match the pattern stays as it is. */
function matchesOf(
  pieces: readonly Exclude<Piece, { kind: "unknown" } | { kind: "variable" }>[],
  text: string,
  { directory, disk, onListed }: Surroundings,
): readonly Field[] {
  let source = ""
  for (const piece of pieces) {
    if (piece.kind === "glob" && piece.source === undefined) return [unknown(true)]
    source += piece.kind === "glob" ? piece.source : piece.text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")
  }
  if (!disk || (directory === undefined && !text.startsWith("/"))) return [unknown(true)]
  let found: readonly string[] = [text.startsWith("/") ? "/" : ""]
  for (const part of splitPattern(source)) {
    const next = stepInto(found, { part, directory: directory ?? "/", disk, onListed })
    if (!next || next.length > MOST_FIELDS) return [unknown(true)]
    found = next
  }
  return found.length === 0 ? [known(text)] : [...found].sort().map(known)
}

/** At slashes outside of brackets, without empty parts. */
function splitPattern(source: string): readonly string[] {
  const parts = [""]
  let isInSet = false
  for (let at = 0; at < source.length; at++) {
    const character = source[at]!
    if (character === "\\") {
      parts[parts.length - 1] += character + (source[++at] ?? "")
      continue
    }
    if (character === "[") isInSet = true
    if (character === "]") isInSet = false
    if (character === "/" && !isInSet) parts.push("")
    else parts[parts.length - 1] += character
  }
  return parts.filter((part) => part !== "")
}

interface Step {
  readonly part: string
  readonly directory: string
  readonly disk: Disk
  readonly onListed: Surroundings["onListed"]
}

/** `undefined`: a directory that cannot be listed. */
function stepInto(found: readonly string[], { part, directory, disk, onListed }: Step): readonly string[] | undefined {
  const plain = part.replace(/\\(.)/gs, "$1")
  const isPattern = /(?:^|[^\\])\[/.test(part)
  const name = new RegExp(`^${part}$`, "s")
  const next: string[] = []
  for (const place of found) {
    const join = (entry: string) => (place === "" || place === "/" ? `${place}${entry}` : `${place}/${entry}`)
    const at = place === "" ? directory : place.startsWith("/") ? place : `${directory}/${place}`
    if (!isPattern) {
      const path = at === "/" ? `/${plain}` : `${at}/${plain}`
      if (plain === "." || plain === ".." || disk.kindOf(path) !== "missing") next.push(join(plain))
      continue
    }
    const real = disk.realPath(at)
    if (real !== undefined) onListed?.(real)
    const entries = real === undefined ? undefined : disk.list(real)
    if (!entries) {
      if (disk.isExhausted || (real !== undefined && disk.kindOf(real) === "directory")) return undefined
      continue // a file has nothing below it
    }
    const names = [...entries.map((entry) => entry.name), ...(plain.startsWith(".") ? [".", ".."] : [])]
    next.push(...names.filter((entry) => isVisible(entry, plain) && name.test(entry)).map(join))
    if (next.length > MOST_FIELDS) return undefined
  }
  return next
}

const isVisible = (name: string, pattern: string): boolean => !name.startsWith(".") || pattern.startsWith(".")
