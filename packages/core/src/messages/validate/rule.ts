/** What a rule of the validator is. Each has a name, so that a violation can be traced to the rule that found it. */
import type { ModelRequest } from "../request.ts"

/** What the rules need to know about the model; `tokens/` has it for every known model. */
export interface ModelRules {
  readonly id: string
  readonly window: number
  readonly maxOutput: number
  readonly accepts: {
    readonly overflowingOutput: boolean
    readonly prefill: boolean
    readonly thinkingBudget: boolean
    readonly adaptiveThinking: boolean
    readonly thinkingOff: boolean
    readonly forcedTools: boolean
    readonly systemMessages: boolean
    /** Deletions inside the server's cache, which no public model takes. */
    readonly cacheEditing: boolean
  }
}

export interface Violation {
  readonly rule: string
  /** Where in the request: `messages.3.content.0`. */
  readonly path: string
  readonly message: string
}

/** A rule about the request around the messages. */
export interface RequestRule {
  readonly name: string
  check(subject: RequestSubject): readonly Omit<Violation, "rule">[]
}

export interface RequestSubject {
  readonly request: ModelRequest
  readonly model: ModelRules
  /** Size of the input in tokens, where it is known. */
  readonly inputTokens?: number
  /** Size of the messages in bytes. */
  readonly messageBytes: number
  readonly breakpoints: readonly Breakpoint[]
}

export interface Breakpoint {
  readonly path: string
  readonly ttl: "5m" | "1h"
  readonly onEmptyText: boolean
}

/** A message as the rules look at it: any role, any block type, nothing taken for granted. */
export interface CheckedMessage {
  readonly role: string
  readonly content: readonly CheckedBlock[]
}

export interface CheckedBlock {
  readonly type: string
  readonly text?: unknown
  readonly id?: unknown
  readonly name?: unknown
  readonly input?: unknown
  readonly tool_use_id?: unknown
  readonly content?: unknown
  readonly citations?: unknown
  readonly cache_control?: { readonly ttl?: "5m" | "1h" } | null
}

/** A rule about one message and its neighbours. */
export interface MessageRule {
  readonly name: string
  check(subject: MessageSubject): readonly Omit<Violation, "rule">[]
}

export interface MessageSubject {
  readonly message: CheckedMessage
  readonly index: number
  readonly path: string
  readonly previous: CheckedMessage | undefined
  readonly isLast: boolean
  /** Whether a tool call with this id stands in an earlier message. */
  readonly isUsedId: (id: string) => boolean
  readonly request: ModelRequest
  readonly model: ModelRules
}
