/**
 * Step 4, check. Content that the model saw and this check cannot read: images, binary documents, encrypted pages. An unknown name or
 * number may come from there, but only if the summary refers to that content, and only a few of them. Such a claim is neither supported nor
 * refuted: it is listed as unchecked.
 *
 * Hidden thinking excuses nothing. It is about messages and results that can be read, and its findings are in the answers and calls after
 * it. Without any thinking, 4 more of the 3,637 claims in 25 recorded summaries are not found.
 */
import { type Block, isMedia, isText, isThinking } from "../../../messages/blocks.ts"
import { type ClaimClass, contentWords, namesIn, type SummaryClaim, shareOf, type TextSpan } from "./text.ts"

export type UnreadableKind = "image" | "document" | "page"

/** Unreadable content that the model saw. */
export interface UnreadableSource {
  readonly parts: readonly UnreadablePart[]
  /** Names and numbers that an earlier check could not confirm either. */
  readonly unchecked: ReadonlySet<string>
}

export interface UnreadablePart {
  readonly kind: UnreadableKind
  /** File names of the content, in lower case. */
  readonly files: ReadonlySet<string>
  /** Stems of the words of the request or call that contained it, and of the answer after it. */
  readonly words: ReadonlySet<string>
}

/** Maximum number of claims that one item may excuse, and the nouns by which a summary refers to it. */
const KINDS: Readonly<Record<UnreadableKind, { readonly max: number; readonly noun: RegExp }>> = {
  image: {
    max: 3,
    noun: /(?<!\p{L})(?:images?|pictures?|photos?|photographs?|screen ?shots?|screen captures?|diagrams?|charts?|figures?|mock-?ups?|drawings?|sketch(?:es)?|bild(?:er|schirmfotos?)?|abbildung(?:en)?|capturas?)(?!\p{L})|图|圖|画像|이미지|스크린샷/iu,
  },
  document: {
    max: 10,
    noun: /(?<!\p{L})(?:pdfs?|documents?|papers?|manuals?|data ?sheets?|invoices?|contracts?|page \d+|dokumente?|documentos?)(?!\p{L})|文档|文書|문서/iu,
  },
  page: { max: 5, noun: /(?<!\p{L})(?:search results?|web ?pages?|web ?sites?|articles?|according to)(?!\p{L})/iu },
}
const MAX_SHARE = 0.1 // of the names and numbers of a summary
const FEWEST = 3 // of a short one
const NEAR_SHARE = 0.75 // of a sentence's words are those around it: then the sentence is about it
const FEWEST_NEAR = 4 // words: fewer are alike by chance
const MAX_NEAR = 2_000 // characters of a text around it
const MAX_TRIED = 200 // names without ground: a summary with more is not worth more time
const MEDIA_FILE = /\.(?:png|jpe?g|gif|webp|bmp|svg|heic|tiff?|pdf|docx?|pptx?|xlsx?|odt)$/
const EXACT: ReadonlySet<ClaimClass> = new Set(["paths", "identifiers", "hashes", "versions", "numbers", "people"])

interface UnreadableContext {
  /** Input of the call whose result contains the content. */
  readonly call?: string | undefined
  /** Text of the same message or result. */
  readonly text: string
}

const filesIn = (text: string): readonly string[] =>
  namesIn(text)
    .filter((name) => name.class === "paths")
    .map((name) => name.text.toLowerCase().split(/[\\/]/).findLast(Boolean) ?? name.text)

/** Collects unreadable content, message by message. */
export class UnreadableParts implements UnreadableSource {
  readonly parts: UnreadablePart[] = []
  readonly unchecked = new Set<string>()
  #unanswered: { readonly words: Set<string> }[] = []

  see(block: Block, { call = "", text }: UnreadableContext): void {
    const kind = kindOf(block)
    if (kind === undefined) return
    const own = `${call.slice(0, MAX_NEAR)}\n${readableIn(block)}`
    const files = [...filesIn(own), ...filesIn(text).filter((file) => MEDIA_FILE.test(file))]
    const part = { kind, files: new Set(files), words: contentWords(`${own}\n${text.slice(0, MAX_NEAR)}`) }
    this.parts.push(part)
    this.#unanswered.push(part)
  }

  /** Returns the confirmed part of an earlier summary and remembers what it lists as unchecked. */
  summary(text: string): string {
    const { text: sure, unchecked } = confirmedPart(text)
    for (const each of unchecked) this.unchecked.add(each)
    return sure
  }

  answer(text: string): void {
    for (const { words } of this.#unanswered) for (const word of contentWords(text.slice(0, MAX_NEAR))) words.add(word)
    this.#unanswered = []
  }
}

function kindOf(block: Block): UnreadableKind | undefined {
  if (isMedia(block)) {
    if (block.type === "image") return "image"
    return block.source.type === "text" || block.source.type === "content" ? undefined : "document"
  }
  return !isText(block) && !isThinking(block) && keysIn(block).includes(ENCRYPTED) ? "page" : undefined
}

const ENCRYPTED = "encrypted_content"
const BYTES: ReadonlySet<string> = new Set([ENCRYPTED, "encrypted_index", "data"])

const keysIn = (value: unknown): readonly string[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, item]) => [key, ...keysIn(item)])
    : []

/** Readable text of a block: thinking, results of server tools, titles and addresses of media, and plain text documents. */
export function readableIn(block: Block): string {
  if (isThinking(block)) return block.type === "thinking" ? block.thinking : ""
  const isPlain = isMedia(block) && block.source.type === "text"
  return stringsIn(block, (key) => isPlain || !BYTES.has(key)).join("\n")
}

/** The strings in a value, without the JSON around them. */
export function stringsIn(value: unknown, isRead: (key: string) => boolean = () => true): string[] {
  if (typeof value === "string") return [value]
  if (typeof value === "number" || typeof value === "boolean") return [`${value}`]
  if (Array.isArray(value)) return value.flatMap((item) => stringsIn(item, isRead))
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => (isRead(key) ? [key, ...stringsIn(item, isRead)] : []))
}

interface ExcusedClaims {
  readonly claims: readonly SummaryClaim[]
  /** Names and numbers that may come from unreadable content. */
  readonly unchecked: readonly SummaryClaim[]
}

/** Separates claims that may come from unreadable content. All uses of a name get the same verdict. */
export function excuseUnreadable(
  claims: readonly SummaryClaim[],
  summary: string,
  { parts, unchecked }: UnreadableSource,
): ExcusedClaims {
  if (parts.length === 0 && unchecked.size === 0) return { claims, unchecked: [] }
  const exact = claims.filter((claim) => EXACT.has(claim.class))
  const byText = Map.groupBy(
    exact.filter(({ isSupported, isRefuted }) => !isSupported && !isRefuted),
    ({ class: kind, text }) => `${kind} ${text}`,
  )
  const above = linesAbove(summary)
  const origins = parts.map((part) => ({ part, left: KINDS[part.kind].max }))
  const excused = new Set<SummaryClaim>()
  let left = Math.max(FEWEST, Math.floor(MAX_SHARE * new Set(exact.map(({ text }) => text)).size))
  for (const same of byText.values().take(MAX_TRIED)) {
    if (left === 0) break
    const uses = same.map((claim) => useOf(claim, above))
    const origin = unchecked.has(same[0]!.text)
      ? { left: 1 }
      : origins.find((each) => each.left > 0 && uses.some((use) => isAbout(use, each.part)))
    if (!origin) continue
    origin.left--
    left--
    for (const claim of same) excused.add(claim)
  }
  return { claims: claims.filter((claim) => !excused.has(claim)), unchecked: [...excused] }
}

/** How a summary uses a name: the sentence, its words, and the headings above it. */
interface ClaimUse {
  readonly sentence: string
  readonly words: ReadonlySet<string>
  readonly listed: string
}

const useOf = ({ text, sentence }: SummaryClaim, above: (place: TextSpan) => readonly string[]): ClaimUse => ({
  sentence: sentence.text,
  listed: [sentence.text, ...above(sentence)].join("\n").toLowerCase(),
  words: contentWords(sentence.text.replaceAll(text, " ")),
})

function isAbout({ sentence, listed, words: own }: ClaimUse, { kind, files, words }: UnreadablePart): boolean {
  if (KINDS[kind].noun.test(sentence) || [...files].some((file) => listed.includes(file))) return true
  return own.size >= FEWEST_NEAR && shareOf(own, words) >= NEAR_SHARE
}

interface SummaryLine {
  readonly at: number
  readonly depth: number
  readonly text: string
  readonly parent: SummaryLine | undefined
}

/** Finds the list items and headings above a position in a summary. */
function linesAbove(summary: string): (place: TextSpan) => readonly string[] {
  const lines: SummaryLine[] = []
  let at = 0
  for (const text of summary.split("\n")) {
    const depth = depthOf(text)
    let parent = lines.at(-1)
    while (parent && parent.depth >= depth) parent = parent.parent
    if (text.trim() !== "") lines.push({ at, depth, text, parent })
    at += text.length + 1
  }
  return ({ at: place }) => {
    const above: string[] = []
    for (let line = lines.findLast((each) => each.at <= place)?.parent; line; line = line.parent) above.push(line.text)
    return above
  }
}

const ITEM = /^\s*(?:[-*+•]|\d+[.)])\s/

/** Nesting depth of a line. An item is below the paragraph before it, and everything is below the heading. */
const depthOf = (line: string): number =>
  line.startsWith("#") ? -1 : line.length - line.trimStart().length + Number(ITEM.test(line))

// Step 4, check. How a summary labels names and numbers that were not found, and how the next check reads those labels: occurring in a
// summary must not make them known.

export const notFound = (text: string): string => `[not found in the conversation: ${text}]`

const NOT_FOUND = /\[not found in the conversation: [^\]\n]*\]/g
const UNCHECKED = "Not checked, because only an image, a document or a page that cannot be read here could confirm it:"
const UNCHECKED_LINE = new RegExp(`^${UNCHECKED} (.*)$`, "gm")

/** One sentence that lists each name once; empty for an empty list. */
export const uncheckedNote = (texts: readonly string[]): string =>
  texts.length === 0 ? "" : `${UNCHECKED} ${[...new Set(texts)].map((text) => `\`${text}\``).join(", ")}`

interface ConfirmedText {
  /** The summary without the unconfirmed names. */
  readonly text: string
  readonly unchecked: readonly string[]
}

export function confirmedPart(summary: string): ConfirmedText {
  const unchecked = [...summary.matchAll(UNCHECKED_LINE)].flatMap(([, list]) =>
    [...list!.matchAll(/`([^`]+)`/g)].map(([, text]) => text!),
  )
  const sure = summary.replace(NOT_FOUND, "").replace(UNCHECKED_LINE, "")
  const text = unchecked.reduce((left, name) => left.replace(wholeWord(name), ""), sure)
  return { text, unchecked }
}

const wholeWord = (name: string) => new RegExp(`(?<![\\w.])${name.replace(/[^\w\s]/g, "\\$&")}(?![\\w])`, "g")
