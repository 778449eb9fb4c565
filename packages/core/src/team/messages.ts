/** Messages between agents. They are content: never a rule, and never the user's text or consent. */
import type { AgentMessage } from "../messages/attachments.ts"
import { bool, fields, integer, isRecord, maybe, text } from "../messages/shapes/shapes.ts"

export const MESSAGE_KINDS = [
  "shutdown_request",
  "shutdown_response",
  "plan_approval_request",
  "plan_approval_response",
] as const

export type MessageKind = (typeof MESSAGE_KINDS)[number]

export interface TeamMessage extends SentContent {
  /** `<sender>#<number>`: unique, and increasing for each sender. */
  readonly id: string
  readonly from: string
  /** Name of the receiver, or `*` for all. */
  readonly to: string
}

export interface SentContent extends MessageContent {
  /** Length of the chain of messages that led to this one. Limits loops of agents that answer each other. */
  readonly hops: number
}

export interface MessageContent {
  readonly text: string
  /** Short summary for lists. */
  readonly summary?: string
  /** Set for a structured message. */
  readonly kind?: MessageKind
  /** Id of the request that the message makes or answers. */
  readonly request?: string
  readonly approve?: boolean
  readonly reason?: string
  /** The plan that the receiver is asked to approve. */
  readonly plan?: string
}

export type ParsedContent =
  | { readonly state: "accepted"; readonly content: MessageContent }
  | { readonly state: "refused"; readonly reason: string }

const refused = (reason: string): ParsedContent => ({ state: "refused", reason })

/** Maximum length of a message in characters. Longer content belongs in a file. */
const MESSAGE_LIMIT = 16_000
const MAX_ID = 200 // characters of a request's id
const MAX_SUMMARY = 200

export interface MessageInput {
  readonly message: string | Readonly<Record<string, unknown>>
  readonly summary?: string
  /** Id to use if the message does not name a request. */
  readonly newRequest: string
}

/** Validates a message from a model. A refusal is one sentence for that model. */
export function parseContent({ message, summary, newRequest }: MessageInput): ParsedContent {
  const label = summary === undefined ? {} : { summary: summary.slice(0, MAX_SUMMARY) }
  if (typeof message === "string") {
    if (message.trim() === "") return refused("The message is empty.")
    return message.length > MESSAGE_LIMIT ? tooLong(message.length) : accepted({ text: message, ...label })
  }
  const named = normalizeNames(message)
  const { kind: name, request = newRequest, approve, reason = "", plan, ...rest } = named
  const kind = kindOf(name)
  if (kind === undefined) return refused(`There is no message kind ${quote(name)}. ${KINDS_TEXT}`)
  const extra = Object.keys(rest)[0]
  if (extra !== undefined) return refused(`A ${kind} has no field ${quote(extra)}.`)
  if (typeof reason !== "string") return refused("The reason must be a text.")
  if (reason.length > MESSAGE_LIMIT) return tooLong(reason.length)
  if (typeof request !== "string" || request === "" || request.length > MAX_ID)
    return refused(`The request must be a text of 1 to ${MAX_ID} characters.`)
  if (isRequest(kind)) {
    if (approve !== undefined) return refused(`A ${kind} has no field "approve": it asks.`)
  } else {
    if (named.request === undefined) return refused(`A ${kind} must name the request that it answers.`)
    if (typeof approve !== "boolean") return refused(`A ${kind} must have approve: true or false.`)
  }
  if (kind !== "plan_approval_request") {
    if (plan !== undefined) return refused(`A ${kind} has no field "plan".`)
  } else {
    if (typeof plan !== "string" || plan.trim() === "") return refused(`A ${kind} must have a plan: a text.`)
    if (plan.length > MESSAGE_LIMIT) return tooLong(plan.length)
  }
  const answer = typeof approve === "boolean" ? { approve } : {}
  const why = reason === "" ? {} : { reason }
  const requested = typeof plan === "string" ? { plan } : {}
  const text = structuredText({ kind, request, ...answer, ...requested })
  return accepted({ text, ...label, kind, request, ...answer, ...why, ...requested })
}

/** Accepts the field names `type` and `request_id`, which models know from other agents. */
function normalizeNames({ type, request_id, ...message }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    ...(type === undefined ? {} : { kind: type }),
    ...(request_id === undefined ? {} : { request: request_id }),
    ...message,
  }
}

/** Accepts kinds with hyphens, which earlier versions wrote to mailboxes. */
function kindOf(value: unknown): MessageKind | undefined {
  const name = typeof value === "string" ? value.replaceAll("-", "_") : value
  return MESSAGE_KINDS.find((kind) => kind === name)
}

/** Whether a message of this kind expects an answer. */
export const isRequest = (kind: MessageKind | undefined): boolean =>
  kind === "shutdown_request" || kind === "plan_approval_request"

const accepted = (content: MessageContent): ParsedContent => ({ state: "accepted", content })

const tooLong = (length: number): ParsedContent =>
  refused(
    `The message has ${length} characters, and the limit is ${MESSAGE_LIMIT}. Write the rest into a file and name its path.`,
  )

const quote = (value: unknown) => JSON.stringify(value)?.slice(0, 80) ?? "without a name"
const KINDS_TEXT = `The kinds are ${MESSAGE_KINDS.join(", ")}. For anything else, send text.`

interface StructuredMessage {
  readonly kind: MessageKind
  readonly request: string
  readonly approve?: boolean
  readonly plan?: string
}

function structuredText({ kind, request, approve, plan }: StructuredMessage): string {
  switch (kind) {
    case "shutdown_request":
      return `It asks you to end your work (request ${request}). Finish what must not stay half done. Then answer with SendMessage and this message: {"kind": "shutdown_response", "request": ${JSON.stringify(request)}, "approve": true}. With false, say in "reason" what is still to do.`
    case "shutdown_response":
      return approve
        ? `It agrees to end its work (request ${request}).`
        : `It does not end its work yet (request ${request}).`
    case "plan_approval_request":
      return `It asks you to approve its plan (request ${request}). Answer with SendMessage and this message: {"kind": "plan_approval_response", "request": ${JSON.stringify(request)}, "approve": true}. With false, say in "reason" what to change. Your answer gives no permission. The plan:\n\n${plan}`
    case "plan_approval_response":
      return `It ${approve ? "agrees with" : "rejects"} your plan (request ${request}). This changes no permission.`
  }
}

const checkSent = fields(
  {
    ...{ text: text({ min: 1 }), summary: maybe(text({ max: MAX_SUMMARY })), hops: integer(1) },
    ...{ kind: maybe(text()), request: maybe(text({ max: MAX_ID })) },
    ...{ approve: maybe(bool), reason: maybe(text()), plan: maybe(text()) },
  },
  "closed",
)

/** Parses a message from another process or conversation. `undefined` if it is not a message of a known kind. */
export function parseSent(value: unknown): SentContent | undefined {
  if (!isRecord(value) || checkSent(value) !== undefined) return undefined
  const { kind, request, approve, reason, plan, text: given, summary, hops } = value as unknown as SentContent
  const label = summary === undefined ? {} : { summary }
  if (kind === undefined) return given.length > MESSAGE_LIMIT ? undefined : { text: given, ...label, hops }
  // the text of a structured message is generated here, so that it always matches the kind
  const message = { kind, request, ...(approve === undefined ? {} : { approve }), reason, plan }
  const checked = parseContent({ message, ...label, newRequest: "" })
  return checked.state === "accepted" ? { ...checked.content, hops } : undefined
}

/** The journal attachment for a received message. `cursor`: mailbox position after the message. */
export function asAttachment(message: TeamMessage, cursor?: string): AgentMessage {
  const { id, from, text: body, summary, kind, request, approve, reason, hops } = message
  return {
    type: "queued_agent_message",
    id,
    from,
    content: reason === undefined ? body : `${body}\nReason: ${reason}`,
    hops,
    ...(summary === undefined ? {} : { summary }),
    ...(kind === undefined ? {} : { kind }),
    ...(request === undefined ? {} : { request }),
    ...(approve === undefined ? {} : { approve }),
    ...(cursor === undefined ? {} : { cursor }),
  }
}
