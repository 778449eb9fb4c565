/** Finds secrets in a text, so that none is written to memory or reappears after its message has left the view. */
import { hash } from "node:crypto"
import { KNOWN_FORMS } from "./known-forms.ts"
import { NAMED_SECRETS } from "./named-secrets.ts"
import type { SecretRule } from "./secret-rule.ts"
import { letterGroups, scanText, type TextScan } from "./text-scan.ts"

export interface FoundSecret {
  readonly at: number
  readonly length: number
  readonly kind: string
}

const RULES: readonly SecretRule[] = [...KNOWN_FORMS, ...NAMED_SECRETS]
const TRIED = RULES.map((rule) => ({ rule, words: rule.words?.map(letterGroups) }))
const CHARACTERS_AFTER = 40 // characters after the value that a rule may check

/** A hash of the rules: a text that was clean under other rules may not be clean now. */
export function secretRulesHash(): string {
  const rules = RULES.map(({ isSecret, ...rule }) => `${Object.values(rule).join(" ")} ${isSecret}`)
  return hash("sha256", `${rules.join("\n")}${encodedSecrets}${BASE64}${HEX}`, "hex").slice(0, 16)
}

/** The secrets in a text, first to last, without overlaps. */
export const findSecrets = (text: string): readonly FoundSecret[] => findIn(text, 0)

/** `depth`: how often the text has been decoded. */
function findIn(text: string, depth: number): readonly FoundSecret[] {
  const { visible, positions, scan } = withoutInvisible(withoutMasks(text))
  const placesOf = matchPositions(visible)
  const found: FoundSecret[] = depth < MAX_LAYERS ? [...encodedSecrets(visible, scan, depth)] : []
  for (const { rule, words } of TRIED) {
    if (words && !words.some(scan.has)) continue
    if (rule.run !== undefined && rule.run > scan.longestRun) continue
    const first = rule.begins ?? rule.needs
    if (first && placesOf(first).length === 0) continue
    for (const match of findMatches(rule, visible, placesOf)) found.push(...secretInMatch(rule, visible, match))
  }
  const kept = withoutOverlaps(found)
  if (!positions) return kept
  return kept.map(({ at, length, kind }) => {
    const start = positions[at]!
    return { at: start, length: positions[at + length - 1]! + 1 - start, kind }
  })
}

function withoutOverlaps(found: FoundSecret[]): readonly FoundSecret[] {
  const kept: FoundSecret[] = []
  for (const secret of found.sort((a, b) => a.at - b.at || b.length - a.length)) {
    const last = kept.at(-1)
    const end = secret.at + secret.length
    const lastEnd = last ? last.at + last.length : 0
    if (!last || secret.at >= lastEnd) kept.push(secret)
    else if (end > lastEnd) kept[kept.length - 1] = { ...last, length: end - last.at }
  }
  return kept
}

const MASK = "[secret removed: "

/** The text with each secret replaced by a note about its kind. */
export const maskSecrets = (text: string): string => replaceSecrets(text, ({ kind }) => `${MASK}${kind}]`)

/** The text with each secret replaced by a space. */
export const dropSecrets = (text: string): string => replaceSecrets(text, () => " ")

function replaceSecrets(text: string, instead: (secret: FoundSecret) => string): string {
  let at = 0
  let result = ""
  for (const secret of findSecrets(text)) {
    result += text.slice(at, secret.at) + instead(secret)
    at = secret.at + secret.length
  }
  return result + text.slice(at)
}

type FindPositions = (pattern: RegExp) => readonly number[]

/** Finds all positions of a pattern. The results are cached, because many rules ask for the same pattern. */
function matchPositions(text: string): FindPositions {
  const known = new Map<RegExp, number[]>()
  return (pattern) => {
    const before = known.get(pattern)
    if (before) return before
    const places: number[] = []
    known.set(pattern, places)
    pattern.lastIndex = 0
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      places.push(match.index)
      pattern.lastIndex = match.index + 1
    }
    return places
  }
}

function* findMatches(
  { pattern, begins }: SecretRule,
  text: string,
  placesOf: FindPositions,
): Generator<RegExpExecArray> {
  let end = 0
  for (const place of begins ? placesOf(begins) : [0]) {
    if (place < end) continue
    pattern.lastIndex = place
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      end = pattern.lastIndex
      yield match
    }
  }
}

function secretInMatch({ kind, isSecret }: SecretRule, text: string, match: RegExpExecArray): readonly FoundSecret[] {
  const group = ["quoted", "fancy", "bare", "secret"].find((name) => match.groups?.[name] !== undefined)
  const [start, end] = group === undefined ? match.indices![0]! : match.indices!.groups![group]!
  const isQuoted = group === "quoted" || group === "fancy"
  const given = text.slice(start, end)
  const value = group === "bare" ? given.replace(/[.!?)\]}>*_:]+$/, "") : given
  if (value === "" || given.startsWith("[[")) return []
  const after = text.slice(start + value.length, end + CHARACTERS_AFTER)
  if (isSecret && !isSecret({ value, isQuoted, after })) return []
  return [{ at: start, length: value.length, kind }]
}

/** Hides earlier masks, which are neither a secret nor the name of one. */
const withoutMasks = (text: string): string =>
  text.includes(MASK) ? text.replace(/\[secret removed: [^\]\n]{1,40}\]/g, (mask) => "[".repeat(mask.length)) : text

interface VisibleText {
  readonly visible: string
  readonly scan: TextScan
  /** Where each visible character is in the text. Absent if all are visible. */
  readonly positions?: readonly number[]
}

/** Removes invisible characters, which could split a secret in two. */
function withoutInvisible(text: string): VisibleText {
  const scan = scanText(text)
  if (scan.isAscii || !/\p{Cf}/u.test(text)) return { visible: text, scan }
  const positions: number[] = []
  let visible = ""
  for (let at = 0; at < text.length; at++) {
    if (/\p{Cf}/u.test(text[at]!)) continue
    visible += text[at]
    positions.push(at)
  }
  return { visible, scan: scanText(visible), positions }
}

const MAX_LAYERS = 2
/** The shortest token with a recognizable form has 20 characters: 27 in base64, 40 in hexadecimal digits. */
const BASE64 = /[A-Za-z0-9+/_-]{24,}(?:\r?\n[ \t]*[A-Za-z0-9+/_-]{4,})*={0,2}/y
const HEX = /(?<![A-Za-z0-9])(?:0x)?(?:[0-9A-Fa-f]{2}){20,}(?![A-Za-z0-9])/g
const MIN_HEX = 40 // characters
const MAX_RUN = 200_000 // characters of one run: images are longer, secrets are not
const PRINTABLE = /[\t\r\n\x20-\x7e]{16,}/g

/** Encoded secrets: runs of base64, also across lines, and of hexadecimal digits. Each is decoded and searched like any text. */
function* encodedSecrets(text: string, { runs }: TextScan, depth: number): Generator<FoundSecret> {
  const hasSecret = (decoded: string) => findIn(decoded, depth + 1).length > 0
  let searched = 0
  for (const { start, end } of runs) {
    if (end - start >= MIN_HEX)
      for (const { 0: run, index } of text.slice(start, end).matchAll(HEX))
        if (fromHex(run).some(hasSecret)) yield { at: start + index, length: run.length, kind: "encoded secret" }
    if (start < searched) continue // a line of the run before
    BASE64.lastIndex = start
    const [run] = BASE64.exec(text)!
    searched = start + run.length
    if (fromBase64(run).some(hasSecret)) yield { at: start, length: run.length, kind: "encoded secret" }
  }
}

/** Matches four groups of base64 whose bytes are all ASCII. Every 16 printable characters contain them, few other runs do. */
const ASCII_IN_BASE64 = /(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){4}/

/** A run may start with up to three characters of the preceding text. */
function fromBase64(run: string): readonly string[] {
  const joined = run.slice(0, MAX_RUN).replace(/\s+/g, "")
  if (!ASCII_IN_BASE64.test(joined)) return []
  return [0, 1, 2, 3].flatMap((start) => textsIn(Buffer.from(joined.slice(start), "base64")))
}

const fromHex = (run: string): readonly string[] => textsIn(Buffer.from(run.replace(/^0x/, ""), "hex"))

const textsIn = (bytes: Buffer): readonly string[] => bytes.toString("latin1").match(PRINTABLE) ?? []
