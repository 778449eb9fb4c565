/**
 * What a journal holds. A message entry is a message in the shape of a Claude Code transcript line; a decision entry says
 * what was done to the view of earlier messages. Decisions refer to content by id and never repeat it, so a journal grows
 * with what was said, not with what was done to it.
 */
import type { FailureReason } from "../base/telemetry.ts"
import type { Repair } from "../messages/flatten.ts"
import type { Boundary, Message, Usage, Uuid } from "../messages/messages.ts"
import { isBoundary } from "../messages/messages.ts"

export type MessageEntry = Message
export type BoundaryEntry = Boundary
export type Entry = MessageEntry | DecisionEntry

/** A line of our own. Other programs' transcript readers skip lines of this type. */
export type DecisionEntry = {
  readonly type: "strata"
  readonly uuid: Uuid
  /** The message that was the newest when the decision was made. Messages never have a decision as their parent. */
  readonly parentUuid: Uuid | null
  readonly timestamp: string
} & Decision

export type Decision =
  /** What listing and resuming need; written at the start, after each boundary and when it changes (JRN-7). */
  | ({ readonly subtype: "session" } & SessionFacts)
  /** System prompt, tools and context preamble as every later request sends them (CACHE-2). */
  | {
      readonly subtype: "prompt-rendered"
      readonly why: "start" | "boundary" | "changed"
      readonly system: unknown
      readonly tools: unknown
      readonly context: string
    }
  | { readonly subtype: "repaired"; readonly repairs: readonly Repair[] }
  | {
      readonly subtype: "media-withheld"
      readonly blocks: readonly { readonly address: string; readonly why: string }[]
    }
  | {
      readonly subtype: "tool-result-persisted"
      readonly toolUseId: string
      readonly path: string
      readonly bytes: number
      /** How many characters of the result stay in the context, from its beginning and from its end. */
      readonly head: number
      readonly tail: number
      /** Where the beginning ends. */
      readonly cut?: "line-end" | "mid-line"
      /** What a JSON text is made of, in a line. */
      readonly shape?: string
      /** Images and documents in the result, each in a file of its own. */
      readonly media?: readonly { readonly path: string; readonly mediaType: string; readonly bytes: number }[]
      readonly effect?: Effect
    }
  /** A result without content is shown as a marker that names its tool (L1-6). */
  | { readonly subtype: "tool-result-empty"; readonly toolUseId: string; readonly tool: string }
  /** A request carries these as they are. Nothing is decided about them on arrival any more, whatever the settings are later (L1-4). */
  | { readonly subtype: "tool-results-sent"; readonly toolUseIds: readonly string[] }
  | {
      readonly subtype: "tool-results-cleared"
      readonly toolUseIds: readonly string[]
      readonly why: "idle" | "size" | "api" | "cache-edit"
      /** Memories attached long ago that are no longer shown either (L2-7). */
      readonly attachments?: readonly Uuid[]
      readonly effect?: Effect
    }
  /** Deletions inside the server's cache are no longer sent: the cache they were made in is gone (L2-3). */
  | { readonly subtype: "cache-edits-dropped"; readonly why: string }
  /** What the server reports to have cleared from its own copy of a request (L2-5). */
  | {
      readonly subtype: "server-edited"
      readonly edits: readonly unknown[]
      /** The first call whose result it left whole: it is asked to leave the same ones in every later request. */
      readonly keptFrom?: string
    }
  /** Thinking in all messages up to this decision is no longer sent: what it was bound to has changed (CACHE-6). */
  | { readonly subtype: "thinking-dropped"; readonly why: string }
  /** The notes tell everything up to a message (L3-6). */
  | {
      readonly subtype: "notes-updated"
      readonly throughUuid: Uuid
      readonly path: string
      readonly tokens: number
      /** Size of the context when they were written. */
      readonly contextTokens: number
      /** The name under which the store keeps them as they were then: the file itself goes on with the newest branch. */
      readonly kept?: string
    }
  /** How the boundary before it came about (L4-4). */
  | ({ readonly subtype: "compacted"; readonly boundary: Uuid; readonly kept: readonly Uuid[] } & CompactionFacts)
  /** An attempt that changed nothing; three in a row stop the automatic ones (L4-3). */
  | {
      readonly subtype: "compaction-failed"
      readonly trigger: "auto" | "manual"
      readonly reason: FailureReason
      readonly message: string
    }
  /** A response that work in the background was billed for. */
  | {
      readonly subtype: "spent"
      readonly purpose: BackgroundPurpose
      readonly model: string
      readonly responseId: string
      readonly usage: Usage
    }
  | { readonly subtype: "undone"; readonly decision: Uuid }
  /** A message that was typed while the system was busy takes its place behind the newest one. */
  | { readonly subtype: "delivered"; readonly queued: Uuid }
  /** The conversation goes on from `parentUuid` (JRN-5). */
  | { readonly subtype: "rewound" }
  /** This journal was copied from another one. */
  | { readonly subtype: "branched"; readonly from: { readonly conversation: string; readonly uuid: Uuid } }
  /** Where an imported conversation came from, and how much of it was understood. */
  | { readonly subtype: "imported"; readonly format: string; readonly source: string; readonly report: unknown }

/** What a decision does to the bill, in tokens, estimated when it is made. */
export interface Effect {
  /** No longer sent with every request. */
  readonly saves: number
  /** Stand behind the changed place and must be written to the cache again. 0 where the cache was gone anyway. */
  readonly rewrites: number
  /** It stands in for a compaction, which would have been due with this request. */
  readonly spares?: "compaction"
}

/** What a model is asked for besides the conversation itself. */
export type BackgroundPurpose = "notes" | "compaction" | "memory" | "agent"

export interface CompactionFacts {
  readonly trigger: "auto" | "manual"
  readonly route: string
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly threshold: number
  /** The compaction before this one, and how many responses came between. */
  readonly previous?: { readonly boundary: Uuid; readonly responses: number }
}

export interface SessionFacts {
  readonly title?: string
  readonly mode?: string
  readonly model: string
  readonly cwd: string
  /** The `prompt-rendered` decision in force. */
  readonly prompt?: Uuid
}

export type DecisionOf<S extends Decision["subtype"]> = Extract<Decision, { subtype: S }>

export function isDecision(entry: Entry): entry is DecisionEntry {
  return entry.type === "strata"
}

export function isMessage(entry: Entry): entry is MessageEntry {
  return entry.type !== "strata"
}

export function isBoundaryEntry(entry: Entry): entry is BoundaryEntry {
  return isMessage(entry) && isBoundary(entry)
}

/** `Omit` that keeps a union a union. */
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** A message or decision that has not been placed in the journal yet. */
export type Draft = MessageDraft | DecisionDraft
export type MessageDraft = Without<Message, "uuid" | "parentUuid" | "timestamp"> &
  Partial<Pick<Message, "uuid" | "timestamp">>
export type DecisionDraft = { readonly type: "strata" } & Decision
