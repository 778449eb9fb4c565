/**
 * Ranges of messages that decisions take out of the view. A snipped range leaves nothing; a folded one leaves the line that its decision
 * holds. Where two decisions cover a message, the later one counts, and undoing it brings the earlier one back.
 */
import type { DecisionEntry } from "../../journal/entries.ts"
import type { Attachment } from "../../messages/attachments.ts"
import type { Message, UserMessage, Uuid } from "../../messages/messages.ts"

/**
 * Attachments that say how things are from their place on. They stay where a range around them is hidden. The list decides what was sent,
 * so a kind that is on it stays on it.
 */
const STANDING: ReadonlySet<Attachment["type"]> = new Set([
  ...(["plan_file", "plan_mode", "permission_mode", "date", "todo_list"] as const),
  ...(["skill_content", "skill_listing", "agent_status", "agent_listing"] as const),
  ...(["tool_delta", "deferred_tools", "mcp_instructions"] as const),
  ...(["nested_memory", "standing_memory", "carried_facts"] as const),
  ...(["files_restored"] as const),
])

/** Whether a message goes with its range. */
export const goesWithRange = (message: Message): boolean =>
  message.type !== "attachment" || !STANDING.has(message.attachment.type)

export type FoldDecision = Extract<DecisionEntry, { subtype: "folded" }>
export type RangeDecision = FoldDecision | Extract<DecisionEntry, { subtype: "snipped" }>

export const hidesRange = (decision: DecisionEntry): decision is RangeDecision =>
  decision.subtype === "folded" || decision.subtype === "snipped"

const lines = new WeakMap<RangeDecision, UserMessage>()

/** The message that is sent in place of a folded range. Always the same object, because blocks are known by identity. */
export function foldLine(decision: FoldDecision): UserMessage {
  const known = lines.get(decision)
  if (known) return known
  const { uuid, timestamp, line } = decision
  const content = [{ type: "text" as const, text: line.toWellFormed() }]
  const message: UserMessage = {
    type: "user",
    uuid,
    parentUuid: null,
    timestamp,
    isMeta: true,
    message: { role: "user", content },
  }
  lines.set(decision, message)
  return message
}

/** A range in force, with the messages it hides. */
export interface HiddenMessages {
  readonly decision: RangeDecision
  readonly messages: readonly Message[]
}

export class HiddenRanges {
  /** By message: the decision that hides it. */
  readonly #by = new Map<Uuid, RangeDecision>()

  get isEmpty(): boolean {
    return this.#by.size === 0
  }

  hides({ uuid }: Message): boolean {
    return this.#by.has(uuid)
  }

  /** A range whose ends are not in view changes nothing. */
  decide(decision: RangeDecision, messages: readonly Message[]): void {
    const first = messages.findIndex(({ uuid }) => uuid === decision.from)
    const last = messages.findIndex(({ uuid }) => uuid === decision.to)
    if (first < 0) return
    for (const message of messages.slice(first, last + 1))
      if (goesWithRange(message)) this.#by.set(message.uuid, decision)
  }

  /** For each message what is sent in its place: itself, the line of its range, or nothing. */
  shown(messages: readonly Message[]): readonly (Message | undefined)[] {
    if (this.isEmpty) return messages
    const seen = new Set<RangeDecision>()
    return messages.map((message) => {
      const decision = this.#by.get(message.uuid)
      if (!decision) return message
      if (decision.subtype !== "folded" || seen.has(decision)) return undefined
      seen.add(decision)
      return foldLine(decision)
    })
  }

  /** The ranges in force, in the order of the messages. */
  inForce(messages: readonly Message[]): readonly HiddenMessages[] {
    const found = new Map<RangeDecision, Message[]>()
    for (const message of messages) {
      const decision = this.#by.get(message.uuid)
      if (!decision) continue
      const hidden = found.get(decision)
      if (hidden) hidden.push(message)
      else found.set(decision, [message])
    }
    return [...found].map(([decision, hidden]) => ({ decision, messages: hidden }))
  }
}
