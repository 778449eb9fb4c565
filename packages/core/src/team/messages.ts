/** Messages between agents. What another agent says is content: never a rule, never the person's words or consent. */
import type { AgentMessage } from "../messages/attachments.ts"
import { fields, flag, isRecord, maybe, text, whole } from "../messages/shapes/shapes.ts"

export const MESSAGE_KINDS = [
  "shutdown_request",
  "shutdown_response",
  "plan_approval_request",
  "plan_approval_response",
] as const

export type MessageKind = (typeof MESSAGE_KINDS)[number]

export interface TeamMessage extends SentContent {
  /** `<sender>#<number>`: unique, in order for each sender. */
  readonly id: string
  readonly from: string
  /** A name, or `*` for all. */
  readonly to: string
}

export interface SentContent extends MessageContent {
  /** How many messages, one answering another, led to this one. It ends loops of agents that answer each other. */
  readonly hops: number
}

/** What a message says. */
export interface MessageContent {
  readonly text: string
  /** A few words for a list. */
  readonly summary?: string
  /** Set for a structured message. */
  readonly kind?: MessageKind
  /** The id of the request that it makes or answers. */
  readonly request?: string
  readonly approve?: boolean
  readonly reason?: string
  /** What the receiver is asked to approve. */
  readonly plan?: string
}

export type CheckedContent =
  | { readonly state: "accepted"; readonly content: MessageContent }
  | { readonly state: "refused"; readonly why: string }

const refused = (why: string): CheckedContent => ({ state: "refused", why })

/** The most characters of a message between agents: what is longer belongs into a file. */
const MESSAGE_LIMIT = 16_000
const MAX_ID = 200 // characters of a request's id
const MAX_SUMMARY = 200

export interface GivenMessage {
  readonly message: string | Readonly<Record<string, unknown>>
  readonly summary?: string
  /** The id for a request that has none. */
  readonly newRequest: string
}

/** Checks what a model wants to send. A refusal is one sentence for that model. */
export function checkContent({ message, summary, newRequest }: GivenMessage): CheckedContent {
  const about = summary === undefined ? {} : { summary: summary.slice(0, MAX_SUMMARY) }
  if (typeof message === "string") {
    if (message.trim() === "") return refused("The message is empty.")
    return message.length > MESSAGE_LIMIT ? tooLong(message.length) : accepted({ text: message, ...about })
  }
  const named = withUsualNames(message)
  const { kind: name, request = newRequest, approve, reason = "", plan, ...rest } = named
  const kind = kindOf(name)
  if (kind === undefined) return refused(`There is no message kind ${shown(name)}. ${KINDS_TEXT}`)
  const extra = Object.keys(rest)[0]
  if (extra !== undefined) return refused(`A ${kind} has no field ${shown(extra)}.`)
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
  const asked = typeof plan === "string" ? { plan } : {}
  const text = structuredText({ kind, request, ...answer, ...asked })
  return accepted({ text, ...about, kind, request, ...answer, ...why, ...asked })
}

/** Models that know the messages of other agents write `type` and `request_id`. */
function withUsualNames({ type, request_id, ...message }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    ...(type === undefined ? {} : { kind: type }),
    ...(request_id === undefined ? {} : { request: request_id }),
    ...message,
  }
}

/** Earlier versions wrote the names with hyphens: mailboxes may hold some. */
function kindOf(value: unknown): MessageKind | undefined {
  const name = typeof value === "string" ? value.replaceAll("-", "_") : value
  return MESSAGE_KINDS.find((kind) => kind === name)
}

/** Whether it asks for an answer. */
export const isRequest = (kind: MessageKind | undefined): boolean =>
  kind === "shutdown_request" || kind === "plan_approval_request"

const accepted = (content: MessageContent): CheckedContent => ({ state: "accepted", content })

const tooLong = (length: number): CheckedContent =>
  refused(
    `The message has ${length} characters, and the limit is ${MESSAGE_LIMIT}. Write the rest into a file and name its path.`,
  )

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 80) ?? "without a name"
const KINDS_TEXT = `The kinds are ${MESSAGE_KINDS.join(", ")}. For anything else, send text.`

interface Structured {
  readonly kind: MessageKind
  readonly request: string
  readonly approve?: boolean
  readonly plan?: string
}

function structuredText({ kind, request, approve, plan }: Structured): string {
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

const sentFlaw = fields(
  {
    ...{ text: text({ min: 1 }), summary: maybe(text({ max: MAX_SUMMARY })), hops: whole(1) },
    ...{ kind: maybe(text()), request: maybe(text({ max: MAX_ID })) },
    ...{ approve: maybe(flag), reason: maybe(text()), plan: maybe(text()) },
  },
  "closed",
)

/** Reads what another process or conversation sent. `undefined` if it is no message of a known kind. */
export function readSent(value: unknown): SentContent | undefined {
  if (!isRecord(value) || sentFlaw(value) !== undefined) return undefined
  const { kind, request, approve, reason, plan, text: given, summary, hops } = value as unknown as SentContent
  const about = summary === undefined ? {} : { summary }
  if (kind === undefined) return given.length > MESSAGE_LIMIT ? undefined : { text: given, ...about, hops }
  // what a structured message says is written here, so that its words cannot differ from its kind
  const message = { kind, request, ...(approve === undefined ? {} : { approve }), reason, plan }
  const checked = checkContent({ message, ...about, newRequest: "" })
  return checked.state === "accepted" ? { ...checked.content, hops } : undefined
}

/** How the receiver's journal keeps a message. `cursor`: how far its mailbox was read with it. */
export function asAttachment(message: TeamMessage, cursor?: string): AgentMessage {
  const { id, from, text: said, summary, kind, request, approve, reason, hops } = message
  return {
    type: "queued_agent_message",
    id,
    from,
    content: reason === undefined ? said : `${said}\nReason: ${reason}`,
    hops,
    ...(summary === undefined ? {} : { summary }),
    ...(kind === undefined ? {} : { kind }),
    ...(request === undefined ? {} : { request }),
    ...(approve === undefined ? {} : { approve }),
    ...(cursor === undefined ? {} : { cursor }),
  }
}
