/** Types of the validator's rules. Each rule has a name, which its violations carry. */
import type { ModelRequest } from "../request.ts"

/** The facts about a model that the rules need. `tokens/` has them for every known model. */
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
    /** Whether deletions in the server's cache are accepted. No public model accepts them. */
    readonly cacheEditing: boolean
  }
}

export interface Violation {
  readonly rule: string
  /** Path in the request: `messages.3.content.0`. */
  readonly path: string
  readonly message: string
}

/** A rule for everything in the request except its messages. */
export interface RequestRule {
  readonly name: string
  /** Whether the outcome depends only on the system prompt and the tools. */
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
  /** Images in base64. */
  readonly images: readonly CheckedImage[]
  /** Number of all images, including those sent by reference. */
  readonly imageCount: number
  /** The paths of documents in base64 that are not PDFs. */
  readonly unreadable: readonly string[]
}

/** An image in base64 anywhere in the messages. */
export interface CheckedImage {
  readonly path: string
  readonly bytes: number
  /** Pixels of the longer side. `undefined` if the image cannot be read. */
  readonly longerSide: number | undefined
  readonly hasRightMediaType: boolean
}

export interface Breakpoint {
  readonly path: string
  readonly ttl: "5m" | "1h"
  readonly onEmptyText: boolean
}

/** A message of unchecked content: any role, any block type. */
export interface CheckedMessage {
  readonly role: string
  readonly content: readonly CheckedBlock[]
  /** The original message of the request. */
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
