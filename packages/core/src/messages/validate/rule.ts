/** The types of the validator's rules. Each rule has a name, which every violation carries. */
import type { ModelRequest } from "../request.ts"

/** What the rules need to know about the model. `tokens/` has it for every known model. */
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
    readonly toolReferences: boolean
    /** Deletions in the server's cache. No public model accepts them. */
    readonly cacheEditing: boolean
  }
}

export interface Violation {
  readonly rule: string
  /** Where in the request: `messages.3.content.0`. */
  readonly path: string
  readonly message: string
}

/** A rule for everything in the request except its messages. */
export interface RequestRule {
  readonly name: string
  /** Its outcome depends on the system prompt and the tools alone. */
  readonly isAboutPrompt?: true
  check(subject: RequestSubject): readonly Omit<Violation, "rule">[]
}

export interface RequestSubject {
  readonly request: ModelRequest
  readonly model: ModelRules
  /** The size of the input in tokens, if known. */
  readonly inputTokens?: number
  /** The size of the messages in bytes. */
  readonly messageBytes: number
  readonly breakpoints: readonly Breakpoint[]
  readonly media: CheckedMedia
}

/** The images and documents in the messages. */
export interface CheckedMedia {
  /** In base64. */
  readonly images: readonly CheckedImage[]
  /** All images, also those that the request only refers to. */
  readonly imageCount: number
  /** The paths of documents in base64 that are not PDFs. */
  readonly unreadable: readonly string[]
}

/** An image in base64 anywhere in the messages. */
export interface CheckedImage {
  readonly path: string
  readonly bytes: number
  /** Pixels on its longer side. `undefined`: it cannot be read. */
  readonly side: number | undefined
  readonly isRightlyLabelled: boolean
}

export interface Breakpoint {
  readonly path: string
  readonly ttl: "5m" | "1h"
  readonly onEmptyText: boolean
}

/** A message before it is known to be valid: any role, any block type. */
export interface CheckedMessage {
  readonly role: string
  readonly content: readonly CheckedBlock[]
  /** As it is in the request. */
  readonly raw: unknown
}

export interface CheckedBlock {
  readonly type: string
  readonly text?: unknown
  readonly source?: unknown
  readonly id?: unknown
  readonly name?: unknown
  readonly input?: unknown
  readonly tool_use_id?: unknown
  readonly content?: unknown
  readonly citations?: unknown
  readonly cache_control?: { readonly ttl?: "5m" | "1h" } | null
}

/** A rule for one message and its neighbours. */
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
  /** Whether an earlier message has a tool call with this id. */
  readonly isUsedId: (id: string) => boolean
  readonly request: ModelRequest
  readonly model: ModelRules
}
