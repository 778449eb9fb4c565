/**
 * The strict validator. It checks every request before it is sent, against every rule of the API that can be checked here.
 * It remembers which messages are valid, so a request that continues the last one costs only what is new. The request is sent then, and
 * `response-recorder.ts` takes in its answer.
 */
import { InvalidRequestError } from "../../base/errors.ts"
import { isPdf, readImageSize } from "../media.ts"
import type { ModelRequest } from "../request.ts"
import { MESSAGE_RULES } from "./message-rules.ts"
import { checked, REQUEST_RULES } from "./request-rules.ts"
import type { Breakpoint, CheckedBlock, CheckedImage, CheckedMedia, ModelRules, Violation } from "./rule.ts"

export interface ValidationSubject {
  readonly request: ModelRequest
  readonly model: ModelRules
  readonly inputTokens?: number
  /** Images and documents are left to the API. Default: they are checked too. */
  readonly media?: "unchecked"
  /** Someone else wrote the prompt and chose what messages look like: what is theirs to choose is left to the API. */
  readonly isFollowed?: boolean
  /** Saves work: the first `closed` messages are the same in all requests of one `revision`. Prompt and tools never change in place. */
  readonly settled?: { readonly closed: number; readonly revision: unknown }
}

/** Everything that is wrong with a request. */
export function validateRequest(subject: ValidationSubject): readonly Violation[] {
  return new RequestValidator().violations(subject)
}

/** The names of all rules, in the order of checking. */
export const RULE_NAMES: readonly string[] = [...REQUEST_RULES, ...MESSAGE_RULES].map(({ name }) => name)

/** Rules about what a caller chooses: fields of its messages, an answer to go on with, what its model takes. */
const THEIRS: ReadonlySet<string> = new Set([
  ...["message-shape", "no-prefill", "no-space-after-prefill", "system-messages-accepted", "first-message-user"],
  ...["no-citations-in-user-text", "tool-references-supported", "tool-references-resolve", "tool-references-alone"],
])

/** What is known about the messages checked so far. */
interface Progress {
  messages: number
  readonly usedIds: Set<string>
  readonly breakpoints: Breakpoint[]
  readonly media: CheckedMedia[]
  readonly violations: Violation[]
  bytes: number
}

/** What one message adds to the progress. */
interface Looked extends Pick<Progress, "breakpoints" | "media" | "violations" | "bytes"> {
  readonly ids: readonly string[]
}

/**
 * The messages of the last request that can still change, from the first on as far as they were valid. The last one is among them where
 * it is the user's: with others after it, fewer rules apply.
 */
interface Recent {
  readonly messages: readonly unknown[]
  readonly looked: readonly Looked[]
  readonly tools: unknown
}

type Checked = Pick<Recent, "messages" | "tools">

const NOTHING_RECENT: Recent = { messages: [], looked: [], tools: undefined }

const noProgress = (): Progress => ({
  messages: 0,
  usedIds: new Set(),
  breakpoints: [],
  media: [],
  violations: [],
  bytes: 0,
})

export class RequestValidator {
  #done = noProgress()
  #recent = NOTHING_RECENT
  #revision: unknown
  /** The last system prompt and tools that were valid. */
  #prompt: { readonly system?: unknown; readonly tools?: unknown } = {}

  /** Throws if the API would reject the request. */
  check(subject: ValidationSubject): void {
    const violations = this.violations(subject)
    if (violations.length > 0) throw new InvalidRequestError(violations)
  }

  violations(subject: ValidationSubject): readonly Violation[] {
    const { request, model, inputTokens, media, settled, isFollowed = false } = subject
    const messages = Array.isArray(request.messages) ? request.messages : []
    // other rules apply to the last message, so it never counts as done
    const isLastDone = this.#done.messages >= messages.length
    if (settled?.revision !== this.#revision || isLastDone) {
      this.#done = noProgress()
      this.#recent = NOTHING_RECENT
    }
    this.#revision = settled?.revision
    const known = this.#known({ messages, tools: request.tools })
    const from = this.#done.messages
    const lookAt = (index: number, { usedIds }: Progress) =>
      known[index - from] ?? look(subject, { index, isUsedId: (id) => usedIds.has(id) || this.#done.usedIds.has(id) })
    const closed = Math.min(settled?.closed ?? 0, messages.length - 1)
    for (let at = from; at < closed; at++) add(this.#done, lookAt(at, this.#done))
    const rest: Progress = { ...noProgress(), bytes: this.#done.bytes }
    const looked: Looked[] = []
    for (let at = this.#done.messages; at < messages.length; at++) {
      looked.push(lookAt(at, rest))
      add(rest, looked.at(-1)!)
    }
    this.#remember({ messages, tools: request.tools }, looked)

    const breakpoints = [...fixedBreakpoints(request), ...this.#done.breakpoints, ...rest.breakpoints]
    const requestSubject = {
      request,
      model,
      breakpoints,
      media: together(media === "unchecked" ? [] : [...this.#done.media, ...rest.media]),
      messageBytes: rest.bytes,
      ...(inputTokens === undefined ? {} : { inputTokens }),
    }
    const { system, tools } = request
    const isPromptDone = settled !== undefined && system === this.#prompt.system && tools === this.#prompt.tools
    const found: Violation[] = []
    for (const { name, check, isAboutPrompt } of REQUEST_RULES) {
      if (isAboutPrompt && (isPromptDone || isFollowed)) continue
      for (const each of check(requestSubject)) found.push({ rule: name, ...each })
    }
    if (found.length === 0) this.#prompt = { system, tools }
    const all = [...found, ...this.#done.violations, ...rest.violations]
    return isFollowed ? all.filter(({ rule }) => !THEIRS.has(rule)) : all
  }

  /** What was found in the messages after those that are done, for as many as are the same and have others after them. */
  #known({ messages, tools }: Checked): readonly Looked[] {
    const { messages: recent, looked, tools: offered } = this.#recent
    if (tools !== offered) return []
    const from = this.#done.messages
    let same = 0
    while (same < looked.length && from + same < messages.length - 1 && messages[from + same] === recent[same]) same++
    return looked.slice(0, same)
  }

  #remember({ messages, tools }: Checked, looked: readonly Looked[]): void {
    const wrong = looked.findIndex(({ violations }) => violations.length > 0)
    const newest = messages.at(-1) as { readonly role?: unknown } | undefined
    const max = newest?.role === "user" ? looked.length : looked.length - 1
    const valid = looked.slice(0, Math.min(wrong < 0 ? looked.length : wrong, max))
    const from = this.#done.messages
    this.#recent = { messages: messages.slice(from, from + valid.length), looked: valid, tools }
  }
}

function add(progress: Progress, { ids, breakpoints, media, violations, bytes }: Looked): void {
  for (const id of ids) progress.usedIds.add(id)
  progress.breakpoints.push(...breakpoints)
  progress.media.push(...media)
  progress.violations.push(...violations)
  progress.messages++
  progress.bytes += bytes
}

/** Checks one message. */
function look(
  { request, model }: ValidationSubject,
  { index, isUsedId }: { readonly index: number; readonly isUsedId: (id: string) => boolean },
): Looked {
  const raw = request.messages[index]!
  const message = checked(raw)
  const before = index > 0 ? checked(request.messages[index - 1]!) : undefined
  const subject = {
    message,
    index,
    path: `messages.${index}`,
    previous: before,
    isLast: index === request.messages.length - 1,
    isUsedId,
    request,
    model,
  }
  const looked = { ids: [] as string[], breakpoints: [] as Breakpoint[], media: [] as CheckedMedia[] }
  const violations: Violation[] = []
  for (const { name, check } of MESSAGE_RULES) {
    for (const found of check(subject)) violations.push({ rule: name, ...found })
  }
  for (const [at, block] of message.content.entries()) {
    if (block.type === "tool_use") looked.ids.push(String(block.id))
    looked.breakpoints.push(...breakpointsOf(block, `${subject.path}.content.${at}`))
    if (!mayHoldMedia(block)) continue
    const media = mediaOf(block, `${subject.path}.content.${at}`)
    if (media.imageCount > 0 || media.unreadable.length > 0) looked.media.push(media)
  }
  return { ...looked, violations, bytes: bytesOf(raw) }
}

const mayHoldMedia = ({ type, content }: CheckedBlock): boolean =>
  type === "image" || type === "document" || Array.isArray(content)

/** Also of the blocks inside results and documents. */
function mediaOf(block: CheckedBlock, path: string): CheckedMedia {
  const { field, items } = nestedIn(block ?? {})
  const nested = items.map((item, i) => mediaOf(item, `${path}.${field}.${i}`))
  const { type, source } = block ?? {}
  const { type: kind, data, media_type } = (source ?? {}) as Readonly<Record<string, unknown>>
  const isEmbedded = kind === "base64" && typeof data === "string"
  const own = {
    imageCount: type === "image" ? 1 : 0,
    images: type === "image" && isEmbedded ? [checkedImage(data, media_type, path)] : [],
    unreadable: type === "document" && isEmbedded && !isPdf(data) ? [path] : [],
  }
  return nested.length === 0 ? own : together([own, ...nested])
}

function checkedImage(data: string, mediaType: unknown, path: string): CheckedImage {
  const size = readImageSize(data)
  const side = size && Math.min(size.width, size.height) > 0 ? Math.max(size.width, size.height) : undefined
  return { path, bytes: data.length, side, isRightlyLabelled: size?.mediaType === mediaType }
}

const together = (all: readonly CheckedMedia[]): CheckedMedia => ({
  images: all.flatMap(({ images }) => images),
  imageCount: all.reduce((sum, { imageCount }) => sum + imageCount, 0),
  unreadable: all.flatMap(({ unreadable }) => unreadable),
})

function breakpointsOf(block: CheckedBlock, path: string): Breakpoint[] {
  if (typeof block !== "object" || block === null) return []
  const { field, items } = nestedIn(block)
  const inner = items.flatMap((item, i) => breakpointsOf(item, `${path}.${field}.${i}`))
  if (!block.cache_control) return inner
  return [
    ...inner,
    { path, ttl: block.cache_control.ttl ?? "5m", onEmptyText: block.type === "text" && block.text === "" },
  ]
}

/** The blocks inside a block, and the field that has them. */
function nestedIn({ type, content, source }: CheckedBlock): { field: string; items: readonly CheckedBlock[] } {
  const isDocument = type === "document"
  const inner = isDocument ? (source as { content?: unknown } | null | undefined)?.content : content
  return { field: isDocument ? "source.content" : "content", items: Array.isArray(inner) ? inner : [] }
}

/** Breakpoints on tools and system prompt. They come before those on messages. */
function fixedBreakpoints({ tools, system }: ModelRequest): Breakpoint[] {
  const marks = (list: unknown, path: string) =>
    (Array.isArray(list) ? list : []).flatMap((item: CheckedBlock, i) => breakpointsOf(item, `${path}.${i}`))
  return [...marks(tools, "tools"), ...marks(system, "system")]
}

/** The size of a message in a request body, in UTF-8 bytes. */
function bytesOf(message: ModelRequest["messages"][number]): number {
  return Buffer.byteLength(JSON.stringify(message) ?? "")
}
