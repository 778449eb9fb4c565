/** What a slash command can do with the chat. */
import type { ConversationListing, PermissionMode } from "@strata/core/internal"
import type { CompactRequest } from "../compacting.ts"
import type { MemoryPlace } from "../memory/place.ts"
import type { SessionAgent } from "../session.ts"
import type { DialogBody } from "./dialog.ts"
import type { Ask } from "./person.ts"

export interface CommandTarget {
  readonly agent: SessionAgent
  readonly ask: Ask
  now(): Date
  print(title: string, lines: readonly string[]): void
  notice(text: string): void
  /** Changes what the open question with this title shows. */
  redraw(title: string, body: DialogBody): void
  /** The project's memory, to look at. */
  memory(): Promise<MemoryPlace>
  conversations(): Promise<readonly ConversationListing[]>
  resume(conversation: ConversationListing): Promise<void>
  clear(): Promise<void>
  /** Compacts now and shows the progress. */
  compact(order: CompactRequest["order"]): Promise<void>
  switchModel(name: string): Promise<void>
  switchMode(mode: PermissionMode): void
  /** Goes back to before this message and puts it into the input line. */
  rewind(uuid: string): Promise<void>
  /** Shows the nth folded item, counted from the newest. */
  expand(nth: number): void
  leave(): void
}
