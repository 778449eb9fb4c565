/**
 * Where conversations are kept. `Store` is a port: the file store stands behind it, another one can be put beside it without
 * a change to any caller.
 */
import type { DecisionOf, Entry } from "./entries.ts"

export interface Store {
  /** Where it keeps things, for messages to people. */
  readonly description: string
  /** Opens a journal; creates it where `create` says so. For writing it takes the conversation's lock. */
  open(address: JournalAddress, options: OpenJournalOptions): Promise<Journal>
  /** The conversations of a project, the one touched last first. */
  list(project: string): Promise<readonly ConversationListing[]>
}

export interface JournalAddress {
  readonly project: string
  readonly id: string
}

export interface OpenJournalOptions {
  readonly access: "write" | "read"
  readonly create?: boolean
}

export interface ConversationListing {
  readonly id: string
  readonly bytes: number
  readonly touched: string
  /** Title, mode, model and directory as last written. */
  readonly facts?: Omit<DecisionOf<"session">, "subtype">
}

/** The record of one conversation. Entries can be added and read, never changed. */
export interface Journal {
  readonly address: JournalAddress
  /** What a person would call the place: a path. */
  readonly location: string
  /** The file for notes about the conversation, where the store keeps files. */
  readonly notesPath?: string
  /** What opening it found and mended. */
  readonly opening: OpeningReport
  /** Resolves when the entries are written, and on disk where the store flushes each time. All of them or none. */
  append(entries: readonly Entry[]): Promise<void>
  /** Resolves when everything appended is on disk, where the store flushes by turn. */
  sync(): Promise<void>
  /** Entries from the last boundary on, in the order they were written. */
  tail(): Promise<Segment>
  /** The stretch of entries before a segment, back to the boundary before it. */
  before(segment: Segment): Promise<Segment | undefined>
  /** Every entry, first to last. */
  entries(): AsyncIterable<Entry>
  find(uuid: string): Promise<Entry | undefined>
  /** What the views knew at the last boundary: can be made again from the journal, so losing it loses nothing. */
  readCheckpoint(): Promise<unknown>
  writeCheckpoint(value: unknown): Promise<void>
  /** Files that belong to the conversation, such as large tool results. Written whole or not at all. */
  writeBlob(name: string, data: string | Uint8Array): Promise<BlobReceipt>
  readBlob(name: string): Promise<Buffer | undefined>
  close(): Promise<void>
}

export interface Segment {
  readonly entries: readonly Entry[]
  /** Opaque: where the segment begins. */
  readonly start: number
}

export interface BlobReceipt {
  readonly location: string
  readonly bytes: number
}

export interface OpeningReport {
  readonly created: boolean
  /** The lock's owner had died. */
  readonly tookOverLock: boolean
  /** Bytes of a last line that was never finished. They are kept aside. */
  readonly tornBytes: number
  /** Lines that are not what was written. They are kept aside and skipped. */
  readonly damagedLines: readonly { readonly offset: number; readonly bytes: number; readonly why: string }[]
  readonly index: "used" | "extended" | "rebuilt"
  /** Where the bytes set aside were put. */
  readonly setAside?: string
}

/** When an acknowledged entry is safe from a power cut: at once, after the turn, or when the system pleases. */
export type FlushMode = "always" | "turn" | "never"
