/**
 * The entries of a journal. A message entry has the shape of a Claude Code transcript line. A decision entry records a change
 * to how earlier messages are sent. Decisions refer to content by id and never repeat it, so they stay small.
 */

import type { RequestSource } from "../base/enums.ts"
import type { CompactionFailureReason } from "../base/telemetry.ts"
import { type Boundary, isBoundary, type Message, type Repair, type Usage, type Uuid } from "../messages/messages.ts"
import type { LearnedLimit } from "../tokens/window.ts"

/** A message in the journal. */
export type MessageEntry = Message
export type BoundaryEntry = Boundary
/** A line of the journal. */
export type Entry = MessageEntry | DecisionEntry

/** A line of our own type. Other programs that read transcripts skip it. */
export type DecisionEntry = {
  readonly type: "strata"
  readonly uuid: Uuid
  /** The newest message when the decision was made. A decision is never the parent of a message. */
  readonly parentUuid: Uuid | null
  readonly timestamp: string
} & Decision

/** Per breakpoint: those of tools and system prompt, and those among the messages. */
export interface ChosenLifetimes {
  readonly forPrompt: "5m" | "1h"
  readonly forMessages: "5m" | "1h"
}

/** What Strata decided, as the journal has it. `subtype` says which kind. */
export type Decision =
  /** What listing and resuming need. Written after the first message, after each boundary and on every change. */
  | ({ readonly subtype: "session" } & SessionFacts)
  /** System prompt, tools and context preamble, as every later request sends them. */
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
      /** A person asked for it. */
      readonly asked?: true
    }
  | {
      readonly subtype: "tool-result-persisted"
      readonly toolUseId: string
      /** Absent where the store keeps no files: then the handle leads to it. */
      readonly path?: string
      /** The tool that returns it by its handle, where there is no file and the model has one. */
      readonly recall?: string
      readonly bytes: number
      /** How many characters of its beginning and of its end stay in the context. */
      readonly head: number
      readonly tail: number
      /** Whether the beginning ends at a line end. */
      readonly cut?: "line-end" | "mid-line"
      /** The structure of a JSON text, in one line. */
      readonly shape?: string
      /** Images and documents of the result, each in its own file. */
      readonly media?: readonly { readonly path?: string; readonly mediaType: string; readonly bytes: number }[]
      readonly effect?: DecisionEffect
    }
  /** A result without content is sent as a marker that names its tool. */
  | { readonly subtype: "tool-result-empty"; readonly toolUseId: string; readonly tool: string }
  /** A request has sent these results whole. Layer 1 leaves them alone from now on, even if its settings change. */
  | { readonly subtype: "tool-results-sent"; readonly toolUseIds: readonly string[] }
  | {
      readonly subtype: "tool-results-cleared"
      readonly toolUseIds: readonly string[]
      /** `asked`: by hand. */
      readonly why: "idle" | "size" | "api" | "cache-edit" | "asked"
      /** Why it pays, in one sentence. */
      readonly planned?: string
      /** Old attached memories that are cleared too. */
      readonly attachments?: readonly Uuid[]
      /** What stays of each result in its place, by call id. Text, so that a later version shows the same bytes. */
      readonly residues?: Readonly<Record<string, string>>
      /** What overtook each result, by call id. */
      readonly overtaken?: Readonly<Record<string, OvertakenBy>>
      /** Long results that were shortened with them. */
      readonly shortened?: readonly ShortenedResult[]
      readonly effect?: DecisionEffect
    }
  /** Long results of kept messages, and such that could not be put aside. */
  | { readonly subtype: "tool-results-shortened"; readonly results: readonly ShortenedResult[] }
  /** Deletions in the server's cache are no longer sent, because that cache is gone. */
  | { readonly subtype: "cache-edits-dropped"; readonly why: string }
  /** What the server says it cleared from its copy of a request. */
  | {
      readonly subtype: "server-edited"
      readonly edits: readonly unknown[]
      /** The first call whose result it left whole. Every later request asks it to leave the same ones. */
      readonly keptFrom?: string
    }
  /** Thinking in all messages before this decision, or in these, is no longer sent, because what it was bound to has changed. */
  | { readonly subtype: "thinking-dropped"; readonly why: string; readonly inMessages?: readonly Uuid[] }
  /** The notes cover everything up to a message. */
  | {
      readonly subtype: "notes-updated"
      readonly throughUuid: Uuid
      /** Absent where the store keeps no files. */
      readonly path?: string
      readonly tokens: number
      /** The size of the context when they were written. */
      readonly contextTokens: number
      /** The name of the copy the store keeps of this version. The file itself follows the newest branch. */
      readonly kept?: string
    }
  /** Everything up to a message was looked at for memories. */
  | {
      readonly subtype: "memory-extracted"
      readonly throughUuid: Uuid
      /** Files in the memory directory. */
      readonly written: readonly string[]
      /** The change in the history of the memory. */
      readonly change?: string
      /** How many messages of the person were there, and how often the agent had written memories itself. */
      readonly said: number
      readonly agentWrites: number
      /** Why nothing was looked at. The messages count as extracted all the same. */
      readonly skipped?: "agent-wrote"
    }
  /** The person's messages were looked at for lasting rules, without a model. */
  | {
      readonly subtype: "memory-rules-kept"
      /** How many messages of the person were there. */
      readonly said: number
      readonly written: readonly string[]
      readonly change?: string
    }
  /** A failed extraction. What it did not look at is looked at next time. */
  | { readonly subtype: "memory-extraction-failed"; readonly message: string }
  /**
   * Memories and past conversations were searched for these messages of the person. What was found is attached before it; nothing is found
   * later for the same message. `start`: what a conversation starts with was read too.
   */
  | { readonly subtype: "memory-looked-up"; readonly about: readonly Uuid[]; readonly start?: true }
  /** Memories that the agent wrote with its file tools, or that the person asked to keep. */
  | {
      readonly subtype: "memory-written"
      readonly by: "agent" | "person"
      readonly files: readonly string[]
      readonly change?: string
    }
  /** How the boundary before it was made. */
  | ({ readonly subtype: "compacted"; readonly boundary: Uuid; readonly kept: readonly Uuid[] } & CompactionFacts)
  /** A failed attempt that changed nothing. Three in a row stop automatic compaction. */
  | {
      readonly subtype: "compaction-failed"
      readonly trigger: "auto" | "manual"
      /** What the requests of the conversation are for. Absent in older journals. */
      readonly source?: RequestSource
      readonly reason: CompactionFailureReason
      readonly message: string
    }
  /** A billed response that is not among the messages: of background work, or imported without its content. */
  | {
      readonly subtype: "spent"
      /** Older journals have `memory` for dreams, `agent` for progress lines and `compaction` for compactions by hand. */
      readonly purpose: RequestSource
      readonly model: string
      readonly responseId: string
      /** As another program's transcript names the request. */
      readonly requestId?: string
      readonly usage: Usage
      /** The sub-agent that asked for it. */
      readonly agent?: string
      /** How many responses the usage is the sum of, if not one. Some programs record only totals. */
      readonly requests?: number
      /** Of a request that kept the cache warm: how long the server keeps it from then. Older journals: five minutes. */
      readonly lifetime?: "5m" | "1h"
      /** The answer did not arrive whole, or the transcript does not have it: its usage is partly a guess. */
      readonly estimated?: true
      /** Another program's transcript does not have this request at all. It is estimated too. */
      readonly unrecorded?: true
    }
  /** A refusal has shown how much a model at an address takes. It is the window from now on. */
  | ({ readonly subtype: "limit-learnt" } & LearnedLimit)
  /** What was learnt about a model at an address no longer counts. */
  | { readonly subtype: "limit-forgotten"; readonly model: string; readonly address: string }
  /** How long the planner asks the server to keep what later requests cache, and why in one sentence. */
  | ({
      readonly subtype: "cache-lifetime"
      readonly why: string
      /** An hour was expected to pay before any pause showed it: the caller asks for it, or it did in earlier conversations. */
      readonly expected?: "asked" | "earlier"
    } & ChosenLifetimes)
  /** A sub-agent begins. Its own journal is kept under this one, with the same id. */
  | ({ readonly subtype: "agent-started" } & AgentStart)
  /** A sub-agent has ended. `summary` is one line; the result itself is in its journal. */
  | {
      readonly subtype: "agent-ended"
      readonly agent: string
      readonly status: AgentEnding
      readonly summary: string
      /** The most hops of what it answered, where that is more than its lead had. */
      readonly hops?: number
      /** The conversation has its result already, because it was imported with it. */
      readonly delivered?: boolean
    }
  /** A range of messages is no longer sent. Both ends belong to it. */
  | ({
      readonly subtype: "snipped"
      /** In the person's or the agent's own words. */
      readonly why: string
      /** Who proposed it. The person has agreed either way. */
      readonly by: "user" | "agent"
    } & HiddenRange)
  /** A range of messages is sent as one line. */
  | ({
      readonly subtype: "folded"
      /** The line as it is sent, so that later versions send the same bytes. */
      readonly line: string
      /** Decided together with the fold before it, and undone with it. */
      readonly joined?: true
    } & HiddenRange)
  /** An earlier decision no longer counts. A compaction is named by its boundary. Its parent is that of the decision, so both are on a path or neither. */
  | {
      readonly subtype: "undone"
      readonly decision: Uuid
      /** The size of the context without a compaction. */
      readonly tokens?: number
      /** Where a person asked for it. Absent: a caller of the library did, or a layer. */
      readonly by?: UndoneBy
    }
  /** A message typed while the system was busy takes its place after the newest one. */
  | { readonly subtype: "delivered"; readonly queued: Uuid }
  /** The conversation continues from `parentUuid`. */
  | { readonly subtype: "rewound" }
  /** This journal was copied from another one. */
  | { readonly subtype: "branched"; readonly from: { readonly conversation: string; readonly uuid: Uuid } }
  /** Where an imported conversation came from, and how much of it the importer understood. */
  | { readonly subtype: "imported"; readonly format: string; readonly source: string; readonly report: unknown }
  /** A line that another program keeps here, as it is. It is content of that program: no view reads it. */
  | { readonly subtype: "foreign-line"; readonly line: unknown }
  /** What another program took back of its lines. They stay in the journal. */
  | ({ readonly subtype: "foreign-change" } & ExternalChange)

/** `wait`: its result is a tool result. The others work in the background; a teammate has a name and stays for more. */
/** Where a person asked for an undo: in a chat, with a command, or on a page of the dashboard. */
export type UndoneBy = "chat" | "command" | "page"

export type AgentKind = "wait" | "background" | "fork" | "teammate"

/** A change to the lines of another program. */
export interface ExternalChange {
  /** Entries whose lines no longer count, or all of them so far. */
  readonly removed: readonly Uuid[] | "all"
  /** The program's own name for the change, so that a repeated one is known, and a checksum of what was asked for. */
  readonly operation?: { readonly id: string; readonly sum: string }
}

/** How a sub-agent ended. */
export type AgentEnding = "completed" | "failed" | "killed"

/** A sub-agent as it was started. */
export interface AgentStart {
  readonly agent: string
  readonly name: string
  readonly kind: AgentKind
  /** A few words for a list. */
  readonly description: string
  /** The name of the definition it was made from. */
  readonly definition?: string
  readonly model: string
  /** The call that started it. */
  readonly callId: string
}

/** Messages that a decision takes out of the view: the first and the last of them. */
export interface HiddenRange {
  readonly from: Uuid
  readonly to: Uuid
  /** Thinking of the messages so far is bound to what changes here, so it is not sent while this decision holds. */
  readonly thinking?: "dropped"
  readonly effect?: DecisionEffect
}

/** What later work has done to a result: changed or read its file, succeeded where it failed, or returned the same text. */
export type OvertakenBy = "changed" | "read-again" | "succeeded" | "repeated"

/** How many characters of a result's beginning and of its end are shown. */
export interface ShortenedResult {
  readonly toolUseId: string
  readonly head: number
  readonly tail: number
  /** Why the result could not be put aside, if that is why it is shortened. */
  readonly why?: string
}

/** What a decision does to the cost, in tokens. Estimated when the decision is made. */
export interface DecisionEffect {
  /** Tokens no longer sent with every request. */
  readonly saves: number
  /** Tokens after the changed place, which must be written to the cache again. 0 if the cache was gone anyway. */
  readonly rewrites: number
  /** Set if it avoids a compaction that was due with this request. */
  readonly spares?: "compaction"
}

/** What a compaction did, and what it was based on. */
export interface CompactionFacts {
  readonly trigger: "auto" | "manual"
  /** What the requests of the conversation are for. Absent in older journals. */
  readonly source?: RequestSource
  readonly route: string
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly threshold: number
  /** The compaction before this one, and the number of responses since. */
  readonly previous?: { readonly boundary: Uuid; readonly responses: number }
  /** Why the planner compacted before the window was full, in one sentence. */
  readonly planned?: string
  /** The summary was written in the background, so no request waited for it. */
  readonly prepared?: boolean
  /** How the summary was checked. Absent where it was not. */
  readonly audit?: AuditFigures
}

/** What a check of a summary found, without a model. Shares from 0 to 1. */
export interface AuditFigures {
  /** Of the facts that the view must show after the boundary, those it shows without repair. */
  readonly coverage: number
  /** Of the checked claims of the summary, those without ground in the conversation. */
  readonly fabrication: number
  readonly perClass: {
    readonly coverage: Readonly<Record<string, AuditShare>>
    readonly fabrication: Readonly<Record<string, AuditShare>>
  }
  /** What was removed, corrected or marked, in short. */
  readonly struck: readonly string[]
  /** Names and numbers that only something unreadable could confirm, in short. Absent where everything was checked. */
  readonly unchecked?: readonly string[]
  /** What was added because it was missing, in short. */
  readonly added: readonly string[]
}

/** How many were found, of how many. */
export interface AuditShare {
  readonly found: number
  readonly of: number
}

/** Facts of a conversation that lists show. They change while it runs. */
export interface SessionFacts {
  readonly title?: string
  readonly mode?: string
  readonly model: string
  readonly cwd: string
  /** The directory that an imported conversation was in: what is learned from it belongs to the project there. Empty: the file is not one of the person's own sessions, and nothing is learned from it. */
  readonly origin?: string
  /** The `prompt-rendered` decision in force. */
  readonly prompt?: Uuid
  /** What the requests from here on are for. Absent: `main`. */
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

/** A message or decision that is not in the journal yet. */
export type EntryDraft = MessageDraft | DecisionDraft
/** The journal sets what a draft leaves out. `Kind` is there because `Omit` does not distribute over a union by itself. */
export type MessageDraft<Kind extends Message = Message> = Kind extends unknown
  ? Omit<Kind, "uuid" | "parentUuid" | "timestamp"> & Partial<Pick<Message, "uuid" | "timestamp">>
  : never
/** A decision that is not in the journal yet. */
export type DecisionDraft = { readonly type: "strata" } & Decision
