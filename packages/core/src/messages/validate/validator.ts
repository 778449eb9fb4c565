/**
 * The strict validator. It checks every request before it is sent, against every rule of the API that can be checked here.
 * It remembers which messages are valid, so a request that continues the last one costs only what is new.
 */
import { InvalidRequestError } from "../../base/errors.ts"
import { readImageSize } from "../image-size.ts"
import type { ModelRequest } from "../request.ts"
import { MESSAGE_RULES } from "./message-rules.ts"
import { REQUEST_RULES } from "./request-rules.ts"
import {
  type Breakpoint,
  type CheckedBlock,
  type CheckedImage,
  checked,
  type ModelRules,
  type Violation,
} from "./rule.ts"

export interface ValidationSubject {
  readonly request: ModelRequest
  readonly model: ModelRules
  readonly inputTokens?: number
  /** Images and documents are left to the API. Default: they are checked too. */
  readonly media?: "unchecked"
  /** Saves work: the first `closed` messages are the same in all requests of one `revision`. */
  readonly settled?: { readonly closed: number; readonly revision: number }
}

/** Everything that is wrong with a request. */
export function validateRequest(subject: ValidationSubject): readonly Violation[] {
  return new RequestValidator().violations(subject)
}

/** The names of all rules, in the order of checking. */
export const RULE_NAMES: readonly string[] = [...REQUEST_RULES, ...MESSAGE_RULES].map(({ name }) => name)

/** What is known about the messages checked so far. */
interface Progress {
  messages: number
  readonly usedIds: Set<string>
  readonly breakpoints: Breakpoint[]
  readonly images: CheckedImage[]
  readonly violations: Violation[]
  bytes: number
}

const noProgress = (): Progress => ({
  messages: 0,
  usedIds: new Set(),
  breakpoints: [],
  images: [],
  violations: [],
  bytes: 0,
})

export class RequestValidator {
  #done = noProgress()
  #revision: number | undefined

  /** Throws if the API would reject the request. */
  check(subject: ValidationSubject): void {
    const violations = this.violations(subject)
    if (violations.length > 0) throw new InvalidRequestError(violations)
  }

  violations(subject: ValidationSubject): readonly Violation[] {
    const { request, model, inputTokens, media, settled } = subject
    const messages = Array.isArray(request.messages) ? request.messages : []
    // other rules apply to the last message, so it never counts as done
    const isLastDone = this.#done.messages >= messages.length
    if (settled?.revision !== this.#revision || isLastDone) this.#done = noProgress()
    this.#revision = settled?.revision
    const closed = Math.min(settled?.closed ?? 0, messages.length - 1)
    for (let at = this.#done.messages; at < closed; at++) look(this.#done, subject, at)
    const rest: Progress = { ...noProgress(), bytes: this.#done.bytes }
    for (let at = this.#done.messages; at < messages.length; at++) look(rest, subject, at, this.#done.usedIds)

    const breakpoints = [...fixedBreakpoints(request), ...this.#done.breakpoints, ...rest.breakpoints]
    const requestSubject = {
      request,
      model,
      breakpoints,
      images: media === "unchecked" ? [] : [...this.#done.images, ...rest.images],
      messageBytes: rest.bytes,
      ...(inputTokens === undefined ? {} : { inputTokens }),
    }
    return [
      ...REQUEST_RULES.flatMap(({ name, check }) => check(requestSubject).map((found) => ({ rule: name, ...found }))),
      ...this.#done.violations,
      ...rest.violations,
    ]
  }
}

/** Checks one message and adds what later messages need to know. */
function look(
  progress: Progress,
  { request, model }: ValidationSubject,
  index: number,
  earlierIds?: ReadonlySet<string>,
): void {
  const raw = request.messages[index]!
  const message = checked(raw)
  const before = index > 0 ? checked(request.messages[index - 1]!) : undefined
  const subject = {
    message,
    index,
    path: `messages.${index}`,
    previous: before,
    isLast: index === request.messages.length - 1,
    isUsedId: (id: string) => progress.usedIds.has(id) || earlierIds?.has(id) === true,
    request,
    model,
  }
  for (const { name, check } of MESSAGE_RULES) {
    for (const found of check(subject)) progress.violations.push({ rule: name, ...found })
  }
  for (const [at, block] of message.content.entries()) {
    if (block.type === "tool_use") progress.usedIds.add(String(block.id))
    progress.breakpoints.push(...breakpointsOf(block, `${subject.path}.content.${at}`))
    progress.images.push(...imagesOf(block, `${subject.path}.content.${at}`))
  }
  progress.messages++
  progress.bytes += bytesOf(raw)
}

/** Also those inside results and documents. */
function imagesOf(block: CheckedBlock, path: string): CheckedImage[] {
  const { type, source, content } = (block ?? {}) as CheckedBlock
  const inner = type === "document" ? (source as { content?: unknown } | undefined)?.content : content
  const field = type === "document" ? "source.content" : "content"
  const nested = Array.isArray(inner)
    ? inner.flatMap((item: CheckedBlock, i) => imagesOf(item, `${path}.${field}.${i}`))
    : []
  const { type: kind, data, media_type } = (source ?? {}) as { type?: unknown; data?: unknown; media_type?: unknown }
  if (type !== "image" || kind !== "base64" || typeof data !== "string") return nested
  const size = readImageSize(data)
  const side = size && Math.min(size.width, size.height) > 0 ? Math.max(size.width, size.height) : undefined
  return [{ path, bytes: data.length, side, isRightlyLabelled: size?.mediaType === media_type }]
}

function breakpointsOf(block: CheckedBlock, path: string): Breakpoint[] {
  if (typeof block !== "object" || block === null) return []
  const inner = Array.isArray(block.content)
    ? (block.content as CheckedBlock[]).flatMap((item, i) => breakpointsOf(item, `${path}.content.${i}`))
    : []
  if (!block.cache_control) return inner
  return [
    ...inner,
    { path, ttl: block.cache_control.ttl ?? "5m", onEmptyText: block.type === "text" && block.text === "" },
  ]
}

/** Breakpoints on tools and system prompt. They come before those on messages. */
function fixedBreakpoints({ tools = [], system }: ModelRequest): Breakpoint[] {
  const blocks = typeof system === "string" || system === undefined ? [] : system
  return [
    ...tools.flatMap((tool, i) => breakpointsOf(tool as unknown as CheckedBlock, `tools.${i}`)),
    ...blocks.flatMap((block, i) => breakpointsOf(block as CheckedBlock, `system.${i}`)),
  ]
}

/** The size of a message in a request body, in UTF-8 bytes. */
function bytesOf(message: ModelRequest["messages"][number]): number {
  return Buffer.byteLength(JSON.stringify(message) ?? "")
}
