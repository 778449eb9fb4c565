/**
 * The entries of a journal. A message entry has the shape of a Claude Code transcript line. A decision entry records a change
 * to how earlier messages are sent. Decisions refer to content by id and never repeat it, so they stay small.
 */

import type { RequestSource } from "../base/enums.ts"
import type { CompactionFailureReason } from "../base/telemetry.ts"
import { type Boundary, isBoundary, type Message, type Repair, type Usage, type Uuid } from "../messages/messages.ts"
import type { LearnedLimit } from "../tokens/window.ts"

export type MessageEntry = Message
export type BoundaryEntry = Boundary
/** A line of the journal. */
export type Entry = MessageEntry | DecisionEntry

/** An entry of Strata's own type. Other programs that read transcripts skip it. */
export type DecisionEntry = {
  readonly type: "strata"
  readonly uuid: Uuid
  /** The newest message when the decision was made. A decision is never the parent of a message. */
  readonly parentUuid: Uuid | null
  readonly timestamp: string
} & Decision

/** Cache lifetimes of two groups of breakpoints: tools and system prompt, and messages. */
export interface ChosenLifetimes {
  readonly forPrompt: "5m" | "1h"
  readonly forMessages: "5m" | "1h"
}

/** A recorded decision. `subtype` is its kind. Names in this type are field names on disk, so they do not change. */
export type Decision =
  /** Facts that listing and resuming need. Written after the first message, after each boundary and on every change. */
  | ({ readonly subtype: "session" } & SessionFacts)
  /** System prompt, tools and context preamble, as all later requests send them. */
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
      /** Set if the user requested it. */
      readonly asked?: true
    }
  | {
      readonly subtype: "tool-result-persisted"
      readonly toolUseId: string
      /** Absent if the store has no files. The handle then identifies the result. */
      readonly path?: string
      /** Name of the tool that returns the result by its handle. Set if there is no file and the model has such a tool. */
      readonly recall?: string
      readonly bytes: number
      /** How many characters of the start and the end stay in the context. */
      readonly head: number
      readonly tail: number
      /** Whether the preserved start ends at a line end. */
      readonly cut?: "line-end" | "mid-line"
      /** The structure of a JSON result, in one line. */
      readonly shape?: string
      /** Images and documents of the result, each in its own file. */
      readonly media?: readonly { readonly path?: string; readonly mediaType: string; readonly bytes: number }[]
      readonly effect?: DecisionEffect
    }
  /** A result without content is sent as a marker that names its tool. */
  | { readonly subtype: "tool-result-empty"; readonly toolUseId: string; readonly tool: string }
  /** A request has sent these results in full. Layer 1 does not offload them later, even if its settings change. */
  | { readonly subtype: "tool-results-sent"; readonly toolUseIds: readonly string[] }
  | {
      readonly subtype: "tool-results-cleared"
      readonly toolUseIds: readonly string[]
      /** `asked`: the user requested it. */
      readonly why: "idle" | "size" | "api" | "cache-edit" | "asked"
      /** Why clearing pays, in one sentence. */
      readonly planned?: string
      /** Old attached memories that are cleared with the results. */
      readonly attachments?: readonly Uuid[]
      /** The stub that replaces each result, by call id. Stored as text, so that a later version sends the same bytes. */
      readonly residues?: Readonly<Record<string, string>>
      /** Why each result is no longer needed, by call id. */
      readonly overtaken?: Readonly<Record<string, OvertakenBy>>
      /** Long results that were shortened by the same decision. */
      readonly shortened?: readonly ShortenedResult[]
      readonly effect?: DecisionEffect
    }
  /** Long results in the tail after a compaction, and results that could not be offloaded. */
  | { readonly subtype: "tool-results-shortened"; readonly results: readonly ShortenedResult[] }
  /** Deletions in the server's cache are no longer sent, because that cache has expired. */
  | { readonly subtype: "cache-edits-dropped"; readonly why: string }
  /** Edits that the server reports for its copy of a request. */
  | {
      readonly subtype: "server-edited"
      readonly edits: readonly unknown[]
      /** The first call whose result the server left complete. Every later request asks it to leave the same results. */
      readonly keptFrom?: string
    }
  /** Thinking in all earlier messages, or in the listed ones, is no longer sent, because the content it is bound to has changed. */
  | { readonly subtype: "thinking-dropped"; readonly why: string; readonly inMessages?: readonly Uuid[] }
  /** The session notes cover everything up to this message. */
  | {
      readonly subtype: "notes-updated"
      readonly throughUuid: Uuid
      /** Absent if the store has no files. */
      readonly path?: string
      readonly tokens: number
      /** The size of the context when the notes were written. */
      readonly contextTokens: number
      /** The name of the stored copy of this version. The notes file itself follows the newest branch. */
      readonly kept?: string
    }
  /** Memories were extracted from everything up to this message. */
  | {
      readonly subtype: "memory-extracted"
      readonly throughUuid: Uuid
      /** Files in the memory directory. */
      readonly written: readonly string[]
      /** Id of the change in the memory's history. */
      readonly change?: string
      /** Number of user messages until then. `agentWrites`: how often the agent had written memories itself. */
      readonly said: number
      readonly agentWrites: number
      /** Why the extraction was skipped. The messages count as extracted anyway. */
      readonly skipped?: "agent-wrote"
    }
  /** Lasting rules were extracted from the user's messages without a model. */
  | {
      readonly subtype: "memory-rules-kept"
      /** Number of user messages until then. */
      readonly said: number
      readonly written: readonly string[]
      readonly change?: string
    }
  /** A failed extraction. The next extraction covers its messages. */
  | { readonly subtype: "memory-extraction-failed"; readonly message: string }
  /**
   * Memories and past conversations were searched for these user messages. Matches are attached before the message, and a message is
   * searched for only once. `start`: the memories for the start of a conversation were read too.
   */
  | { readonly subtype: "memory-looked-up"; readonly about: readonly Uuid[]; readonly start?: true }
  /** Memories that the agent wrote with its file tools, or that the user asked to store. */
  | {
      readonly subtype: "memory-written"
      readonly by: "agent" | "person"
      readonly files: readonly string[]
      readonly change?: string
    }
  /** How the preceding boundary was made. */
  | ({ readonly subtype: "compacted"; readonly boundary: Uuid; readonly kept: readonly Uuid[] } & CompactionFacts)
  /** A failed compaction that changed nothing. Three consecutive failures stop automatic compaction. */
  | {
      readonly subtype: "compaction-failed"
      readonly trigger: "auto" | "manual"
      /** The purpose of the conversation's requests. Absent in older journals. */
      readonly source?: RequestSource
      readonly reason: CompactionFailureReason
      readonly message: string
    }
  /** Usage of a billed response that is not among the messages: from background work, or imported without its content. */
  | {
      readonly subtype: "spent"
      /** Older journals have `memory` for dreams, `agent` for progress lines and `compaction` for manual compactions. */
      readonly purpose: RequestSource
      readonly model: string
      readonly responseId: string
      /** The request's id in another program's transcript. */
      readonly requestId?: string
      readonly usage: Usage
      /** The sub-agent that made the request. */
      readonly agent?: string
      /** Number of responses summed up in `usage`, if more than one. Some programs record only totals. */
      readonly requests?: number
      /** For a keep-warm request: how long the server caches from then on. Older journals: five minutes. */
      readonly lifetime?: "5m" | "1h"
      /** The usage is partly estimated: the response did not arrive completely, or the transcript lacks it. */
      readonly estimated?: true
      /** The other program's transcript lacks the request, so it is estimated. */
      readonly unrecorded?: true
    }
  /** A limit learned from a refusal. It is the context window of this model at this address from now on. */
  | ({ readonly subtype: "limit-learnt" } & LearnedLimit)
  /** The learned limit of a model at an address no longer applies. */
  | { readonly subtype: "limit-forgotten"; readonly model: string; readonly address: string }
  /** The cache lifetime that the planner requests, and why in one sentence. */
  | ({
      readonly subtype: "cache-lifetime"
      readonly why: string
      /** Why an hour was expected to pay before any pause showed it: the client requests it, or it did in earlier conversations. */
      readonly expected?: "asked" | "earlier"
    } & ChosenLifetimes)
  /** A sub-agent has started. Its journal has the same id, under this conversation. */
  | ({ readonly subtype: "agent-started" } & AgentStart)
  /** A sub-agent has ended. `summary` is one line; the full result is in its journal. */
  | {
      readonly subtype: "agent-ended"
      readonly agent: string
      readonly status: AgentEnding
      readonly summary: string
      /** The highest hop count of the messages it answered, if greater than its lead's. */
      readonly hops?: number
      /** The conversation already contains the result, because it was imported with it. */
      readonly delivered?: boolean
    }
  /** A range of messages, inclusive, that is no longer sent. */
  | ({
      readonly subtype: "snipped"
      /** The reason, as the user or the agent wrote it. */
      readonly why: string
      /** Who proposed it. The user agreed in both cases. */
      readonly by: "user" | "agent"
    } & HiddenRange)
  /** A range of messages that is sent as one line. */
  | ({
      readonly subtype: "folded"
      /** The line as sent, so that later versions send the same bytes. */
      readonly line: string
      /** Decided together with the preceding fold, and undone with it. */
      readonly joined?: true
    } & HiddenRange)
  /**
   * An earlier decision no longer applies. A compaction is named by its boundary. The parent is that of the undone decision, so a path
   * contains both or neither.
   */
  | {
      readonly subtype: "undone"
      readonly decision: Uuid
      /** The size of the context once the compaction is undone. */
      readonly tokens?: number
      /** Where the user requested it. Absent if a caller of the library or a layer did. */
      readonly by?: UndoneBy
    }
  /** A message that was queued while the agent was busy now follows the newest message. */
  | { readonly subtype: "delivered"; readonly queued: Uuid }
  /** The conversation continues from `parentUuid`. */
  | { readonly subtype: "rewound" }
  /** This journal is a branch of another one. */
  | { readonly subtype: "branched"; readonly from: { readonly conversation: string; readonly uuid: Uuid } }
  /** The origin of an imported conversation, and how much of it the importer understood. */
  | { readonly subtype: "imported"; readonly format: string; readonly source: string; readonly report: unknown }
  /** A line that another program stores here verbatim. No view reads it. */
  | { readonly subtype: "foreign-line"; readonly line: unknown }
  /** Lines that another program retracted. They stay in the journal. */
  | ({ readonly subtype: "foreign-change" } & ExternalChange)

/** Where the user requested an undo: in a chat, with a command, or on a page of the dashboard. */
export type UndoneBy = "chat" | "command" | "page"

/** How a sub-agent runs. `wait`: its result is the tool result. The others run in the background; a teammate is named and stays for more tasks. */
export type AgentKind = "wait" | "background" | "fork" | "teammate"

/** A change by another program to its own lines. */
export interface ExternalChange {
  /** Entries whose lines no longer apply, or all lines so far. */
  readonly removed: readonly Uuid[] | "all"
  /** The program's id for the change, which identifies repetitions, and a checksum of the request. */
  readonly operation?: { readonly id: string; readonly sum: string }
}

/** How a sub-agent ended. */
export type AgentEnding = "completed" | "failed" | "killed"

/** How a sub-agent was started. */
export interface AgentStart {
  readonly agent: string
  readonly name: string
  readonly kind: AgentKind
  /** A short description for lists. */
  readonly description: string
  /** The name of its agent definition. */
  readonly definition?: string
  readonly model: string
  /** Id of the tool call that started it. */
  readonly callId: string
}

/** Messages that a decision hides from the view: the first and the last of them. */
export interface HiddenRange {
  readonly from: Uuid
  readonly to: Uuid
  /** Earlier thinking is bound to the hidden content, so it is not sent while this decision applies. */
  readonly thinking?: "dropped"
  readonly effect?: DecisionEffect
}

/**
 * Why a result is no longer needed: later work changed the file, read it again, succeeded where the call failed, or returned the same
 * text.
 */
export type OvertakenBy = "changed" | "read-again" | "succeeded" | "repeated"

/** How many characters of a result's start and end are sent. */
export interface ShortenedResult {
  readonly toolUseId: string
  readonly head: number
  readonly tail: number
  /** Why the result could not be offloaded, if that is the reason for shortening it. */
  readonly why?: string
}

/** Estimated effect of a decision on the cost, in tokens. */
export interface DecisionEffect {
  /** Tokens that requests no longer send. */
  readonly saves: number
  /** Tokens after the changed position, which must be written to the cache again. 0 if the cache had expired anyway. */
  readonly rewrites: number
  /** Set if the decision avoids a compaction that was due with this request. */
  readonly spares?: "compaction"
}

/** Inputs and results of a compaction. */
export interface CompactionFacts {
  readonly trigger: "auto" | "manual"
  /** The purpose of the conversation's requests. Absent in older journals. */
  readonly source?: RequestSource
  readonly route: string
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly threshold: number
  /** The previous compaction, and the number of responses since then. */
  readonly previous?: { readonly boundary: Uuid; readonly responses: number }
  /** Why the planner compacted before the window was full, in one sentence. */
  readonly planned?: string
  /** What the user asked the summary to focus on. */
  readonly instructions?: string
  /** The summary was written in the background, so no request waited for it. */
  readonly prepared?: boolean
  /** Results of checking the summary. Absent if it was not checked. */
  readonly audit?: AuditFigures
}

/** Results of checking a summary without a model. Shares are between 0 and 1. */
export interface AuditFigures {
  /** Share of the required facts that the view shows after the boundary without repairs. */
  readonly coverage: number
  /** Share of the checked claims that the conversation does not support. */
  readonly fabrication: number
  readonly perClass: {
    readonly coverage: Readonly<Record<string, AuditShare>>
    readonly fabrication: Readonly<Record<string, AuditShare>>
  }
  /** Short descriptions of what was removed, corrected or flagged. */
  readonly struck: readonly string[]
  /** Names and numbers that only unreadable content could confirm. Absent if everything was checked. */
  readonly unchecked?: readonly string[]
  /** Short descriptions of facts that were missing and were added. */
  readonly added: readonly string[]
}

/** A count and its total. */
export interface AuditShare {
  readonly found: number
  readonly of: number
}

/** Facts of a conversation that lists display. They change while it runs. */
export interface SessionFacts {
  readonly title?: string
  readonly mode?: string
  readonly model: string
  readonly cwd: string
  /**
   * Working directory of an imported conversation: what is learned from it belongs to the project there. Empty if the file is not one of
   * the user's own sessions, so that nothing is learned from it.
   */
  readonly origin?: string
  /** The `prompt-rendered` decision in effect. */
  readonly prompt?: Uuid
  /** The purpose of requests from here on. Default: `main`. */
  readonly source?: RequestSource
}

/** The decisions of one subtype. */
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

/** An entry that is not in the journal yet. */
export type EntryDraft = MessageDraft | DecisionDraft
/** The journal adds the fields that a draft omits. `Kind` makes `Omit` distribute over the union. */
export type MessageDraft<Kind extends Message = Message> = Kind extends unknown
  ? Omit<Kind, "uuid" | "parentUuid" | "timestamp"> & Partial<Pick<Message, "uuid" | "timestamp">>
  : never
/** A decision that is not in the journal yet. */
export type DecisionDraft = { readonly type: "strata" } & Decision
