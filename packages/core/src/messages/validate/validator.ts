/**
 * The strict validator. It checks every request before it is sent, against every rule of the API that can be checked locally. It
 * remembers which messages are valid, so a request that extends the last one costs only its new part. Next in the turn: the request is
 * sent, and `response-recorder.ts` records the response.
 */
import { InvalidRequestError } from "../../base/errors.ts"
import { isPdf, readImageSize } from "../media.ts"
import type { ModelRequest } from "../request.ts"
import { MESSAGE_RULES } from "./message-rules.ts"
import { REQUEST_RULES, toCheckedMessage } from "./request-rules.ts"
import type { Breakpoint, CheckedBlock, CheckedImage, CheckedMedia, ModelRules, Violation } from "./rule.ts"

export interface ValidationSubject {
  readonly request: ModelRequest
  readonly model: ModelRules
  readonly inputTokens?: number
  /** Images and documents are checked by the API only. Default: they are checked here too. */
  readonly media?: "unchecked"
  /** Whether a client wrote the prompt and its own messages. Rules about its choices are then left to the API. */
  readonly isFollowed?: boolean
  /**
   * Avoids repeated checks: the first `closed` messages are the same in all requests of one `revision`. Prompt and tools are never
   * modified in place.
   */
  readonly settled?: { readonly closed: number; readonly revision: unknown }
}

/** All violations of a request. */
export function validateRequest(subject: ValidationSubject): readonly Violation[] {
  return new RequestValidator().violations(subject)
}

/** The names of all rules, in the order in which they are checked. */
export const RULE_NAMES: readonly string[] = [...REQUEST_RULES, ...MESSAGE_RULES].map(({ name }) => name)

/** Rules about choices of a client: fields of its messages, prefill, and what its model accepts. */
const CLIENT_RULES: ReadonlySet<string> = new Set([
  ...["message-shape", "no-prefill", "no-space-after-prefill", "system-messages-accepted", "first-message-user"],
  ...["no-citations-in-user-text", "tool-references-supported", "tool-references-resolve", "tool-references-alone"],
])

/** The accumulated state of the messages checked so far. */
interface Progress {
  messages: number
  readonly usedIds: Set<string>
  readonly breakpoints: Breakpoint[]
  readonly media: CheckedMedia[]
  readonly violations: Violation[]
  bytes: number
}

/** The result of checking one message, which is added to the progress. */
interface MessageFindings extends Pick<Progress, "breakpoints" | "media" | "violations" | "bytes"> {
  readonly ids: readonly string[]
}

/**
 * The messages of the last request that can still change, up to the first invalid one. The last message is included only if it is the
 * user's: fewer rules apply to it when others follow.
 */
interface RecentMessages {
  readonly messages: readonly unknown[]
  readonly findings: readonly MessageFindings[]
  readonly tools: unknown
}

type MessagesAndTools = Pick<RecentMessages, "messages" | "tools">

const NOTHING_RECENT: RecentMessages = { messages: [], findings: [], tools: undefined }

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
  /** The last valid system prompt and tools. */
  #prompt: { readonly system?: unknown; readonly tools?: unknown } = {}

  /** Throws if the API would reject the request. */
  check(subject: ValidationSubject): void {
    const violations = this.violations(subject)
    if (violations.length > 0) throw new InvalidRequestError(violations)
  }

  violations(subject: ValidationSubject): readonly Violation[] {
    const { request, model, inputTokens, media, settled, isFollowed = false } = subject
    const messages = Array.isArray(request.messages) ? request.messages : []
    // other rules apply to the last message, so it is never regarded as done
    const isLastDone = this.#done.messages >= messages.length
    if (settled?.revision !== this.#revision || isLastDone) {
      this.#done = noProgress()
      this.#recent = NOTHING_RECENT
    }
    this.#revision = settled?.revision
    const known = this.#known({ messages, tools: request.tools })
    const from = this.#done.messages
    const lookAt = (index: number, { usedIds }: Progress) =>
      known[index - from] ??
      checkMessage(subject, { index, isUsedId: (id) => usedIds.has(id) || this.#done.usedIds.has(id) })
    const closed = Math.min(settled?.closed ?? 0, messages.length - 1)
    for (let at = from; at < closed; at++) add(this.#done, lookAt(at, this.#done))
    const rest: Progress = { ...noProgress(), bytes: this.#done.bytes }
    const findings: MessageFindings[] = []
    for (let at = this.#done.messages; at < messages.length; at++) {
      findings.push(lookAt(at, rest))
      add(rest, findings.at(-1)!)
    }
    this.#remember({ messages, tools: request.tools }, findings)

    const breakpoints = [...fixedBreakpoints(request), ...this.#done.breakpoints, ...rest.breakpoints]
    const requestSubject = {
      request,
      model,
      breakpoints,
      media: mergeMedia(media === "unchecked" ? [] : [...this.#done.media, ...rest.media]),
      messageBytes: rest.bytes,
      ...(inputTokens === undefined ? {} : { inputTokens }),
    }
    const { system, tools } = request
    const isPromptDone = settled !== undefined && system === this.#prompt.system && tools === this.#prompt.tools
    const requestViolations: Violation[] = []
    for (const { name, check, isAboutPrompt } of REQUEST_RULES) {
      if (isAboutPrompt && (isPromptDone || isFollowed)) continue
      for (const each of check(requestSubject)) requestViolations.push({ rule: name, ...each })
    }
    if (requestViolations.length === 0) this.#prompt = { system, tools }
    const all = [...requestViolations, ...this.#done.violations, ...rest.violations]
    return isFollowed ? all.filter(({ rule }) => !CLIENT_RULES.has(rule)) : all
  }

  /** The findings for messages after the closed ones that are unchanged since the last request and have other messages after them. */
  #known({ messages, tools }: MessagesAndTools): readonly MessageFindings[] {
    const { messages: recent, findings, tools: offered } = this.#recent
    if (tools !== offered) return []
    const from = this.#done.messages
    let same = 0
    while (same < findings.length && from + same < messages.length - 1 && messages[from + same] === recent[same]) same++
    return findings.slice(0, same)
  }

  #remember({ messages, tools }: MessagesAndTools, findings: readonly MessageFindings[]): void {
    const wrong = findings.findIndex(({ violations }) => violations.length > 0)
    const newest = messages.at(-1) as { readonly role?: unknown } | undefined
    const max = newest?.role === "user" ? findings.length : findings.length - 1
    const valid = findings.slice(0, Math.min(wrong < 0 ? findings.length : wrong, max))
    const from = this.#done.messages
    this.#recent = { messages: messages.slice(from, from + valid.length), findings: valid, tools }
  }
}

function add(progress: Progress, { ids, breakpoints, media, violations, bytes }: MessageFindings): void {
  for (const id of ids) progress.usedIds.add(id)
  progress.breakpoints.push(...breakpoints)
  progress.media.push(...media)
  progress.violations.push(...violations)
  progress.messages++
  progress.bytes += bytes
}

/** Checks one message. */
function checkMessage(
  { request, model }: ValidationSubject,
  { index, isUsedId }: { readonly index: number; readonly isUsedId: (id: string) => boolean },
): MessageFindings {
  const raw = request.messages[index]!
  const message = toCheckedMessage(raw)
  const before = index > 0 ? toCheckedMessage(request.messages[index - 1]!) : undefined
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
  const findings = { ids: [] as string[], breakpoints: [] as Breakpoint[], media: [] as CheckedMedia[] }
  const violations: Violation[] = []
  for (const { name, check } of MESSAGE_RULES) {
    for (const found of check(subject)) violations.push({ rule: name, ...found })
  }
  for (const [at, block] of message.content.entries()) {
    if (block.type === "tool_use") findings.ids.push(String(block.id))
    findings.breakpoints.push(...listBreakpoints(block, `${subject.path}.content.${at}`))
    if (!mayHoldMedia(block)) continue
    const media = checkMedia(block, `${subject.path}.content.${at}`)
    if (media.imageCount > 0 || media.unreadable.length > 0) findings.media.push(media)
  }
  return { ...findings, violations, bytes: bytesOf(raw) }
}

const mayHoldMedia = ({ type, content }: CheckedBlock): boolean =>
  type === "image" || type === "document" || Array.isArray(content)

/** The images and documents of a block, including those inside results and documents. */
function checkMedia(block: CheckedBlock, path: string): CheckedMedia {
  const { field, items } = nestedBlocks(block ?? {})
  const nested = items.map((item, i) => checkMedia(item, `${path}.${field}.${i}`))
  const { type, source } = block ?? {}
  const { type: kind, data, media_type } = (source ?? {}) as Readonly<Record<string, unknown>>
  const isEmbedded = kind === "base64" && typeof data === "string"
  const own = {
    imageCount: type === "image" ? 1 : 0,
    images: type === "image" && isEmbedded ? [checkedImage(data, media_type, path)] : [],
    unreadable: type === "document" && isEmbedded && !isPdf(data) ? [path] : [],
  }
  return nested.length === 0 ? own : mergeMedia([own, ...nested])
}

function checkedImage(data: string, mediaType: unknown, path: string): CheckedImage {
  const size = readImageSize(data)
  const longerSide = size && Math.min(size.width, size.height) > 0 ? Math.max(size.width, size.height) : undefined
  return { path, bytes: data.length, longerSide, hasRightMediaType: size?.mediaType === mediaType }
}

const mergeMedia = (all: readonly CheckedMedia[]): CheckedMedia => ({
  images: all.flatMap(({ images }) => images),
  imageCount: all.reduce((sum, { imageCount }) => sum + imageCount, 0),
  unreadable: all.flatMap(({ unreadable }) => unreadable),
})

function listBreakpoints(block: CheckedBlock, path: string): Breakpoint[] {
  if (typeof block !== "object" || block === null) return []
  const { field, items } = nestedBlocks(block)
  const inner = items.flatMap((item, i) => listBreakpoints(item, `${path}.${field}.${i}`))
  if (!block.cache_control) return inner
  return [
    ...inner,
    { path, ttl: block.cache_control.ttl ?? "5m", onEmptyText: block.type === "text" && block.text === "" },
  ]
}

/** The blocks inside a block, and the path of the field that contains them. */
function nestedBlocks({ type, content, source }: CheckedBlock): { field: string; items: readonly CheckedBlock[] } {
  const isDocument = type === "document"
  const inner = isDocument ? (source as { content?: unknown } | null | undefined)?.content : content
  return { field: isDocument ? "source.content" : "content", items: Array.isArray(inner) ? inner : [] }
}

/** Breakpoints on tools and system prompt. They precede those on messages. */
function fixedBreakpoints({ tools, system }: ModelRequest): Breakpoint[] {
  const breakpointsIn = (list: unknown, path: string) =>
    (Array.isArray(list) ? list : []).flatMap((item: CheckedBlock, i) => listBreakpoints(item, `${path}.${i}`))
  return [...breakpointsIn(tools, "tools"), ...breakpointsIn(system, "system")]
}

/** The size of a message in a request body, in UTF-8 bytes. */
function bytesOf(message: ModelRequest["messages"][number]): number {
  return Buffer.byteLength(JSON.stringify(message) ?? "")
}
